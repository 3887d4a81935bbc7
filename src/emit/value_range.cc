#include "src/emit/value_range.h"

namespace infimum::emit {

Range RangeOf(DataType type, bool weight) {
  if (type == DataType::kU8) return {0, 255};
  if (type == DataType::kS8) return weight ? Range{-127, 127} : Range{-128, 127};
  // Codes, as emitted programs fill them in: two numbers in a byte, and exponents.
  if (type == DataType::kF4E2M1) return {0, 255};
  if (type == DataType::kF8E8M0) return {120, 128};
  if (type == DataType::kBool) return {0, 1};
  return IsInteger(type) ? Range{-1000, 1000} : Range{};
}

Range RangeOf(PointwiseKind kind, std::size_t operand, DataType type) {
  switch (kind) {
    case PointwiseKind::kLogarithm:
    case PointwiseKind::kSquareRoot:
    case PointwiseKind::kReciprocal:
      return {0.25, 4};
    case PointwiseKind::kDivide:
      if (operand == 1) return IsInteger(type) ? Range{1, 20} : Range{0.5, 2};
      return IsInteger(type) ? Range{0, 100} : Range{-4, 4};
    case PointwiseKind::kAdd:
    case PointwiseKind::kSubtract:
    case PointwiseKind::kMultiply:
      return IsInteger(type) ? Range{5, 10} : Range{};
    default:
      return IsInteger(type) ? Range{0, 100} : Range{-4, 4};
  }
}

}  // namespace infimum::emit
