// A tensor with its elements, for the few constants whose values matter to the graph: shapes, axes,
// scales, slice starts. Weights stay in their file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"

namespace infimum {

struct Tensor {
  DataType type = DataType::kF32;
  Shape shape;
  std::vector<std::byte> bytes;  // row-major, native (little-endian) elements, 4-bit types packed

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

}  // namespace infimum
