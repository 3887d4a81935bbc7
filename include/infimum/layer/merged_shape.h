// The shape of an element-wise layer's operand where the layer's dimensions were merged, beside a tensor whose
// dimensions are not.
#pragma once

#include <optional>

#include "infimum/layer/shape.h"

namespace infimum {

// An operand of a canonical element-wise layer in the rank of `output`, which `merged` is a coarser form of: {64, 1} of
// {64, 3136} is {1, 64, 1, 1} of {1, 64, 56, 56}. nullopt where a dimension of `merged` ends within one of `output`.
std::optional<Shape> Unmerged(const Shape& operand, const Shape& merged, const Shape& output);

}  // namespace infimum
