#include "src/readers/onnx/folding/fold.h"

#include <utility>

#include "src/readers/onnx/folding/elements.h"
#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {

std::vector<Tensor> ListOf(std::optional<Tensor> tensor) {
  std::vector<Tensor> list;
  if (tensor) list.push_back(std::move(*tensor));
  return list;
}

std::optional<std::size_t> AxisOf(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::vector<Tensor> Fold(const NodeView& node) {
  if (!node.domain.empty() || node.inputs.empty()) return {};
  for (const std::optional<OperandView>& input : node.inputs)
    if (input && (input->value == nullptr || !SmallCount(input->value->shape))) return {};
  for (const std::optional<OperandView>& output : node.outputs)
    if (output && output->shape != nullptr) {
      const std::optional<std::size_t> count = SmallCount(*output->shape);
      if (!count || static_cast<std::int64_t>(*count) > MostFolded(output->type)) return {};
    }
  for (const auto find : {FindArithmeticFolder, FindMovementFolder, FindReductionFolder})
    if (const Folder folder = find(node.op)) return folder(node);
  return {};
}

}  // namespace infimum
