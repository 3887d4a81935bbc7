// Transposed convolutions whose kernel is as large as its stride: no two pixels of the input meet in one of
// the output, so the layer is one matrix product and a copy that puts each pixel's block in its place.
//
//   in=1x128x64x64 out_channels=64 kernel=2x2 stride=2x2
//     ->  [4096 x 128] x [128 x 256], rows of 2 x 64 floats moved to their image rows (channels last)
//
//   onednn/upsampling-as-matmul/gemm:jit/plain
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "src/core/layer/convolution.h"

namespace infimum::cpu {

// Empty for every other convolution. f32 only.
std::vector<Offer> UpsamplingProductOffers(const ConvolutionConfig& config);

}  // namespace infimum::cpu
