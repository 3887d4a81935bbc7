// Convolution in one to three spatial dimensions, grouped, depthwise, dilated or transposed.
//
//   convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1
//   pad=1,1,1,1 groups=1 bias=no weights=const
//
// Operands: input, weights, bias (when `bias=yes`).
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/work.h"

namespace infimum {

struct ConvolutionConfig {
  OperandTypes types{DataType::kF32, DataType::kF32, DataType::kF32};
  Shape input;  // batch, channels, spatial...
  std::int64_t output_channels = 1;
  Shape kernel;
  Shape stride;
  Shape dilation;
  std::vector<std::int64_t> padding;  // ONNX order: all begins, then all ends; may be negative
  std::int64_t groups = 1;
  bool bias = false;
  Constness weights = Constness::kConstant;
  bool transposed = false;                   // written only when true
  std::vector<std::int64_t> output_padding;  // transposed only; written only when not empty

  static constexpr std::string_view kName = "convolution";
  static void VisitFields(auto& self, auto& visit) {
    visit("dtype", self.types);
    visit("in", self.input);
    visit("out_channels", self.output_channels);
    visit("kernel", self.kernel);
    visit("stride", self.stride);
    visit("dilation", self.dilation);
    visit("pad", self.padding);
    visit("groups", self.groups);
    visit("bias", self.bias);
    visit("weights", self.weights);
    visit.Optional("transposed", self.transposed);
    visit.Optional("output_pad", self.output_padding);
  }
  friend bool operator==(const ConvolutionConfig&, const ConvolutionConfig&) = default;
};

// Forward, by dimension:   (in + pad_begin + pad_end - dilation (kernel - 1) - 1) / stride + 1.
// Transposed:              stride (in - 1) + dilation (kernel - 1) + 1 - pad_begin - pad_end + output_pad.
Shape OutputShape(const ConvolutionConfig& config);
// Each channel by itself.
inline bool IsDepthwise(const ConvolutionConfig& config) {
  return config.groups > 1 && config.groups == config.input.dims[1] && config.groups == config.output_channels;
}

// Forward: out_channels x channels / groups x kernel; transposed: channels x out_channels / groups x kernel.
Shape WeightShape(const ConvolutionConfig& config);

// direct       = 2 * batch * out_channels * (channels / groups) * prod(kernel) * prod(output)
//                (transposed: prod(input) for prod(output)), plus one for each output with a bias;
// conventional = the same with only the taps that fall on an input element (not on padding), counted
//                for each dimension alone, since they multiply.
// The input counts only the elements that some valid tap reads (a 1x1 with stride 2 reads a quarter).
Work WorkOf(const ConvolutionConfig& config);

// Consistent ranks, positive extents, divisible groups, an output of at least one element, exact counts.
Status Validate(const ConvolutionConfig& config);
std::vector<Operand> OperandsOfFamily(const ConvolutionConfig& config);

}  // namespace infimum
