// Model-local functions: every call is replaced with the function's nodes before anything else is read,
// so that the layers behind are the ones that run.
#pragma once

#include <onnx/onnx_pb.h>

#include "infimum/base/result.h"

namespace infimum {

// An error for functions that call themselves and for calls that multiply beyond any real model.
Status InlineLocalFunctions(onnx::ModelProto& model);

}  // namespace infimum
