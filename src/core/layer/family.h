// What families of layers share: exact counts for WorkOf, checks for Validate. Every count is either exact or an error:
// nothing here wraps around.
//
//   ExactCount flops = ExactCount(2) * batch * outputs * taps + biases;
//   INFIMUM_ASSIGN_OR_RETURN(work.direct, flops.AsFlops());
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/layer_config.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/work.h"

namespace infimum {

// Sums over the layers of a model stay far below 2^63 only while one layer stays below this.
inline constexpr std::int64_t kMaxFlops = std::int64_t{1} << 62;
// Keeps the arithmetic of windows exact, and counting them quick.
inline constexpr std::int64_t kMaxSpatialExtent = std::int64_t{1} << 24;
inline constexpr std::size_t kMaxRank = 32;

// A count that remembers an overflow until it is asked for.
class ExactCount {
 public:
  ExactCount(std::int64_t value) : value_(value) {}  // NOLINT(*explicit*)

  friend ExactCount operator*(ExactCount a, ExactCount b) {
    ExactCount product(0);
    product.overflowed_ = __builtin_mul_overflow(a.value_, b.value_, &product.value_) || a.overflowed_ || b.overflowed_;
    return product;
  }
  friend ExactCount operator+(ExactCount a, ExactCount b) {
    ExactCount sum(0);
    sum.overflowed_ = __builtin_add_overflow(a.value_, b.value_, &sum.value_) || a.overflowed_ || b.overflowed_;
    return sum;
  }
  friend ExactCount operator-(ExactCount a, ExactCount b) {
    ExactCount difference(0);
    difference.overflowed_ =
        __builtin_sub_overflow(a.value_, b.value_, &difference.value_) || a.overflowed_ || b.overflowed_;
    return difference;
  }

  // The value, or `instead` after an overflow.
  std::int64_t ValueOr(std::int64_t instead) const { return overflowed_ ? instead : value_; }
  // An error from 2^62 on.
  Result<Flops> AsFlops() const;

 private:
  std::int64_t value_;
  bool overflowed_ = false;
};

// floor(a / b) and ceil(a / b) for b > 0.
constexpr std::int64_t FloorDivide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr std::int64_t CeilDivide(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

// "in=1x0 is ...": at least one element, at most kMaxElements and kMaxRank dimensions.
Status CheckTensor(std::string_view field, const Shape& shape);
// Each dimension from 1 to kMaxSpatialExtent, `rank` of them.
Status CheckSpatial(std::string_view field, const Shape& shape, std::size_t rank);
Status CheckRange(std::string_view field, std::int64_t value, std::int64_t least, std::int64_t most);
// The types of input and output are there; of weights if and only if `weights`.
Status CheckTypes(const OperandTypes& types, bool weights);

Bytes SizeOf(const Operand& operand);

// What a family has that declares none of its own: one operand, the input, and one output.
template <class Config>
std::vector<Operand> OperandsOfFamily(const Config& config) {
  return {{config.input, config.types.input, false}};
}
template <class Config>
std::vector<Operand> OutputsOfFamily(const Config& config) {
  if constexpr (requires { OutputShape(config); })
    return {{OutputShape(config), config.types.output, false}};
  else if constexpr (requires { config.output; })
    return {{config.output, config.types.output, false}};
  else
    return {{config.input, config.types.output, false}};
}

// Work that reads each operand and writes each output whole; with so many operations, directly and conventionally.
Work WholeWork(const std::vector<Operand>& operands, const std::vector<Operand>& outputs, Flops flops = {});

// outer x axis x inner of a shape that CheckTensor accepts.
Shape OuterAxisInner(const Shape& shape, std::size_t axis);

// Elements of a checked shape from dimension `first` on, up to but without `last`.
std::int64_t ElementsBetween(const Shape& shape, std::size_t first, std::size_t last);

// A bias is added to the accumulator: it has the output's type, or s32 where integers are multiplied and
// the output is an integer too.
DataType BiasType(const OperandTypes& types);

}  // namespace infimum
