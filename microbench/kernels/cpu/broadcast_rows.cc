#include "microbench/kernels/cpu/broadcast_rows.h"

namespace infimum::cpu {

BroadcastRows::BroadcastRows(const Shape& output, const std::vector<Shape>& operands) {
  struct Dimension {
    std::int64_t extent;
    std::vector<bool> whole;  // for each operand, whether it has the dimension or stretches over it
  };
  std::vector<Dimension> merged;
  for (std::size_t i = 0; i < output.rank(); ++i) {
    if (output.dims[i] == 1) continue;
    Dimension dimension{output.dims[i], {}};
    for (const Shape& operand : operands) {
      const std::size_t missing = output.rank() - operand.rank();
      dimension.whole.push_back(i >= missing && operand.dims[i - missing] != 1);
    }
    if (!merged.empty() && merged.back().whole == dimension.whole) {
      merged.back().extent *= dimension.extent;
    } else {
      merged.push_back(dimension);
    }
  }
  if (merged.empty()) merged.push_back({1, std::vector<bool>(operands.size(), true)});
  length_ = merged.back().extent;
  for (std::size_t i = 0; i + 1 < merged.size(); ++i) {
    outer_.push_back(merged[i].extent);
    count_ *= merged[i].extent;
  }
  for (std::size_t operand = 0; operand < operands.size(); ++operand) {
    steps_.push_back(merged.back().whole[operand] ? 1 : 0);
    std::vector<std::int64_t> strides(outer_.size(), 0);
    std::int64_t stride = merged.back().whole[operand] ? length_ : 1;
    for (std::size_t i = outer_.size(); i-- > 0;) {
      if (!merged[i].whole[operand]) continue;
      strides[i] = stride;
      stride *= outer_[i];
    }
    strides_.push_back(std::move(strides));
  }
}

std::int64_t BroadcastRows::Offset(std::size_t operand, std::int64_t row) const {
  std::int64_t offset = 0;
  for (std::size_t i = outer_.size(); i-- > 0;) {
    offset += row % outer_[i] * strides_[operand][i];
    row /= outer_[i];
  }
  return offset;
}

}  // namespace infimum::cpu
