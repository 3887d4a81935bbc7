// Reads the JSON that ONNX Runtime writes with `enable_profiling`: one event a node and inference, in whole
// microseconds.
//
//   {"cat":"Node","name":"conv1_kernel_time","dur":1035,"ts":500569,"args":{"op_name":"Conv","node_index":"448",...}}
//
// Both forms are read: a bare array (CPU) and {"traceEvents": [...]}. A file cut off in the middle is an error that
// says where.
#pragma once

#include <istream>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

// Layers in order of first execution, one sample for each inference after the warm-up: the first fifth of
// the inferences (at least one, where there are more than two) is dropped. A node that runs several times in
// an inference (in a loop's body) has the sum as its sample.
Result<std::vector<ProfiledLayer>> ReadOnnxRuntimeProfile(std::istream& input, std::string_view origin);

}  // namespace infimum
