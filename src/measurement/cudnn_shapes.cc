#include "infimum/measurement/cudnn_shapes.h"

#include <algorithm>
#include <numeric>

namespace infimum::cuda {
namespace {

// A height of one before the only spatial dimension.
std::vector<std::int64_t> Spatial(const std::vector<std::int64_t>& list, std::int64_t filling) {
  return list.size() == 1 ? std::vector<std::int64_t>{filling, list[0]} : list;
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

std::vector<std::int64_t> Strides(const Shape& shape, bool channels_last) {
  std::vector<std::size_t> order(shape.rank());
  std::iota(order.begin(), order.end(), 0u);
  if (channels_last && order.size() > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  std::vector<std::int64_t> strides(shape.rank());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= shape.dims[order[i]];
  }
  return strides;
}

}  // namespace infimum::cuda
