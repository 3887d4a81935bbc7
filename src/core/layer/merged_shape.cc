#include "infimum/layer/merged_shape.h"

namespace infimum {

std::optional<Shape> Unmerged(const Shape& operand, const Shape& merged, const Shape& output) {
  Shape padded;
  padded.dims.assign(merged.rank() - operand.rank(), 1);
  padded.dims.insert(padded.dims.end(), operand.dims.begin(), operand.dims.end());
  Shape result = output;
  std::size_t at = output.rank();
  for (std::size_t i = merged.rank(); i-- > 0;) {
    std::int64_t product = 1;
    while (at > 0 && product < merged.dims[i]) {
      --at;
      product *= output.dims[at];
      if (padded.dims[i] == 1) result.dims[at] = 1;
    }
    if (product != merged.dims[i]) return std::nullopt;
    if (padded.dims[i] != 1 && padded.dims[i] != merged.dims[i]) return std::nullopt;
  }
  // What was dropped from the front is of extent one.
  for (std::size_t i = 0; i < at; ++i) {
    if (output.dims[i] != 1) return std::nullopt;
  }
  return result;
}

}  // namespace infimum
