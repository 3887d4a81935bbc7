// Shapes, windows and strides as cuDNN wants them: at least four dimensions, of which two or three are spatial.
//
//   1x64x56 (one spatial dimension)          WithTwoSpatial      1x64x1x56
//   128x768 (rows of a matrix)               WithLastAsChannels  128x768x1x1, whose channels lie last: the same bytes
//   pad 1,2 of one dimension                 PaddingBefore       {0, 1}, PaddingBehind {0, 2}
//   1x64x8x8, channels last                  Strides             {4096, 1, 512, 64}
//
// Members of a region that pass elements on see them in the same dimensions, which canonical texts merged for each by
// itself:
//
//   [add in=98304,98304] ; [layer normalization in=128x768 axis=1]      MemberShapes  {128, 768}, {128, 768}
//   [multiply in=196608,1] ; [add in=12x16384,16384]                    MemberShapes  {12, 16384}, {12, 16384}
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "infimum/layer/region.h"
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

// For each element-wise layer, normalization of rows and reduction of a region that begins with one of them: the
// dimensions of all its elements (of a reduction: of what it reads), split as finely as those that pass elements to one
// another need. Elsewhere, and where two have no common split (6 = 2 x 3 = 3 x 2), they are the member's own.
std::vector<Shape> MemberShapes(const Region& region);

// Scale and bias of a normalization of rows beside what it reads, which is seen as `rows`: {1, 768} beside {128, 768}.
// nullopt where a row ends within a dimension.
std::optional<Shape> ParametersOf(const NormalizationConfig& config, const Shape& rows);

// Whether a region that begins with this layer has tensors with channels, which a form lays out.
bool LeadsWithChannels(const LayerConfig& lead);

// Of a packed tensor, in elements.
std::vector<std::int64_t> Strides(const Shape& shape, bool channels_last);

}  // namespace infimum::cuda
