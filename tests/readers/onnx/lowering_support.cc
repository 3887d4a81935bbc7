#include "tests/readers/onnx/lowering_support.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>

#include "infimum/base/text.h"
#include "infimum/layer/workload.h"

namespace infimum {
namespace {

std::vector<std::string_view> SplitOn(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> pieces;
  if (TrimSpace(text).empty()) return pieces;
  while (true) {
    const std::size_t found = text.find(separator);
    pieces.push_back(TrimSpace(text.substr(0, found)));
    if (found == std::string_view::npos) return pieces;
    text.remove_prefix(found + separator.size());
  }
}

std::vector<std::int64_t> Integers(std::string_view list) {
  std::vector<std::int64_t> result;
  if (list.empty()) return result;
  for (const std::string_view piece : Split(list, ',')) {
    const auto value = ParseInteger(TrimSpace(piece));
    EXPECT_TRUE(value.has_value()) << "a test case has '" << piece << "' for an integer";
    result.push_back(value.value_or(0));
  }
  return result;
}

AttributeValue ReadAttribute(std::string_view text) {
  if (text.starts_with("[")) return Integers(text.substr(1, text.size() - 2));
  if (text.starts_with("{")) {
    std::vector<std::string> texts;
    for (const std::string_view piece : Split(text.substr(1, text.size() - 2), ';')) texts.emplace_back(piece);
    return texts;
  }
  if (const auto integer = ParseInteger(text)) return *integer;
  if (const auto number = ParseNumber(text)) return *number;
  return std::string(text);
}

}  // namespace

TestNode::TestNode(std::string_view text) {
  const std::size_t open = text.find(" ("), close = text.rfind(')');
  const bool is_node = open != std::string_view::npos && close != std::string_view::npos && open < close;
  EXPECT_TRUE(is_node) << "'" << text << "' is no node";
  if (!is_node) return;
  std::string_view name = text.substr(0, open);
  const std::string_view operands = text.substr(open + 2, close - open - 2);
  if (const std::size_t at = name.find('@'); at != std::string_view::npos) {
    opset_ = ParseInteger(name.substr(at + 1)).value_or(0);
    name = name.substr(0, at);
  }
  const std::size_t dot = name.rfind('.');
  op_ = name.substr(dot == std::string_view::npos ? 0 : dot + 1);
  domain_ = name.substr(0, dot == std::string_view::npos ? 0 : dot);
  const std::size_t arrow = operands.find("->");
  EXPECT_NE(arrow, std::string_view::npos) << "a test case has operands without '->'";
  for (const std::string_view piece : SplitOn(operands.substr(0, arrow), ", ")) inputs_.push_back(ReadOperand(piece));
  for (const std::string_view piece : SplitOn(operands.substr(arrow + 2), ", ")) outputs_.push_back(ReadOperand(piece));
  for (const std::string_view piece : SplitOn(text.substr(close + 1), " ")) {
    const std::size_t equals = piece.find('=');
    if (IsQuantity(piece.substr(0, equals))) {
      stated_[std::string(piece.substr(0, equals))] = ParseInteger(piece.substr(equals + 1)).value_or(-1);
      continue;
    }
    attributes_[std::string(piece.substr(0, equals))] = ReadAttribute(piece.substr(equals + 1));
  }
}

std::optional<OperandView> TestNode::ReadOperand(std::string_view text) {
  if (text == "-") return std::nullopt;
  OperandView operand;
  operand.name = "x";
  if (text.starts_with("w ")) {
    operand.constant = true;
    text.remove_prefix(2);
  }
  std::string_view values;
  const std::size_t equals = text.find('=');
  const bool has_values = equals != std::string_view::npos;
  if (has_values) {
    values = text.substr(equals + 2, text.size() - equals - 3);
    text = text.substr(0, equals);
  }
  const std::size_t space = text.find(' ');
  const auto type = FindDataType(text.substr(0, space));
  EXPECT_TRUE(type.has_value()) << "a test case has '" << text << "' for an operand";
  operand.type = type.value_or(DataType::kNone);
  const std::string_view shape_text = space == std::string_view::npos ? "scalar" : TrimSpace(text.substr(space));
  if (shape_text != "?") {
    const auto shape = ParseShape(shape_text);
    EXPECT_TRUE(shape.ok()) << "a test case has '" << text << "' for an operand";
    operand.shape = Keep(shape.ok() ? *shape : Shape{});
  }
  if (has_values) {
    const std::vector<std::int64_t> elements = Integers(values);
    auto tensor = std::make_unique<Tensor>();
    tensor->type = operand.type;
    tensor->shape = *operand.shape;
    const auto width = static_cast<std::size_t>(BitsPerElement(operand.type)) / 8;
    tensor->bytes.resize(elements.size() * width);
    for (std::size_t i = 0; i < elements.size(); ++i)  // little-endian, so the low bytes come first
      std::memcpy(tensor->bytes.data() + i * width, &elements[i], width);
    operand.value = tensor.get();
    operand.constant = true;
    tensors_.push_back(std::move(tensor));
  }
  return operand;
}

const Shape* TestNode::Keep(Shape shape) {
  shapes_.push_back(std::make_unique<Shape>(std::move(shape)));
  return shapes_.back().get();
}

NodeView TestNode::View() const { return NodeView{op_, domain_, opset_, inputs_, outputs_, attributes_, &stated_}; }

std::string TextOf(const Lowering& lowering) {
  if (lowering.status == LayerStatus::kFree) return "free: " + lowering.reason;
  if (lowering.status == LayerStatus::kUnknown && !lowering.least) return "unknown: " + lowering.reason;
  std::string text = lowering.workload ? Format(*lowering.workload)
                     : lowering.least  ? "unknown: " + lowering.reason + "; at least " + Format(*lowering.least)
                                       : "measurable without a workload";
  std::string inputs;
  for (const std::size_t input : lowering.operand_inputs) inputs += (inputs.empty() ? "" : ",") + std::to_string(input);
  return text + " {" + inputs + "}";
}

void ExpectSound(const Lowering& lowering) {
  EXPECT_EQ(lowering.workload.has_value(), lowering.status == LayerStatus::kMeasurable);
  EXPECT_EQ(lowering.reason.empty(), lowering.status == LayerStatus::kMeasurable);
  if (!lowering.workload && !lowering.least) return;
  const Workload& workload = lowering.workload ? *lowering.workload : *lowering.least;
  const Status valid = Validate(workload);
  ASSERT_TRUE(valid.ok()) << valid.error().message;
  const std::string text = Format(workload);
  const auto again = ParseWorkload(text);
  ASSERT_TRUE(again.ok()) << text << ": " << again.error().message;
  EXPECT_EQ(*again, workload) << text;
  EXPECT_EQ(WorkOf(workload).operand_reads.size(), lowering.operand_inputs.size()) << text;
}

void Damage(TestNode& node, std::mt19937& random) {
  const auto below = [&random](std::size_t end) { return random() % end; };  // the same on every platform
  const auto power = [](int exponent) { return std::int64_t{1} << exponent; };
  const std::int64_t extents[] = {-1, 0, 1, 2, 3, 5, 64, power(20), power(31), power(40), power(62)};
  const auto extent = [&] { return extents[below(std::size(extents))]; };
  auto& operands = below(3) == 0 ? node.outputs() : node.inputs();
  if (below(3) != 0 && !operands.empty()) {
    std::optional<OperandView>& operand = operands[below(operands.size())];
    if (!operand) return;
    Shape shape = operand->shape == nullptr ? Shape{} : *operand->shape;
    switch (below(8)) {
      case 0:
        operand.reset();
        return;
      case 1:
        operand->shape = nullptr;
        return;
      case 2:
        operand->type = static_cast<DataType>(below(static_cast<std::size_t>(DataType::kBool) + 1));
        return;
      case 3:
        operand->value = nullptr;
        return;
      case 4:
        operand->constant = !operand->constant;
        return;
      case 5:
        shape.dims.push_back(extent());
        break;
      case 6:
        if (!shape.dims.empty()) shape.dims.erase(shape.dims.begin());
        break;
      default:
        if (!shape.dims.empty()) shape.dims[below(shape.rank())] = extent();
    }
    operand->shape = node.Keep(std::move(shape));
    return;
  }
  static const std::vector<std::string_view> names = Split(
      "kernel_shape strides pads dilations group axis axes num_heads q_num_heads kv_num_heads K N bits perm "
      "hidden_size output_shape equation auto_pad blocksize num_groups groups size output_padding "
      "noop_with_empty_axes transA activation channels_last batch_dims left_window_size local_window_size do_rotary "
      "qkv_hidden_sizes offset_group ceil_mode mode k activation_type expert_weight_bits",
      ' ');
  AttributeValue value;
  switch (below(7)) {
    case 0:
      value = extent();
      break;
    case 1:
      value = -extent();
      break;
    case 2:
      value = std::vector<std::int64_t>{extent()};
      break;
    case 3:
      value = std::vector<std::int64_t>{extent(), -extent(), extent(), 1};
      break;
    case 4:
      value = std::string("ij,->..");
      break;
    case 5:
      value = 1e300;
      break;
    default:
      value = std::vector<std::string>{"", "Relu"};
  }
  node.attributes()[std::string(names[below(names.size())])] = std::move(value);
}

}  // namespace infimum
