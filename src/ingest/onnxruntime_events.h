// The events of an ONNX Runtime profile as plain values: inferences, executions of nodes, kernels on a device and the
// executions that started them.
//
//   {"cat":"Node","name":"conv_kernel_time","ts":100,"dur":9,...}                          an execution of "conv"
//   {"cat":"Kernel","name":"sgemm","dur":40,"args":{"parent_name":"conv_kernel_time"}}     40 us of that execution
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/name_table.h"
#include "infimum/graph/run_profile.h"

namespace infimum::ingest {

// Times are in whole microseconds of the host's clock.
struct OnnxRuntimeInference {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t thread = 0;
};

struct OnnxRuntimeExecution {
  std::size_t layer = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;  // of the host
  std::int64_t thread = 0;
};

struct OnnxRuntimeKernel {
  std::size_t execution = 0;
  NameId name = kNoName;
  std::int64_t duration = 0;  // on the device, cut to whole microseconds. Its start is on no clock that is told.
};

struct OnnxRuntimeEvents {
  std::vector<ProfiledLayer> layers;  // in order of first execution, without samples
  std::vector<OnnxRuntimeInference> inferences;
  std::vector<OnnxRuntimeExecution> executions;
  std::vector<OnnxRuntimeKernel> kernels;  // and copies
  NameTable kernel_names;
  std::optional<std::int64_t> threads;  // that nodes may use; absent: not told
  // Kernels and copies that no node started: mostly copies of inputs and outputs.
  std::int64_t stray_kernels = 0;
  Latency stray_time{0};
};

Result<OnnxRuntimeEvents> ReadOnnxRuntimeEvents(std::istream& input, std::string_view origin);

}  // namespace infimum::ingest
