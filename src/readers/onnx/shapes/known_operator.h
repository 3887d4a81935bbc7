// Whether an operator is one that everybody knows: of ONNX, or of another domain that models here are read with. What
// is not may be somebody's own, and its name a secret.
//
//   "Conv", "com.microsoft.FusedConv"   known
//   "com.acme.Blend", "Blend"           not
#pragma once

#include <string_view>

namespace infimum {

// `op` as Layer::op has it.
bool IsKnownOperator(std::string_view op);

}  // namespace infimum
