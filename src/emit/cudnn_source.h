// One emitted cuDNN source: the operations of a layer or region and its forms, as the structs of cudnn_layer.h, which
// every project gets with the runner's calls of cuDNN (microbench/libraries/cudnn/calls).
//
//   .tensors = {
//       {.name = "in0", .type = "f16", .dims = {1, 64, 56, 56}, .layout = Layout::kChannels},
//       ...
#pragma once

#include <string>

#include "infimum/base/result.h"
#include "src/emit/library.h"

namespace infimum::emit {

// The error says what cuDNN's graph does not have.
Result<std::string> WriteCudnnSource(const SourceRequest& request);

}  // namespace infimum::emit
