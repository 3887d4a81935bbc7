// Shapes, windows and strides as cuDNN wants them: at least four dimensions, of which two or three are spatial.
//
//   1x64x56 (one spatial dimension)          WithTwoSpatial      1x64x1x56
//   128x768 (rows of a matrix)               WithLastAsChannels  128x768x1x1, whose channels lie last: the same bytes
//   pad 1,2 of one dimension                 PaddingBefore       {0, 1}, PaddingBehind {0, 2}
//   1x64x8x8, channels last                  Strides             {4096, 1, 512, 64}
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/layer/shape.h"

namespace infimum::cuda {

Shape WithTwoSpatial(Shape shape);

// A tensor without channels, as cuDNN's element-wise kernels want it: the last dimension, which is dense, as channels
// that lie last, the first as the batch, the others as space. Its bytes stay where they are.
Shape WithLastAsChannels(const Shape& shape);

// A window, stride or dilation; `padding` is ONNX's, all begins and then all ends.
std::vector<std::int64_t> SpatialSteps(const Shape& steps);
std::vector<std::int64_t> PaddingBefore(const std::vector<std::int64_t>& padding);
std::vector<std::int64_t> PaddingBehind(const std::vector<std::int64_t>& padding);

// Of a packed tensor, in elements.
std::vector<std::int64_t> Strides(const Shape& shape, bool channels_last);

}  // namespace infimum::cuda
