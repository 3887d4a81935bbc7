// Element types, and the `dtype=in:weights:out` triple that every layer configuration carries.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/base/units.h"

namespace infimum {

enum class DataType {
  kNone,  // "-": the operator has no such operand
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E4M3,
  kF8E5M2,
  kS64,
  kS32,
  kS16,
  kS8,
  kS4,
  kU64,
  kU32,
  kU16,
  kU8,
  kU4,
  kBool,
};

// "f32", "bf16", "u8", "bool", "-" ...
std::string_view Name(DataType type);
std::optional<DataType> FindDataType(std::string_view name);

// 4 for s4 and u4, 0 for kNone, 8 for bool.
int BitsPerElement(DataType type);

// Bytes of `elements` packed elements, rounded up to whole bytes. `elements` is at most 2^53.
Bytes SizeOf(DataType type, std::int64_t elements);

bool IsFloatingPoint(DataType type);
bool IsInteger(DataType type);  // bool is not

struct OperandTypes {
  DataType input = DataType::kF32;
  DataType weights = DataType::kNone;  // the second operand's, for products; kNone where there is none
  DataType output = DataType::kF32;

  friend bool operator==(const OperandTypes&, const OperandTypes&) = default;
};

}  // namespace infimum
