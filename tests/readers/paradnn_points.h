// The published sweeps of ParaDnn (Wang, Wei and Brooks, arXiv 1907.10701): models of a family by their parameters, and
// how fast each was trained, or that it did not fit.
//
//   {"labels": ["layer_32-node_512-input_2000-output_1000-bs_64", ...], "step_per_sec": [89.7, ...], "params": [...],
//    "fl": [...], "intensity": [...], "err_jobs": ["layer_128-node_8192-...", ...], "states": ["OOM", ...]}
//   ->  {layers 32, nodes 512, inputs 2000, outputs 1000, batch 64}, measured, 11.1 ms a step, ...
//       {layers 128, nodes 8192, ...}, out of memory
//
// A file of traces has "flops_perc" in place of rates: the share of the peak that was seen.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"

namespace infimum {

struct ParaDnnPoint {
  enum class State { kMeasured, kOutOfMemory, kUnfinished };
  std::string family;  // "fc"
  std::map<std::string, std::int64_t>
      parameters;  // as `infimum synth` calls them: layers, nodes, inputs, outputs, batch
  std::string device;
  State state = State::kMeasured;
  // Of measured points, and only where the file has it.
  std::optional<Latency> step;             // of training, with the whole batch
  std::optional<double> weights;           // the model's
  std::optional<double> flops;             // of a step; on a TPU of one of its eight cores
  std::optional<double> intensity;         // FLOPs over bytes from memory; of GPUs by the framework's own count
  std::optional<double> share_of_peak;     // 0 to 1, by a trace
  std::optional<double> share_of_waiting;  // for its input, likewise
};

// `device` is whose the file is, which it does not say. Points that ran come first, each kind in the file's order.
Result<std::vector<ParaDnnPoint>> ReadParaDnn(std::istream& input, std::string_view origin, std::string_view device);

}  // namespace infimum
