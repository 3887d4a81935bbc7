// Where each element of an output comes from, for layers that move, pick or window elements: the meaning of every kind
// as arithmetic of shapes, shared by the reference and the kernels that are checked against it.
//
//   slice      from the front of every dimension, step one, unless the layer has starts and steps of its own
//   pad        the surplus halved before and after each dimension; negative surplus crops
//   gather     outer x indices x inner from outer x axis x inner, where the counts say so; one index for
//              each element (GatherElements) or for each run of elements (GatherND) elsewhere
//   scatter    the same three forms; the last of equal indices wins
//   fill       zeros;  reverse, one_hot: the last dimension;  triangle: the lower one
#pragma once

#include <cstdint>
#include <vector>

#include "microbench/reference/values.h"
#include "src/core/layer/movement.h"
#include "src/core/layer/pooling.h"

namespace infimum::cpu {

// Row-major steps of each dimension.
std::vector<std::int64_t> PackedSteps(const std::vector<std::int64_t>& dims);

// Lines of `length` elements along an axis, `inner` apart, in each of `outer` blocks.
struct AxisLines {
  std::int64_t outer = 1, length = 1, inner = 1;
};
AxisLines LinesOf(const Shape& shape, std::int64_t axis);

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

// Where along dimension `d` of the input an element of the output comes from that is at `at` there: of slices, pads and
// tiles; of other kinds `at` itself. Outside the input is padding.
std::int64_t InputPosition(const MovementConfig& config, const LayerValues& values, std::size_t d, std::int64_t at);

// What a resized dimension reads for its output at `at`: some positions with weights that sum to one. Half-pixel
// coordinates, clamped at the edges, or those of `aligned_corners`; to the nearest element those of `nearest_shift`.
struct ResampleTaps {
  int count = 1;
  std::int64_t position[4] = {};
  double weight[4] = {1};
};
ResampleTaps TapsOf(ResampleKind kind, std::int64_t in, std::int64_t out, std::int64_t at,
                    const ScalarValues& values = kUsualValues);
// What a grid's number reads of a dimension of `in` elements: two positions, whose weights are 0 outside of it.
ResampleTaps GridTapsOf(std::int64_t in, double number, const ScalarValues& values);

// One spatial dimension of a pooling.
struct WindowAxis {
  std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0;

  // The input position of a tap of the window at `at`: negative or from `in` on is padding.
  std::int64_t Position(std::int64_t at, std::int64_t tap) const { return at * stride - begin + tap * dilation; }
  // How many taps fall on the input, or on the input or its padding.
  std::int64_t Taps(std::int64_t at, bool with_padding) const;
};
std::vector<WindowAxis> AxesOf(const PoolingConfig& config);

}  // namespace infimum::cpu
