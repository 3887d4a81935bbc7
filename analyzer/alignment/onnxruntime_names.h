// What a name that ONNX Runtime gave says about the model: its optimizer keeps the names of nodes and values
// and decorates them.
//
//   "fused Conv_0"  -> "Conv_0"        "r2_nchwc"                   -> "r2", a value
//   "Conv_3_token_120" -> "Conv_3"     "/o/MatMul/MatMulAddFusion"  -> "/o/MatMul"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace infimum {

// The name itself and what is left when decorations are taken off one after the other, longest first.
std::vector<std::string> UndecoratedNames(std::string_view engine_name);

// "Conv" of "FusedConv", "QLinearConv", "com.microsoft.nchwc.Conv": what the engine's operator is at its core.
std::string_view CoreOf(std::string_view engine_op);

// Whether an operator changes how elements are counted or ordered and computes nothing.
bool OnlyRearranges(std::string_view engine_op);

}  // namespace infimum
