// What an operator is, whatever an engine, a framework or ONNX calls it.
//
//   Conv, CaskConvolution, com.microsoft.nchwc.Conv, aten::convolution     a convolution
//   Gemm, MatMul, aten::linear, aten::addmm                                a matmul
//   aten::mm of a backward pass (AddmmBackward0), Reformat, Transpose      other
#pragma once

#include <cstdint>
#include <string_view>

namespace infimum {

// kOther is nothing that layers are matched by.
enum class OperatorKind : std::uint8_t {
  kConvolution,
  kProduct,
  kPooling,
  kSoftmax,
  kNormalization,
  kReduction,
  kRecurrent,
  kAttention,
  kResample,
  kElementwise,
  kConcatenation,
  kPadding,
  kGather,
  kQuantization,
  kDequantization,
  kOther
};
OperatorKind KindOf(std::string_view op);

// Which function of its kind, element-wise or a normalization: "add", "relu", "batchnorm"; empty where an operator may
// be any, or several at once.
std::string_view FunctionOf(std::string_view op);

}  // namespace infimum
