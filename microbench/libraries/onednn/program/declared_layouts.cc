#include "microbench/libraries/onednn/program/declared_layouts.h"

#include <algorithm>

#include "infimum/graph/replay_schedule.h"
#include "infimum/layer/element_order.h"

namespace infimum::cpu {
namespace {

constexpr const char* kOpaque = "opaque";

// What libraries have names for.
std::vector<std::string> UsualNames(std::size_t rank) {
  if (rank < 2) return {};
  const std::string plain = RowMajorName(rank);
  std::string swapped = plain;
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  std::vector<std::string> names{"a" + plain.substr(2) + "b", swapped};
  for (const char* block : {"4b", "8b", "16b", "32b"}) names.push_back("aB" + plain.substr(2) + block);
  return names;
}

std::string NameIn(const OrderOf& order, const Shape& shape) {
  const std::string plain = shape.rank() == 0 ? "-" : RowMajorName(shape.rank());
  if (order == nullptr || order->row_major()) return plain;
  // The primitive's own name holds where it sees the tensor as the workload does.
  const std::string own = LayoutName(order->wanted);
  const bool sees_alike = Shape{order->wanted.get_dims()} == shape &&
                          order->described == onednn::Plain(order->wanted.get_dims(), order->wanted.get_data_type());
  if (!order->dense()) {
    const std::optional<ElementOrder> named = ParseLayout(own, shape);
    return sees_alike && named && !named->is_dense() ? own : kOpaque;
  }
  std::vector<std::string> names = UsualNames(shape.rank());
  if (sees_alike) names.insert(names.begin(), own);
  for (const std::string& name : names) {
    const std::optional<ElementOrder> named = ParseLayout(name, shape);
    if (named && named->is_dense() && named->runs == order->runs) return name;
  }
  return NameInOwnShape({order->runs, {}});
}

std::string Joined(const std::vector<std::string>& names, const std::vector<Shape>& shapes) {
  std::size_t count = names.size();
  while (count > 1 && names[count - 1] == RowMajorName(shapes[count - 1].rank())) --count;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + names[i];
  return text;
}

// `shapes`: of the operands that vary.
void State(const std::vector<Shape>& shapes, const Shape& output_shape, const std::vector<OrderOf>& inputs,
           const OrderOf& output, Candidate& candidate) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    names.push_back(NameIn(i < inputs.size() ? inputs[i] : nullptr, shapes[i]));
  if (!names.empty()) candidate.input_layout = Joined(names, shapes);
  candidate.output_layout = NameIn(output, output_shape);
}

}  // namespace

void StateLayouts(const LayerConfig& config, Offer& offer) {
  if (offer.output_order == nullptr) return;
  std::vector<Shape> shapes;
  for (const Operand& operand : OperandsOf(config))
    if (!operand.constant) shapes.push_back(operand.shape);
  State(shapes, OutputsOf(config)[0].shape, offer.input_orders, offer.output_order, offer.candidate);
}

void StateLayouts(const Region& region, const std::vector<OrderOf>& inputs, const OrderOf& output,
                  Candidate& candidate) {
  const Workload workload = region;
  std::vector<Shape> shapes;
  // The inputs come first; weights may lie as their reader likes.
  std::size_t count = 0;
  for (const RegionMember& member : region.members)
    for (const RegionOperand& operand : member.operands)
      if (operand.source == RegionOperand::Source::kInput)
        count = std::max(count, static_cast<std::size_t>(operand.index) + 1);
  const std::vector<Operand> operands = OperandsOf(workload);
  for (std::size_t i = 0; i < count && i < operands.size(); ++i) shapes.push_back(operands[i].shape);
  State(shapes, OutputsOf(workload)[0].shape, inputs, output, candidate);
}

}  // namespace infimum::cpu
