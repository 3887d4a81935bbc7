#include "src/readers/onnx/lowering/attributes.h"

#include <cmath>

namespace infimum::lowering {
namespace {

const AttributeValue* Find(const NodeView& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : &found->second;
}

Error WrongType(const std::string& name, std::string_view expected) {
  return Error{"attribute '" + name + "' is not " + std::string(expected)};
}

Status CheckRange(const std::string& name, std::int64_t value, IntegerRange range) {
  if (value >= range.least && value <= range.most) return Status();
  return Error{"attribute '" + name + "' is " + std::to_string(value) + ", which is out of range"};
}

}  // namespace

bool HasAttribute(const NodeView& node, const std::string& name) { return Find(node, name) != nullptr; }

Result<std::int64_t> IntegerIn(const NodeView& node, const std::string& name, std::int64_t otherwise,
                               IntegerRange range) {
  const AttributeValue* value = Find(node, name);
  if (value == nullptr) return otherwise;
  const auto* integer = std::get_if<std::int64_t>(value);
  if (integer == nullptr) return WrongType(name, "an integer");
  INFIMUM_RETURN_IF_ERROR(CheckRange(name, *integer, range));
  return *integer;
}

Result<std::int64_t> RequiredInteger(const NodeView& node, const std::string& name, IntegerRange range) {
  if (!HasAttribute(node, name)) return Error{"attribute '" + name + "' is missing"};
  return IntegerIn(node, name, 0, range);
}

Result<bool> Flag(const NodeView& node, const std::string& name, bool otherwise) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t value, IntegerIn(node, name, otherwise ? 1 : 0));
  return value != 0;
}

Result<double> Number(const NodeView& node, const std::string& name, double otherwise) {
  const AttributeValue* value = Find(node, name);
  if (value == nullptr) return otherwise;
  const auto* number = std::get_if<double>(value);
  if (number == nullptr) return WrongType(name, "a number");
  if (!std::isfinite(*number)) return WrongType(name, "a finite number");
  return *number;
}

Result<std::string> Text(const NodeView& node, const std::string& name, std::string otherwise) {
  const AttributeValue* value = Find(node, name);
  if (value == nullptr) return otherwise;
  const auto* text = std::get_if<std::string>(value);
  if (text == nullptr) return WrongType(name, "a text");
  return *text;
}

Result<std::optional<std::vector<std::int64_t>>> IntegersIn(const NodeView& node, const std::string& name,
                                                            IntegerRange range) {
  using Integers = std::optional<std::vector<std::int64_t>>;
  const AttributeValue* value = Find(node, name);
  if (value == nullptr) return Integers();
  const auto* integers = std::get_if<std::vector<std::int64_t>>(value);
  if (integers == nullptr) return WrongType(name, "a list of integers");
  for (const std::int64_t integer : *integers) INFIMUM_RETURN_IF_ERROR(CheckRange(name, integer, range));
  return Integers(*integers);
}

Result<std::vector<std::string>> Texts(const NodeView& node, const std::string& name) {
  const AttributeValue* value = Find(node, name);
  if (value == nullptr) return std::vector<std::string>();
  const auto* texts = std::get_if<std::vector<std::string>>(value);
  if (texts == nullptr) return WrongType(name, "a list of texts");
  return *texts;
}

}  // namespace infimum::lowering
