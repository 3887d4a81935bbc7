#include "infimum/layer/data_type.h"

#include <array>

namespace infimum {
namespace {

struct TypeRow {
  DataType type;
  std::string_view name;
  int bits;
};

constexpr std::array kTypes = {
    TypeRow{DataType::kNone, "-", 0},        TypeRow{DataType::kF64, "f64", 64},
    TypeRow{DataType::kF32, "f32", 32},      TypeRow{DataType::kF16, "f16", 16},
    TypeRow{DataType::kBF16, "bf16", 16},    TypeRow{DataType::kF8E4M3, "f8e4m3", 8},
    TypeRow{DataType::kF8E5M2, "f8e5m2", 8}, TypeRow{DataType::kF8E8M0, "f8e8m0", 8},
    TypeRow{DataType::kF4E2M1, "f4e2m1", 4}, TypeRow{DataType::kS64, "s64", 64},
    TypeRow{DataType::kS32, "s32", 32},      TypeRow{DataType::kS16, "s16", 16},
    TypeRow{DataType::kS8, "s8", 8},         TypeRow{DataType::kS4, "s4", 4},
    TypeRow{DataType::kS2, "s2", 2},         TypeRow{DataType::kU64, "u64", 64},
    TypeRow{DataType::kU32, "u32", 32},      TypeRow{DataType::kU16, "u16", 16},
    TypeRow{DataType::kU8, "u8", 8},         TypeRow{DataType::kU4, "u4", 4},
    TypeRow{DataType::kU2, "u2", 2},         TypeRow{DataType::kBool, "bool", 8},
};

constexpr bool RowsStandAtTheirValue() {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
  return true;
}
static_assert(RowsStandAtTheirValue());

const TypeRow& RowOf(DataType type) {
  const auto index = static_cast<std::size_t>(type);
  INFIMUM_CHECK(index < kTypes.size(), "a data type is one of the enumerators");
  return kTypes[index];
}

}  // namespace

std::string_view Name(DataType type) { return RowOf(type).name; }

std::optional<DataType> FindDataType(std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (row.name == name) return row.type;
  return std::nullopt;
}

int BitsPerElement(DataType type) { return RowOf(type).bits; }

Bytes SizeOf(DataType type, std::int64_t elements) {
  INFIMUM_CHECK(elements >= 0 && elements <= (std::int64_t{1} << 53), "an element count is from 0 to 2^53");
  return Bytes{(elements * BitsPerElement(type) + 7) / 8};
}

bool IsFloatingPoint(DataType type) { return type >= DataType::kF64 && type <= DataType::kF4E2M1; }

bool IsInteger(DataType type) { return type >= DataType::kS64 && type <= DataType::kU2; }

bool IsNarrowNumber(DataType type) { return (IsInteger(type) || IsFloatingPoint(type)) && BitsPerElement(type) <= 8; }

}  // namespace infimum
