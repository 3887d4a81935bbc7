// Copies of a tensor's elements from one order of memory to another: what transposes and changes of layout are.
//
//   MakeTranspose({{32, 65536}}, {1, 0}, 4)    channels last of an image that was row-major, 4 bytes an element
//
// Runs are copied where the copy's innermost dimension is the source's, tiles are turned in registers where it is
// another one; both in rectangles whose lines stay in the nearest cache.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "infimum/layer/element_order.h"

namespace infimum::cpu {

using MemoryCopy = std::function<void(const void* from, void* to)>;

// Over dimensions that neither order splits.
MemoryCopy MakeMemoryCopy(const CommonDimensions& dimensions, int bytes);
// Permutes the dimensions of a row-major tensor: dimension i of the output is dimension permutation[i] of the input.
MemoryCopy MakeTranspose(const Shape& input, const std::vector<std::int64_t>& permutation, int bytes);

}  // namespace infimum::cpu
