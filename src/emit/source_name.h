// A file name that says which layer a source is for: stable, safe on every file system, never equal for two layers.
//
//   convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 ... weights=const
//     ->  convolution_f32_1x64x56x56_64_3x3_1x1_5d2c0a91
//
// The family and the values of the first fields, as many as fit, then the beginning of the text's SHA-256. Whatever is
// no letter or digit becomes an underscore, so that no text can name another folder.
#pragma once

#include <cstddef>
#include <string>

#include "infimum/layer/workload.h"

namespace infimum::emit {

// `digits` of the hash: 8 to 64.
std::string SourceName(const Workload& workload, std::size_t digits = 8);

}  // namespace infimum::emit
