// The sliding window that convolutions and pools share: kernel, strides, dilations, and the padding
// that `pads` gives or `auto_pad` asks for.
//
//   input 7x7, kernel 3x3, strides 2x2, auto_pad SAME_UPPER  ->  pad=1,1,1,1, output 4x4
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/shape.h"
#include "src/readers/onnx/parse/node_view.h"

namespace infimum::lowering {

struct Window {
  Shape kernel;
  Shape stride;
  Shape dilation;
  std::vector<std::int64_t> padding;  // ONNX order: all begins, then all ends
};

// `spatial` is the input's spatial extent; `kernel` comes from the weights where there are any, and
// must then agree with `kernel_shape`. For a transposed convolution use ReadTransposedPadding() after it.
Result<Window> ReadWindow(const NodeView& node, const Shape& spatial, const std::optional<Shape>& kernel);

struct TransposedPadding {
  std::vector<std::int64_t> padding;
  std::vector<std::int64_t> output_padding;  // empty: all zero
};

// `output` is the declared spatial extent of the result, where it is known: `output_shape` and
// `auto_pad` then follow from it by ConvTranspose's own equations.
Result<TransposedPadding> ReadTransposedPadding(const NodeView& node, const Shape& spatial, const Window& window,
                                                const std::optional<Shape>& output);

// Extent of a dilated kernel.
inline std::int64_t DilatedExtent(std::int64_t kernel, std::int64_t dilation) { return dilation * (kernel - 1) + 1; }

// Output extent along one dimension; 0 or less where the window does not fit.
std::int64_t WindowOutput(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                          std::int64_t padding, bool ceil);

}  // namespace infimum::lowering
