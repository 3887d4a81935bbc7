#include "src/readers/onnx/lowering/operands.h"

#include <algorithm>

#include "infimum/base/text.h"
#include "src/readers/onnx/lowering/attributes.h"

namespace infimum::lowering {
namespace {

std::string Describe(std::string_view what, std::size_t position, const OperandView* operand) {
  std::string text = std::string(what) + " " + std::to_string(position);
  if (operand != nullptr && !operand->name.empty()) text += " (" + Quoted(operand->name) + ")";
  return text;
}

Result<Shape> ShapeOf(std::string_view what, std::size_t position, const OperandView* operand) {
  if (operand == nullptr) return Error{Describe(what, position, operand) + " is missing"};
  if (operand->shape == nullptr) return Error{"the shape of " + Describe(what, position, operand) + " is not known"};
  return *operand->shape;
}

Result<DataType> TypeOf(std::string_view what, std::size_t position, const OperandView* operand) {
  if (operand == nullptr) return Error{Describe(what, position, operand) + " is missing"};
  if (operand->type == DataType::kNone)
    return Error{"the element type of " + Describe(what, position, operand) + " is not known or not numeric"};
  return operand->type;
}

}  // namespace

bool HasInput(const NodeView& node, std::size_t position) { return node.input(position) != nullptr; }
bool HasOutput(const NodeView& node, std::size_t position) { return node.output(position) != nullptr; }

Result<Shape> InputShape(const NodeView& node, std::size_t position) {
  return ShapeOf("input", position, node.input(position));
}
Result<DataType> InputType(const NodeView& node, std::size_t position) {
  return TypeOf("input", position, node.input(position));
}
Result<Shape> OutputShape(const NodeView& node, std::size_t position) {
  return ShapeOf("output", position, node.output(position));
}
Result<DataType> OutputType(const NodeView& node, std::size_t position) {
  return TypeOf("output", position, node.output(position));
}

Result<OperandTypes> UnaryTypes(const NodeView& node, std::size_t position) {
  INFIMUM_ASSIGN_OR_RETURN(const DataType input, InputType(node, position));
  INFIMUM_ASSIGN_OR_RETURN(const DataType output, OutputType(node, 0));
  return OperandTypes{input, DataType::kNone, output};
}

Result<OperandTypes> BinaryTypes(const NodeView& node, std::size_t first, std::size_t second) {
  INFIMUM_ASSIGN_OR_RETURN(const DataType input, InputType(node, first));
  INFIMUM_ASSIGN_OR_RETURN(const DataType weights, InputType(node, second));
  INFIMUM_ASSIGN_OR_RETURN(const DataType output, OutputType(node, 0));
  return OperandTypes{input, weights, output};
}

Constness ConstnessOf(const NodeView& node, std::size_t position, std::optional<std::size_t> bias) {
  const auto constant = [&node](std::size_t input) {
    const OperandView* operand = node.input(input);
    return operand != nullptr && operand->constant;
  };
  return constant(position) && (!bias || constant(*bias)) ? Constness::kConstant : Constness::kVariable;
}

std::optional<std::vector<std::int64_t>> InputValues(const NodeView& node, std::size_t position) {
  const OperandView* operand = node.input(position);
  if (operand == nullptr) return std::nullopt;
  // An empty tensor's elements are all known.
  if (operand->shape != nullptr && ElementCount(*operand->shape) == 0) return std::vector<std::int64_t>();
  return IntegersOf(operand->value);
}

std::optional<std::int64_t> InputValue(const NodeView& node, std::size_t position) {
  const auto values = InputValues(node, position);
  return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
}

Result<std::size_t> NormalizedAxis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank)
    return Error{"axis " + std::to_string(axis) + " does not exist in a tensor of rank " + std::to_string(rank)};
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

Result<std::size_t> AxisIn(const NodeView& node, const std::string& name, std::int64_t otherwise, std::size_t rank) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t given, IntegerIn(node, name, otherwise));
  return NormalizedAxis(given, rank);
}

Result<std::vector<std::int64_t>> NormalizedAxes(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<std::int64_t> result;
  for (const std::int64_t axis : axes) {
    INFIMUM_ASSIGN_OR_RETURN(const std::size_t normalized, NormalizedAxis(axis, rank));
    result.push_back(static_cast<std::int64_t>(normalized));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::int64_t ProductOf(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t i = begin; i < end; ++i) product *= shape.dims[i];
  return product;
}

Shape AroundAxis(const Shape& shape, std::size_t axis) {
  return Shape{{ProductOf(shape, 0, axis), shape.dims[axis], ProductOf(shape, axis + 1, shape.rank())}};
}

Shape Squeezed(const Shape& shape) {
  Shape result;
  for (const std::int64_t dim : shape.dims)
    if (dim != 1) result.dims.push_back(dim);
  return result;
}

}  // namespace infimum::lowering
