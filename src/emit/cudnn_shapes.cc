#include "src/emit/cudnn_shapes.h"

#include <algorithm>

namespace infimum::emit {
namespace {

// A height of one before the only spatial dimension.
std::vector<std::int64_t> Spatial(std::vector<std::int64_t> list, std::int64_t filling) {
  if (list.size() == 1) list.insert(list.begin(), filling);
  return list;
}

}  // namespace

Shape WithTwoSpatial(Shape shape) {
  if (shape.rank() == 3) shape.dims.insert(shape.dims.begin() + 2, 1);
  return shape;
}

Shape WithLastAsChannels(const Shape& shape) {
  Shape result = shape;
  if (result.rank() == 0) result.dims = {1};
  if (result.rank() == 1) result.dims.insert(result.dims.begin(), 1);
  std::rotate(result.dims.begin() + 1, result.dims.end() - 1, result.dims.end());
  while (result.rank() < 4) result.dims.push_back(1);
  return result;
}

std::vector<std::int64_t> SpatialSteps(const Shape& steps) { return Spatial(steps.dims, 1); }

std::vector<std::int64_t> PaddingBefore(const std::vector<std::int64_t>& padding) {
  return Spatial({padding.begin(), padding.begin() + static_cast<std::ptrdiff_t>(padding.size() / 2)}, 0);
}

std::vector<std::int64_t> PaddingBehind(const std::vector<std::int64_t>& padding) {
  return Spatial({padding.begin() + static_cast<std::ptrdiff_t>(padding.size() / 2), padding.end()}, 0);
}

}  // namespace infimum::emit
