#include "src/core/layer/field_text.h"

#include <algorithm>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::size_t kFewNames = 8;
constexpr std::size_t kLongestIdentifier = 64;

Result<DataType> ReadType(std::string_view text) {
  if (const std::optional<DataType> type = FindDataType(text)) return *type;
  return Error{Quoted(text) +
               " is not an element type, write f32, f16, bf16, s8, u8, s32, s64, bool ... or '-' for none"};
}

template <class T>
std::string Listed(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) {
    if (!text.empty()) text += ',';
    text += ValueText(value);
  }
  return text;
}

}  // namespace

std::string ValueText(DataType value) { return std::string(Name(value)); }
std::string ValueText(const BlockScales& value) {
  std::string text = Format(Shape{{value.rows, value.columns}}) + ":" + ValueText(value.type);
  if (value.zero_points != DataType::kNone) text += ":" + ValueText(value.zero_points);
  return text;
}
std::string ValueText(const OperandTypes& value) {
  std::string text;
  text += Name(value.input);
  text += ':';
  text += Name(value.weights);
  text += ':';
  text += Name(value.output);
  return text;
}
std::string ValueText(const Shape& value) { return Format(value); }
std::string ValueText(const std::vector<Shape>& value) { return value.empty() ? "-" : Listed(value); }
std::string ValueText(const std::vector<std::int64_t>& value) { return Listed(value); }
std::string ValueText(std::int64_t value) { return std::to_string(value); }
std::string ValueText(bool value) { return value ? "yes" : "no"; }
std::string ValueText(const std::string& value) { return value; }

Status ReadValue(std::string_view text, DataType& value) {
  INFIMUM_ASSIGN_OR_RETURN(value, ReadType(text));
  return {};
}

Status ReadValue(std::string_view text, BlockScales& value) {
  const std::vector<std::string_view> parts = Split(text, ':');
  const Result<Shape> block = ParseShape(parts[0]);
  if (parts.size() < 2 || parts.size() > 3 || !block.ok() || block->rank() != 2)
    return Error{Quoted(text) +
                 " is not a block and the types of its scale and zero point, write them as in 32x1:f32 or 32x1:f32:u4"};
  value = {block->dims[0], block->dims[1], DataType::kNone, DataType::kNone};
  INFIMUM_RETURN_IF_ERROR(ReadValue(parts[1], value.type));
  return parts.size() == 3 ? ReadValue(parts[2], value.zero_points) : Status();
}

Status ReadValue(std::string_view text, OperandTypes& value) {
  const std::vector<std::string_view> names = Split(text, ':');
  if (names.size() != 3)
    return Error{Quoted(text) + " is not a triple of element types, write input:weights:output as in f32:f32:f32"};
  INFIMUM_ASSIGN_OR_RETURN(value.input, ReadType(names[0]));
  INFIMUM_ASSIGN_OR_RETURN(value.weights, ReadType(names[1]));
  INFIMUM_ASSIGN_OR_RETURN(value.output, ReadType(names[2]));
  return {};
}

Status ReadValue(std::string_view text, Shape& value) {
  INFIMUM_ASSIGN_OR_RETURN(value, ParseShape(text));
  return {};
}

Status ReadValue(std::string_view text, std::vector<Shape>& value) {
  value.clear();
  if (text == "-") return {};
  for (const std::string_view piece : Split(text, ',')) {
    INFIMUM_ASSIGN_OR_RETURN(Shape shape, ParseShape(piece));
    value.push_back(std::move(shape));
  }
  return {};
}

Status ReadValue(std::string_view text, std::vector<std::int64_t>& value) {
  value.clear();
  for (const std::string_view piece : Split(text, ',')) {
    const std::optional<std::int64_t> number = ParseInteger(piece);
    if (!number) return Error{Quoted(text) + " is not a list of 64-bit integers, write one like 1,1,1,1"};
    value.push_back(*number);
  }
  return {};
}

Status ReadValue(std::string_view text, std::int64_t& value) {
  const std::optional<std::int64_t> number = ParseInteger(text);
  if (!number) return Error{Quoted(text) + " is not a 64-bit integer"};
  value = *number;
  return {};
}

Status ReadValue(std::string_view text, bool& value) {
  if (text != "yes" && text != "no") return Error{Quoted(text) + " is neither yes nor no"};
  value = text == "yes";
  return {};
}

Status ReadValue(std::string_view text, std::string& value) {
  if (!IsIdentifier(text)) return Error{Quoted(text) + " is not a name of 1 to 64 letters, digits and underscores"};
  value = std::string(text);
  return {};
}

Error UnknownName(std::string_view text, std::span<const std::string_view> known) {
  std::string message = "unknown name " + Quoted(text);
  const std::string hint = DidYouMean(text, known);
  if (!hint.empty()) return Error{message + hint};
  if (known.size() > kFewNames) return Error{message};
  message += ", it must be ";
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (i > 0) message += i + 1 == known.size() ? " or " : ", ";
    message += known[i];
  }
  return Error{message};
}

bool IsIdentifier(std::string_view text) {
  if (text.empty() || text.size() > kLongestIdentifier) return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<std::vector<Field>> SplitFields(std::string_view family, std::span<const std::string_view> known,
                                       std::string_view text, std::size_t column) {
  std::vector<Field> fields;
  for (const std::string_view piece : Split(text, ' ')) {
    const std::string where = std::to_string(column);
    const std::size_t equals = piece.find('=');
    if (piece.empty())
      return Within(where, Error{"a field is missing here, write name=value with single spaces between"});
    if (equals == std::string_view::npos) return Within(where, Error{"expected name=value, not " + Quoted(piece)});
    const std::string_view name = piece.substr(0, equals);
    if (std::ranges::find(known, name) == known.end())
      return Within(where,
                    Error{"unknown field " + Quoted(name) + " for " + std::string(family) + DidYouMean(name, known)});
    if (std::ranges::find(fields, name, &Field::name) != fields.end())
      return Within(where, Error{"a second field " + Quoted(name) + ", remove one of them"});
    fields.push_back({name, piece.substr(equals + 1), column + equals + 1});
    column += piece.size() + 1;
  }
  return fields;
}

const Field* FieldReader::Find(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &Field::name);
  return found == fields_.end() ? nullptr : &*found;
}

void FieldReader::Missing(std::string_view name) {
  if (!status_.ok()) return;
  status_ = Within(std::to_string(end_column_),
                   Error{"field " + Quoted(name) + " of " + std::string(family_) + " is missing, add it"});
}

}  // namespace infimum
