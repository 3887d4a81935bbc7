// The table (domain, operator) -> function, one part of it from each family's file.
//
//   Result<Lowering> LowerSoftmax(const NodeView& node) {
//     INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
//     ...
//     return Measurable(MakeSoftmax(kind, types, input, axis), {0});
//   }
//   std::span<const OperatorEntry> NormalizationOperators() {
//     static constexpr OperatorEntry kEntries[] = {{"", "Softmax", LowerSoftmax}};
//     return kEntries;
//   }
//
// An error becomes `unknown` with the error's message as the reason.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "src/readers/onnx/parse/node_view.h"

namespace infimum::lowering {

using LowerFunction = Result<Lowering> (*)(const NodeView& node);

struct OperatorEntry {
  std::string_view domain;  // "" for ONNX itself
  std::string_view op;
  LowerFunction lower;
};

inline constexpr std::string_view kOnnx = "";
inline constexpr std::string_view kMicrosoft = "com.microsoft";
inline constexpr std::string_view kTensorRt = "trt";                       // what NVIDIA's Model Optimizer writes
inline constexpr std::string_view kBlocked = "com.microsoft.nchwc";        // channels in blocks of 8 or 16
inline constexpr std::string_view kChannelsLast = "com.ms.internal.nhwc";  // ONNX's operators on NHWC

Lowering Measurable(Workload workload, std::vector<std::size_t> operand_inputs);
Lowering Free(std::string reason);
Lowering Unknown(std::string reason);

std::span<const OperatorEntry> AttentionOperators();
std::span<const OperatorEntry> ConvolutionOperators();
std::span<const OperatorEntry> EinsumOperators();
std::span<const OperatorEntry> ExpertOperators();
std::span<const OperatorEntry> IndexingOperators();
std::span<const OperatorEntry> MatMulOperators();
std::span<const OperatorEntry> MicrosoftOperators();
std::span<const OperatorEntry> MicrosoftAttentionOperators();
std::span<const OperatorEntry> MovementOperators();
std::span<const OperatorEntry> NormalizationOperators();
std::span<const OperatorEntry> PointwiseOperators();
std::span<const OperatorEntry> PoolingOperators();
std::span<const OperatorEntry> QuantizedOperators();
std::span<const OperatorEntry> RecurrentOperators();
std::span<const OperatorEntry> ReductionOperators();
std::span<const OperatorEntry> ResampleOperators();
std::span<const OperatorEntry> ViewOperators();

}  // namespace infimum::lowering
