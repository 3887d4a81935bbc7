// The random numbers that benchmarks fill operands with: uniform in a range in which functions are defined and numbers
// neither overflow nor all become the same.
//
//   RangeOf(DataType::kF16)                                  -1 to 1
//   RangeOf(DataType::kU8)                                   0 to 255
//   RangeOf(PointwiseKind::kLogarithm, 0, DataType::kF32)    0.25 to 4
#pragma once

#include <cstddef>

#include "infimum/layer/data_type.h"
#include "infimum/layer/pointwise.h"

namespace infimum::emit {

struct Range {
  double low = -1;
  double high = 1;
};

// `weight`: 8 bits of which products use 7, as processors without VNNI want them.
Range RangeOf(DataType type, bool weight = false);

// Of an element-wise layer's operand.
Range RangeOf(PointwiseKind kind, std::size_t operand, DataType type);

}  // namespace infimum::emit
