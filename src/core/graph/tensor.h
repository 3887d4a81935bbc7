// A tensor with its elements, for the few constants whose values matter to the graph: shapes, axes,
// scales, slice starts. Weights stay in their file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// The elements of a tensor as integers (bool as 0 and 1) or as numbers (any real type); nullopt for a
// floating point tensor, a null pointer, or a byte count that does not fit the shape.
std::optional<std::vector<std::int64_t>> IntegersOf(const Tensor* tensor);
std::optional<std::vector<double>> NumbersOf(const Tensor* tensor);

}  // namespace infimum
