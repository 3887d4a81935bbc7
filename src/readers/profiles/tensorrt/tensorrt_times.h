// The two files of times that trtexec writes: of each layer, and of each inference.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"

namespace infimum::ingest {

//   [{"count": 10}, {"name": "Conv_0", "timeMs": 2.31, "averageMs": 0.231, "medianMs": 0.229, "percentage": 5.4}, ...]
//     ->  inferences 10, layers {{"Conv_0", 229 us}}
// The median where there is one, which older versions did not write, else the average, else the sum over the count.
struct TensorRtProfile {
  struct Layer {
    std::string name;
    Latency time;
  };
  std::optional<std::int64_t> inferences;
  std::vector<Layer> layers;  // in the file's order, which is that of execution
};
Result<TensorRtProfile> ReadTensorRtProfile(std::istream& input, std::string_view origin);

//   [{"startEnqMs": 0.5, "endEnqMs": 0.6, "startComputeMs": 0.7, "endComputeMs": 4.8, "computeMs": 4.1,
//     "latencyMs": 4.1}, ...]
// In files of older versions the inferences of the warm-up come first; newer ones leave them out. Both count from the
// start of the warm-up.
struct TensorRtInference {
  std::optional<Latency> start;    // of its computation, since the warm-up began
  Latency compute;                 // on the GPU
  std::optional<Latency> enqueue;  // on the host
  std::optional<Latency> latency;  // with the copies between host and device
};
Result<std::vector<TensorRtInference>> ReadTensorRtTimes(std::istream& input, std::string_view origin);

}  // namespace infimum::ingest
