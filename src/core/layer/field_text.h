// The `name=value` fields of a layer configuration's text, written and read through the VisitFields of
// each family, so that a field is declared once.
//
//   FieldWriter writer;                          writer.text() == " kind=relu dtype=f32:-:f32 in=64"
//   PointwiseConfig::VisitFields(config, writer);
//
// Fields are written in the order of VisitFields and read in any order, each at most once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/layer_config.h"
#include "infimum/layer/shape.h"

namespace infimum {

// "f32:f32:f32", "1x64x56x56", "1x64,64" ("-" for no shape at all), "1,1,1,1", "64", "yes", "nchw", "relu".
std::string ValueText(DataType value);
std::string ValueText(const OperandTypes& value);
std::string ValueText(const BlockScales& value);  // "32x1:f32", "32x1:f32:u4"
std::string ValueText(const Shape& value);
std::string ValueText(const std::vector<Shape>& value);
std::string ValueText(const std::vector<std::int64_t>& value);
std::string ValueText(std::int64_t value);
std::string ValueText(bool value);
std::string ValueText(const std::string& value);
template <class Enum>
requires std::is_enum_v<Enum> std::string ValueText(Enum value) {
  for (const NamedValue<Enum>& row : NamesOf(value))
    if (row.value == value) return std::string(row.name);
  CheckFailed(__FILE__, __LINE__, "NamesOf(value)", "every enumerator has a name");
}

Status ReadValue(std::string_view text, DataType& value);
Status ReadValue(std::string_view text, OperandTypes& value);
Status ReadValue(std::string_view text, BlockScales& value);
Status ReadValue(std::string_view text, Shape& value);
Status ReadValue(std::string_view text, std::vector<Shape>& value);
Status ReadValue(std::string_view text, std::vector<std::int64_t>& value);
Status ReadValue(std::string_view text, std::int64_t& value);
Status ReadValue(std::string_view text, bool& value);
Status ReadValue(std::string_view text, std::string& value);
// "is not one of", with the nearest name, or all of them where they are few.
Error UnknownName(std::string_view text, std::span<const std::string_view> known);
template <class Enum>
requires std::is_enum_v<Enum> Status ReadValue(std::string_view text, Enum& value) {
  std::vector<std::string_view> known;
  for (const NamedValue<Enum>& row : NamesOf(value)) {
    if (row.name == text) {
      value = row.value;
      return {};
    }
    known.push_back(row.name);
  }
  return UnknownName(text, known);
}

// A name of a layout: letters, digits and underscores, at most 64.
bool IsIdentifier(std::string_view text);

class FieldWriter {
 public:
  template <class T>
  void operator()(std::string_view name, const T& value) {
    text_ += ' ';
    text_ += name;
    text_ += '=';
    text_ += ValueText(value);
  }
  template <class T>
  void Optional(std::string_view name, const T& value, const T& absent = T{}) {
    if (!(value == absent)) (*this)(name, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The names of a family's fields, for errors.
class FieldNames {
 public:
  template <class T>
  void operator()(std::string_view name, const T&) {
    names_.push_back(name);
  }
  template <class T>
  void Optional(std::string_view name, const T& value, const T& = T{}) {
    (*this)(name, value);
  }
  const std::vector<std::string_view>& names() const { return names_; }

 private:
  std::vector<std::string_view> names_;
};

// A `name=value` and its columns, counted from 1.
struct Field {
  std::string_view name;
  std::string_view value;
  std::size_t value_column = 1;
};

// Splits "a=1 b=2", whose first character is in `column`. An error for a field that `known` does not
// hold, a second one of the same name, and anything but single spaces between fields.
Result<std::vector<Field>> SplitFields(std::string_view family, std::span<const std::string_view> known,
                                       std::string_view text, std::size_t column);

class FieldReader {
 public:
  // `end_column` is where a missing field would have to be written.
  FieldReader(std::string_view family, std::vector<Field> fields, std::size_t end_column)
      : family_(family), fields_(std::move(fields)), end_column_(end_column) {}

  template <class T>
  void operator()(std::string_view name, T& value) {
    if (const Field* field = Find(name))
      Read(*field, value);
    else
      Missing(name);
  }
  template <class T>
  void Optional(std::string_view name, T& value, const T& absent = T{}) {
    value = absent;
    if (const Field* field = Find(name)) Read(*field, value);
  }
  // The first error, with its column.
  const Status& status() const { return status_; }

 private:
  template <class T>
  void Read(const Field& field, T& value) {
    if (!status_.ok()) return;
    if (Status status = ReadValue(field.value, value); !status.ok())
      status_ = Within(std::to_string(field.value_column), status.error());
  }
  const Field* Find(std::string_view name) const;
  void Missing(std::string_view name);

  std::string_view family_;
  std::vector<Field> fields_;
  std::size_t end_column_;
  Status status_;
};

// ParseLayerConfig for a text that starts in `column` of a longer one (a member of a region).
Result<LayerConfig> ParseLayerConfigAt(std::string_view text, std::size_t column);

}  // namespace infimum
