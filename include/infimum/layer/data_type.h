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
  kF8E8M0,  // powers of two: the scales of MX blocks
  kF4E2M1,
  kS64,
  kS32,
  kS16,
  kS8,
  kS4,
  kS2,
  kU64,
  kU32,
  kU16,
  kU8,
  kU4,
  kU2,
  kBool,
};

// "f32", "bf16", "u8", "bool", "-" ...
std::string_view Name(DataType type);
std::optional<DataType> FindDataType(std::string_view name);

// 4 for s4, u4 and f4e2m1, 2 for s2 and u2, 0 for kNone, 8 for bool.
int BitsPerElement(DataType type);

// Bytes of `elements` packed elements, rounded up to whole bytes. `elements` is at most 2^53.
Bytes SizeOf(DataType type, std::int64_t elements);

bool IsFloatingPoint(DataType type);
bool IsInteger(DataType type);  // bool is not
// What weights are stored in to save bytes: integers and floats of at most 8 bits.
bool IsNarrowNumber(DataType type);

struct OperandTypes {
  DataType input = DataType::kF32;
  DataType weights = DataType::kNone;  // the second operand's, for products; kNone where there is none
  DataType output = DataType::kF32;

  friend bool operator==(const OperandTypes&, const OperandTypes&) = default;
};

}  // namespace infimum
