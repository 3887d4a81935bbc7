// The events of an ONNX Runtime profile as plain values: inferences, executions of nodes, kernels on a device and the
// executions that started them.
//
//   {"cat":"Node","name":"conv_kernel_time","ts":100,"dur":9,...}                          an execution of "conv"
//   {"cat":"Kernel","name":"sgemm","dur":40,"args":{"parent_name":"conv_kernel_time"}}     40 us of that execution
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "src/core/graph/name_table.h"

namespace infimum::ingest {

// Times are in whole microseconds of the host's clock. A profile has millions of executions, so they are small.
struct OnnxRuntimeInference {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::uint32_t thread = 0;  // in order of first appearance
};

struct OnnxRuntimeExecution {
  std::int64_t start = 0;
  std::int64_t duration = 0;  // of the host
  std::uint32_t layer = 0;
  std::uint32_t thread = 0;
};

struct OnnxRuntimeKernel {
  std::int64_t duration = 0;  // on the device, cut to whole microseconds. The clock of its start is not known.
  std::uint32_t execution = 0;
  NameId name = kNoName;
};

struct OnnxRuntimeEvents {
  std::vector<ProfiledLayer> layers;  // in order of first execution, without samples
  std::vector<OnnxRuntimeInference> inferences;
  std::vector<OnnxRuntimeExecution> executions;
  std::vector<OnnxRuntimeKernel> kernels;  // and copies
  NameTable names;                         // of kernels, and of events
  bool shapes_vary = false;                // most nodes read other shapes in one execution than in another
  std::optional<std::int64_t> threads;     // that nodes may use; absent: not known
  // Kernels and copies that no node started: mostly copies of inputs and outputs.
  std::int64_t stray_kernels = 0;
  Latency stray_time{0};
  std::int64_t lost_inferences = 0;  // whose times could not be read
  double skipped_share = 0;          // of the executions' time: of events that could not be read, about
  std::vector<std::string> remarks;  // what was forgiven
};

// An error where no node was executed.
Result<OnnxRuntimeEvents> ReadOnnxRuntimeEvents(std::istream& input, std::string_view origin);

}  // namespace infimum::ingest
