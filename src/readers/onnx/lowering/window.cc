#include "src/readers/onnx/lowering/window.h"

#include <algorithm>

#include "infimum/base/text.h"
#include "src/readers/onnx/lowering/attributes.h"

namespace infimum::lowering {
namespace {

// A list with one entry for each spatial dimension, or `otherwise` for each.
Result<std::vector<std::int64_t>> Spatial(const NodeView& node, const std::string& name, std::size_t count,
                                          std::int64_t otherwise, IntegerRange range) {
  INFIMUM_ASSIGN_OR_RETURN(const auto given, IntegersIn(node, name, range));
  if (!given || given->empty()) return std::vector<std::int64_t>(count, otherwise);
  if (given->size() != count)
    return Error{"attribute '" + name + "' has " + std::to_string(given->size()) + " entries where " +
                 std::to_string(count) + " are needed"};
  return *given;
}

// The padding that makes `total` out of a begin and an end; the larger half at the end for SAME_UPPER.
void SplitPadding(std::int64_t total, bool larger_at_end, std::int64_t& begin, std::int64_t& end) {
  begin = larger_at_end ? total / 2 : total - total / 2;
  end = total - begin;
}

}  // namespace

std::int64_t WindowOutput(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                          std::int64_t padding, bool ceil) {
  const std::int64_t room = input + padding - DilatedExtent(kernel, dilation);
  if (room < 0) return 0;
  return (room + (ceil ? stride - 1 : 0)) / stride + 1;
}

Result<Window> ReadWindow(const NodeView& node, const Shape& spatial, const std::optional<Shape>& kernel) {
  const std::size_t rank = spatial.rank();
  if (rank == 0) return Error{"the input has no spatial dimensions"};
  Window window;
  INFIMUM_ASSIGN_OR_RETURN(const auto kernel_shape, IntegersIn(node, "kernel_shape", {1, kMaxAttribute}));
  if (kernel_shape && !kernel_shape->empty()) {
    window.kernel = Shape{*kernel_shape};
    if (kernel && *kernel != window.kernel)
      return Error{"attribute 'kernel_shape' is " + Format(window.kernel) + " but the weights are " + Format(*kernel)};
  } else if (kernel) {
    window.kernel = *kernel;
  } else {
    return Error{"attribute 'kernel_shape' is missing"};
  }
  if (window.kernel.rank() != rank)
    return Error{"the kernel has " + std::to_string(window.kernel.rank()) + " dimensions, the input has " +
                 std::to_string(rank) + " spatial ones"};
  INFIMUM_ASSIGN_OR_RETURN(window.stride.dims, Spatial(node, "strides", rank, 1, {1, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(window.dilation.dims, Spatial(node, "dilations", rank, 1, {1, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(window.padding, Spatial(node, "pads", 2 * rank, 0, {}));
  for (std::size_t i = 0; i < rank; ++i)
    if (spatial.dims[i] > kMaxAttribute) return Error{"an input of " + Format(spatial) + " is out of range"};
  for (std::size_t i = 0; i < rank; ++i)
    if (window.kernel.dims[i] < 1 || window.kernel.dims[i] > kMaxAttribute)
      return Error{"a kernel of " + Format(window.kernel) + " is out of range"};

  INFIMUM_ASSIGN_OR_RETURN(const std::string automatic, Text(node, "auto_pad", "NOTSET"));
  if (automatic == "NOTSET" || automatic.empty()) return window;
  if (automatic == "VALID") {
    std::fill(window.padding.begin(), window.padding.end(), 0);
    return window;
  }
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    return Error{"attribute 'auto_pad' is " + Quoted(automatic) + ", an unknown value"};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t input = spatial.dims[i];
    const std::int64_t stride = window.stride.dims[i];
    const std::int64_t output = (input + stride - 1) / stride;
    const std::int64_t total = std::max<std::int64_t>(
        0, (output - 1) * stride + DilatedExtent(window.kernel.dims[i], window.dilation.dims[i]) - input);
    SplitPadding(total, automatic == "SAME_UPPER", window.padding[i], window.padding[rank + i]);
  }
  return window;
}

Result<TransposedPadding> ReadTransposedPadding(const NodeView& node, const Shape& spatial, const Window& window,
                                                const std::optional<Shape>& output) {
  const std::size_t rank = spatial.rank();
  INFIMUM_ASSIGN_OR_RETURN(const std::string automatic, Text(node, "auto_pad", "NOTSET"));
  INFIMUM_ASSIGN_OR_RETURN(const auto output_shape, IntegersIn(node, "output_shape", {1, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(auto extra, Spatial(node, "output_padding", rank, 0, {0, kMaxAttribute}));
  TransposedPadding result{window.padding, {}};
  const bool has_output_shape = output_shape && !output_shape->empty();
  if (has_output_shape && output_shape->size() < rank)
    return Error{"attribute 'output_shape' has " + std::to_string(output_shape->size()) + " entries where " +
                 std::to_string(rank) + " are needed"};
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (has_output_shape || same) {
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t stride = window.stride.dims[i];
      // Some exporters write the batch and channels too; the last entries are the spatial ones.
      const std::int64_t wanted = has_output_shape ? (*output_shape)[output_shape->size() - rank + i]
                                  : output         ? output->dims[i]
                                                   : spatial.dims[i] * stride;
      const std::int64_t total = stride * (spatial.dims[i] - 1) + extra[i] +
                                 DilatedExtent(window.kernel.dims[i], window.dilation.dims[i]) - wanted;
      if (total >= 0) {
        SplitPadding(total, automatic == "SAME_UPPER", result.padding[i], result.padding[rank + i]);
      } else {  // larger than the kernel reaches: the rest is padding of the output
        result.padding[i] = result.padding[rank + i] = 0;
        extra[i] -= total;
      }
    }
  }
  if (std::any_of(extra.begin(), extra.end(), [](std::int64_t value) { return value != 0; }))
    result.output_padding = std::move(extra);
  return result;
}

}  // namespace infimum::lowering
