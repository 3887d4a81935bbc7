#include "analyzer/floor/exact_types.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analyzer/floor/needed_shares.h"
#include "infimum/base/text.h"

namespace infimum {
namespace {

// Of two operands: integers of 8 bits and fewer are exact in s8, these and floats in f16, where one of them is not
// wider.
DataType TypeOfBoth(DataType a, DataType b) {
  const auto is_small = [](DataType type) { return IsInteger(type) && BitsPerElement(type) <= 8; };
  if (is_small(a) && is_small(b)) return DataType::kS8;
  if (a == b) return a;
  const auto is_in_half = [&](DataType type) {
    return is_small(type) || type == DataType::kF16 || type == DataType::kF8E4M3 || type == DataType::kF8E5M2 ||
           type == DataType::kF4E2M1;
  };
  return is_in_half(a) && is_in_half(b) ? DataType::kF16 : DataType::kNone;
}

}  // namespace

std::vector<DataType> FindExactTypes(const ModelGraph& graph) {
  constexpr std::string_view kSame[] = {"Dropout", "Expand", "Flatten", "Gather",  "Identity",  "MaxPool",  "Relu",
                                        "Reshape", "Slice",  "Split",   "Squeeze", "Transpose", "Unsqueeze"};
  constexpr std::string_view kConversions[] = {"Cast", "DequantizeLinear", "com.microsoft.DequantizeLinear"};
  // Of each value the type in which its numbers are exact; layers are in topological order.
  std::vector<DataType> exact(graph.values.size());
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = graph.values[i].type;
  std::vector<DataType> types(graph.layers.size(), DataType::kNone);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const auto type_of = [&](std::size_t input) {
      return input < layer.inputs.size() && layer.inputs[input] ? exact[layer.inputs[input]->index()] : DataType::kNone;
    };
    const bool is_conversion = IsOneOf(layer.op, kConversions);
    if (is_conversion || IsOneOf(layer.op, kSame)) {
      for (const std::optional<ValueId>& output : layer.outputs) {
        if (!output) continue;
        const DataType from = type_of(0), to = graph.value(*output).type;
        // A Cast to fewer bits rounds.
        if (!is_conversion || BitsPerElement(from) < BitsPerElement(to)) exact[output->index()] = from;
      }
    }
    if (ConfigOf<MatMulConfig>(layer) == nullptr && ConfigOf<ConvolutionConfig>(layer) == nullptr &&
        ConfigOf<AttentionConfig>(layer) == nullptr)
      continue;
    if (layer.operand_inputs.size() < 2) continue;
    const DataType both = TypeOfBoth(type_of(layer.operand_inputs[0]), type_of(layer.operand_inputs[1]));
    if (BitsPerElement(both) < BitsPerElement(graph.value(*layer.outputs[0]).type)) types[i] = both;
  }
  return types;
}

}  // namespace infimum
