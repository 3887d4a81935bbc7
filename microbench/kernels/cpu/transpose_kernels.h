// Permuting the dimensions of a row-major tensor: runs are copied where the innermost dimension stays,
// tiles are turned in registers where it moves.
#pragma once

#include <functional>
#include <vector>

#include "infimum/layer/shape.h"

namespace infimum::cpu {

// Dimension i of the output is dimension permutation[i] of the input.
std::function<void(const void* from, void* to)> MakeTranspose(const Shape& input,
                                                              const std::vector<std::int64_t>& permutation, int bytes);

}  // namespace infimum::cpu
