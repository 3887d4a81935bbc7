// A net as an ONNX file that onnx's checker accepts and ONNX Runtime runs.
//
//   WriteOnnx(net, {}, "fc.onnx")                // a few KiB: weights are made as the model is loaded
//   WriteOnnx(net, {.seed = 1}, "fc.onnx")       // stored, random; those of more than 1.5 GiB beside it: fc.onnx.data
//
// Without a seed weights are constants of a ConstantOfShape, which runtimes fold when they load the model, so that they
// are packed as stored ones are. Their size keeps intermediates near the inputs' either way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "src/synth/net.h"

namespace infimum::synth {

struct WeightOptions {
  std::optional<std::uint64_t> seed = std::nullopt;
  // protobuf reads no message of 2 GiB: of more bytes than this weights are stored beside the model.
  std::int64_t most_inside = std::int64_t{3} << 29;
};

// Blocks must be unrolled. A file that is there is overwritten, in one step: nobody sees half of one.
Status WriteOnnx(const Net& net, const WeightOptions& options, const std::filesystem::path& path);

// At most what it writes, and beside it; of a net with counted blocks too. Its totals fit 64 bits.
std::int64_t BytesOnDisk(const Net& net, const WeightOptions& options);

}  // namespace infimum::synth
