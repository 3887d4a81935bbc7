// Kernels whose event names only a time at which their node's execution began, on a clock that is not the profile's:
//
//   executions of "conv" at 1010, 2010, 3510; kernels of "conv" with 1724500000001010, ...2010, ...2010, ...3510
//
// fit with the origin 1724500000000000, which the file does not tell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/readers/profiles/onnxruntime/onnxruntime_events.h"

namespace infimum::ingest {

struct CorrelatedKernel {
  OnnxRuntimeKernel kernel;  // its execution is not known
  std::uint32_t layer = 0;
  std::int64_t correlation = 0;
};

// Appends the kernels with their executions to `kernels`, by the origin with which each has one of its layer. Where
// there is none: all of them come back.
std::vector<OnnxRuntimeKernel> JoinByCorrelation(std::span<const OnnxRuntimeExecution> executions,
                                                 std::span<const CorrelatedKernel> correlated,
                                                 std::vector<OnnxRuntimeKernel>& kernels);

}  // namespace infimum::ingest
