// Reads the JSON that ONNX Runtime writes with `enable_profiling`: one event for each inference, for each execution of
// a node and, of a GPU, for each kernel, in whole microseconds.
//
//   {"cat":"Session","name":"model_run","ts":500,"dur":1050,...}
//   {"cat":"Node","name":"conv1_kernel_time","ts":510,"dur":9,"args":{"op_name":"Conv","node_index":"448",
//    "provider":"CUDAExecutionProvider",...}}
//   {"cat":"Kernel","name":"sgemm","dur":40,"args":{"parent_name":"conv1_kernel_time","stream":"13",...}}
//
// gives the layer "conv1" of 40 us, its algorithm "sgemm", and 1050 us for the profiled inference. Both forms are read:
// a bare array and {"traceEvents": [...]}. A truncated file is an error that names the byte.
#pragma once

#include <istream>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

// By a trace's first events: a session begins with the loading of the model.
bool IsOnnxRuntimeProfile(std::string_view events);

// A run with its layers in order of first execution, `profiled`, and in `warnings` what the times do not hold. Layers
// and `profiled` have one sample for each inference after the warm-up: the first fifth of the inferences (at least one,
// where there are more than two) is dropped. A node that runs several times in an inference (in a loop's body) has the
// sum as its sample.
//
// `threads` is the size of the pool that nodes may use, as they report in "thread_scheduling_stats": the threads of the
// pool and the one that calls it; 1 where they report no pool, absent where they report nothing.
//
// A node of CUDA's provider only starts kernels, and its own time is what that took the host: the layer's samples are
// the sum of its kernels and copies on the device, 0 where it started none. Where the profile has no kernels at all,
// such layers have no samples.
Result<RunProfile> ReadOnnxRuntimeProfile(std::istream& input, std::string_view origin);

}  // namespace infimum
