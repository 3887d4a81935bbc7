// A broadcast as rows: neighbouring dimensions merged as far as every operand allows, the innermost one
// a row over which each operand steps by one element or by none.
//
//   BroadcastRows rows({{128, 768}}, {{{128, 768}}, {{768}}});
//   rows.count() == 128;  rows.length() == 768;  rows.step(1) == 1;  rows.Offset(1, 5) == 0
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/layer/shape.h"

namespace infimum::cpu {

class BroadcastRows {
 public:
  BroadcastRows(const Shape& output, const std::vector<Shape>& operands);

  std::int64_t count() const { return count_; }
  std::int64_t length() const { return length_; }
  int step(std::size_t operand) const { return static_cast<int>(steps_[operand]); }
  // First element of the operand in a row.
  std::int64_t Offset(std::size_t operand, std::int64_t row) const;

 private:
  std::int64_t count_ = 1;
  std::int64_t length_ = 1;
  std::vector<std::int64_t> outer_;                 // dimensions above the row
  std::vector<std::vector<std::int64_t>> strides_;  // for each operand, of the outer dimensions
  std::vector<std::int64_t> steps_;
};

}  // namespace infimum::cpu
