// Types and shapes of the operators that ONNX does not define but files hold: com.microsoft's, which
// ONNX Runtime's optimizer and exporters write, its internal layouts, and trt's.
#pragma once

#include <onnx/defs/shape_inference.h>

#include <string_view>

namespace infimum {

using InferOperator = void (*)(onnx::InferenceContext& context);

// Null where the operator is not known here. `domain` is "" for the few in ONNX's own domain.
InferOperator FindMicrosoftInference(std::string_view domain, std::string_view op);

// The parts of the table, each in its own file.
InferOperator FindMicrosoftAttentionInference(std::string_view op);
InferOperator FindNhwcInference(std::string_view op);   // com.ms.internal.nhwc
InferOperator FindNchwcInference(std::string_view op);  // com.microsoft.nchwc

}  // namespace infimum
