#include "src/emit/onednn_types.h"

#include <fmt/format.h>

#include "infimum/base/text.h"
#include "infimum/layer/element_order.h"

namespace infimum::emit {
namespace {

// Empty where there is none.
std::string_view LibraryType(DataType type) {
  switch (type) {
    case DataType::kF64:
      return "f64";
    case DataType::kF32:
      return "f32";
    case DataType::kF16:
      return "f16";
    case DataType::kBF16:
      return "bf16";
    case DataType::kS32:
      return "s32";
    case DataType::kS8:
      return "s8";
    case DataType::kU8:
    case DataType::kBool:
      return "u8";
    default:
      return "";
  }
}

std::string Filled(std::string_view kind, std::string_view argument, const Range& range) {
  return fmt::format("{}({}, {}, {})", kind, argument, FormatNumber(range.low), FormatNumber(range.high));
}

}  // namespace

Status CheckTypes(std::initializer_list<DataType> types) {
  for (const DataType type : types)
    if (LibraryType(type).empty()) return Error{fmt::format("oneDNN 3.2 has no type {} here", Name(type))};
  return {};
}

std::string TypeText(DataType type) { return fmt::format("type::{}", LibraryType(type)); }

std::string Desc(std::string_view layout, std::string_view dims, DataType type) {
  return fmt::format("{}({}, {})", layout, dims, TypeText(type));
}

std::string InputText(std::string_view argument, const Range& range) { return Filled("Input", argument, range); }
std::string ConstantText(std::string_view argument, const Range& range) { return Filled("Constant", argument, range); }
std::string OutputText(std::string_view argument) { return fmt::format("Output({})", argument); }

std::string PlainLayout(const Shape& shape) { return shape.rank() == 0 ? "-" : RowMajorName(shape.rank()); }

}  // namespace infimum::emit
