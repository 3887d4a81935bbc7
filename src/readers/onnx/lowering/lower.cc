#include "src/readers/onnx/lowering/lower.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "infimum/base/text.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/operator_table.h"

namespace infimum {
namespace lowering {
namespace {

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, LowerFunction>& Table() {
  static const auto* table = [] {
    auto* result = new std::map<Key, LowerFunction>();
    for (const auto& entries :
         {AttentionOperators(), ConvolutionOperators(), EinsumOperators(), ExpertOperators(), IndexingOperators(),
          MatMulOperators(), MicrosoftOperators(), MicrosoftAttentionOperators(), MovementOperators(),
          NormalizationOperators(), PointwiseOperators(), PoolingOperators(), QuantizedOperators(),
          RecurrentOperators(), ReductionOperators(), ResampleOperators(), ViewOperators()})
      for (const OperatorEntry& entry : entries) {
        const bool added = result->emplace(Key{entry.domain, entry.op}, entry.lower).second;
        INFIMUM_CHECK(added, "each operator has one entry in the lowering table");
      }
    return result;
  }();
  return *table;
}

std::string_view Normalized(std::string_view domain) { return domain == "ai.onnx" ? kOnnx : domain; }

LowerFunction Find(std::string_view domain, std::string_view op) {
  const auto found = Table().find(Key{Normalized(domain), op});
  return found == Table().end() ? nullptr : found->second;
}

// Shapes that no arithmetic here may meet: negative or too large, also beside a dimension of 0.
Status CheckShapes(const std::vector<std::optional<OperandView>>& operands) {
  for (const auto& operand : operands) {
    if (!operand || operand->shape == nullptr) continue;
    Shape shape = *operand->shape;
    for (std::int64_t& dim : shape.dims)
      if (dim == 0) dim = 1;
    const auto count = CheckedElementCount(shape);
    if (!count.ok()) return Within(Quoted(operand->name), count.error());
  }
  return Status();
}

bool IsEmpty(const OperandView* operand) {
  return operand != nullptr && operand->shape != nullptr && ElementCount(*operand->shape) == 0;
}

// Nothing comes out, or nothing goes in that what comes out could depend on.
bool ComputesNothing(const NodeView& node) {
  bool any = false;
  bool all_empty = true;
  for (const auto& output : node.outputs) {
    if (!output) continue;
    any = true;
    all_empty = all_empty && IsEmpty(&*output);
  }
  if (any && all_empty) return true;
  // An input that is a shape, or one of several that are joined, may be empty beside others that count.
  const bool joins = node.op == "Concat" || node.op == "QLinearConcat" || node.op == "ConstantOfShape";
  return !joins && IsEmpty(node.input(0));
}

Lowering Checked(Lowering lowering) {
  if (lowering.least && !Validate(*lowering.least).ok()) {
    lowering.least.reset();
    lowering.operand_inputs.clear();
  }
  if (lowering.status != LayerStatus::kMeasurable) return lowering;
  const Status valid = Validate(*lowering.workload);
  if (!valid.ok()) return Unknown(valid.error().message);
  return lowering;
}

}  // namespace

Lowering Measurable(Workload workload, std::vector<std::size_t> operand_inputs) {
  return Lowering{LayerStatus::kMeasurable, std::move(workload), std::move(operand_inputs), ""};
}

Lowering Free(std::string reason) { return Lowering{LayerStatus::kFree, std::nullopt, {}, std::move(reason)}; }

Lowering Unknown(std::string reason) { return Lowering{LayerStatus::kUnknown, std::nullopt, {}, std::move(reason)}; }

}  // namespace lowering

Lowering Lower(const NodeView& node) {
  using namespace lowering;  // NOLINT(*using-directive*): this function is the folder's one entry
  if (const Status shapes = CheckShapes(node.inputs); !shapes.ok()) return Unknown(shapes.error().message);
  if (const Status shapes = CheckShapes(node.outputs); !shapes.ok()) return Unknown(shapes.error().message);
  const LowerFunction lower = Find(node.domain, node.op);
  if (lower == nullptr) {
    for (const UnknownOperator& known : DeliberatelyUnknown())
      if (known.op == node.op && known.domain == Normalized(node.domain)) return Unknown(std::string(known.reason));
    return Unknown("there is no workload for operator " + Quoted(node.op) +
                   (Normalized(node.domain).empty() ? "" : " of domain " + Quoted(node.domain)));
  }
  if (ComputesNothing(node)) return Free("no elements to compute");
  const NodeView view{node.op,      Normalized(node.domain), node.opset,  node.inputs,
                      node.outputs, node.attributes,         node.stated, node.layer};
  Result<Lowering> result = lower(view);
  return result.ok() ? Checked(*std::move(result)) : Unknown(result.error().message);
}

bool HasLowering(std::string_view domain, std::string_view op) { return lowering::Find(domain, op) != nullptr; }

bool IsKnownOperator(std::string_view op) {
  std::string_view domain;
  if (const std::size_t dot = op.rfind('.'); dot != std::string_view::npos) {
    domain = op.substr(0, dot);
    op.remove_prefix(dot + 1);
  }
  if (HasLowering(domain, op)) return true;
  const auto is_this = [&](const UnknownOperator& known) { return known.op == op && known.domain == domain; };
  if (std::ranges::any_of(DeliberatelyUnknown(), is_this)) return true;
  return onnx::OpSchemaRegistry::Schema(std::string(op), std::string(lowering::Normalized(domain))) != nullptr;
}

}  // namespace infimum
