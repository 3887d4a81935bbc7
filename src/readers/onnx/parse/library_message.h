// What an exception of ONNX's library says, as an error of ours can say it: one line, without its tag, full stop and
// control characters, which come from names in the model.
//
//   MessageLine("[ShapeInferenceError] (op_type:Conv):\n  bad.")  ->  "(op_type:Conv): bad"
#pragma once

#include <string>
#include <string_view>

namespace infimum {

std::string MessageLine(std::string_view message);

}  // namespace infimum
