// Where each element of a movement's output comes from: the meaning of every kind, given shapes alone.
// The slow truth that kernels are checked against; only the shape arithmetic that both need is shared.
//
//   slice      from the front of every dimension, step one
//   pad        the surplus halved before and after each dimension; negative surplus crops
//   gather     outer x indices x inner from outer x axis x inner, where the counts say so; one index for
//              each element (GatherElements) or for each run of elements (GatherND) elsewhere
//   scatter    the same three forms; the last of equal indices wins
//   fill       zeros;  reverse, one_hot: the last dimension;  triangle: the lower one
#pragma once

#include <cstdint>

#include "src/core/layer/movement.h"

namespace infimum::cpu {

// kAxis: `picked` of `axis_length` runs of `inner` elements in each of `outer` blocks, the same for all
// blocks. kElements: one index along the axis for each element. kRuns: one index for each run of `inner`
// elements of the whole.
struct IndexedForm {
  enum class Kind { kAxis, kElements, kRuns };
  Kind kind = Kind::kAxis;
  std::int64_t outer = 1;
  std::int64_t axis_length = 1;  // of the data: indices are from 0 to this less one
  std::int64_t picked = 1;       // along the axis of the output (gather) or the updates (scatter)
  std::int64_t inner = 1;
};

// `data` is gathered from or scattered to; `moved` is the output of a gather or the updates of a scatter.
IndexedForm FormOf(const MovementConfig& config, const Shape& data, const Shape& moved);

// Block of a depth-to-space (positive) or space-to-depth (negative) change of NCHW tensors; 0, a plain copy,
// where the shapes are of neither.
std::int64_t DepthBlock(const MovementConfig& config);

}  // namespace infimum::cpu
