#include "src/readers/onnx/parse/node_view.h"

namespace infimum {
namespace {

const OperandView* At(const std::vector<std::optional<OperandView>>& operands, std::size_t position) {
  return position < operands.size() && operands[position] ? &*operands[position] : nullptr;
}

template <class T>
const T* Attribute(const NodeView& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace

const OperandView* NodeView::input(std::size_t position) const { return At(inputs, position); }
const OperandView* NodeView::output(std::size_t position) const { return At(outputs, position); }

RunTimeQuantity QuantityOf(const NodeView& node, std::string_view name, std::int64_t least, std::int64_t most) {
  RunTimeQuantity quantity{std::string(name), std::string(node.layer), std::nullopt, least, most};
  if (node.stated != nullptr) quantity.stated = StatedFor(*node.stated, name, node.layer);
  return quantity;
}

std::int64_t IntegerAttribute(const NodeView& node, const std::string& name, std::int64_t otherwise) {
  const auto* value = Attribute<std::int64_t>(node, name);
  return value != nullptr ? *value : otherwise;
}

double NumberAttribute(const NodeView& node, const std::string& name, double otherwise) {
  const auto* value = Attribute<double>(node, name);
  return value != nullptr ? *value : otherwise;
}

std::string_view TextAttribute(const NodeView& node, const std::string& name, std::string_view otherwise) {
  const auto* value = Attribute<std::string>(node, name);
  return value != nullptr ? std::string_view(*value) : otherwise;
}

const std::vector<std::int64_t>* IntegersAttribute(const NodeView& node, const std::string& name) {
  return Attribute<std::vector<std::int64_t>>(node, name);
}

}  // namespace infimum
