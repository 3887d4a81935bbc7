#include <gtest/gtest.h>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringConvolution, ConvolutionsAreForwardWindowsWithTheirPadding) {
  ExpectLowerings({
      {"Conv", "f32 1x3x224x224, w f32 64x3x7x7, w f32 64 -> f32 1x64x112x112",
       "kernel_shape=[7,7] strides=[2,2] pads=[3,3,3,3]",
       "convolution dtype=f32:f32:f32 in=1x3x224x224 out_channels=64 kernel=7x7 stride=2x2 dilation=1x1 pad=3,3,3,3 "
       "groups=1 bias=yes weights=const {0,1,2}"},
      {"Conv", "f32 1x64x56x56, w f32 64x64x1x1 -> f32 1x64x56x56", "",
       "convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=const {0,1}"},
      {"Conv", "f32 1x32x112x112, w f32 32x1x3x3, w f32 32 -> f32 1x32x112x112", "group=32 pads=[1,1,1,1]",
       "convolution dtype=f32:f32:f32 in=1x32x112x112 out_channels=32 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
       "groups=32 bias=yes weights=const {0,1,2}"},
      {"Conv", "f32 1x16x33, w f32 8x16x5 -> f32 1x8x13", "dilations=[2] strides=[2]",
       "convolution dtype=f32:f32:f32 in=1x16x33 out_channels=8 kernel=5 stride=2 dilation=2 pad=0,0 groups=1 bias=no "
       "weights=const {0,1}"},
      {"Conv", "f16 1x4x8x8x8, w f16 8x4x3x3x3 -> f16 1x8x8x8x8", "pads=[1,1,1,1,1,1]",
       "convolution dtype=f16:f16:f16 in=1x4x8x8x8 out_channels=8 kernel=3x3x3 stride=1x1x1 dilation=1x1x1 "
       "pad=1,1,1,1,1,1 groups=1 bias=no weights=const {0,1}"},
      {"Conv", "f32 1x3x7x7, f32 4x3x3x3 -> f32 1x4x5x5", "",
       "convolution dtype=f32:f32:f32 in=1x3x7x7 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=variable {0,1}"},
      {"Conv", "f32 1x3x7x7, w f32 4x3x3x3, f32 4 -> f32 1x4x5x5", "",
       "convolution dtype=f32:f32:f32 in=1x3x7x7 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=yes weights=variable {0,1,2}"},
      {"Conv", "f32 1x3x7x7, w f32 4x3x3x3, - -> f32 ?", "",
       "convolution dtype=f32:f32:f32 in=1x3x7x7 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=const {0,1}"},
  });
}

TEST(LoweringConvolution, AutomaticPaddingPutsTheOddElementAtTheSideItNames) {
  ExpectLowerings({
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x4x4", "auto_pad=SAME_UPPER strides=[2,2]",
       "convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=2x2 dilation=1x1 pad=0,0,1,1 "
       "groups=1 bias=no weights=const {0,1}"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x4x4", "auto_pad=SAME_LOWER strides=[2,2]",
       "convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=2x2 dilation=1x1 pad=1,1,0,0 "
       "groups=1 bias=no weights=const {0,1}"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "auto_pad=VALID pads=[9,9,9,9]",
       "convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=const {0,1}"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x8x8", "auto_pad=SAME_UPPER dilations=[2,2]",
       "convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=2x2 pad=2,2,2,2 "
       "groups=1 bias=no weights=const {0,1}"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x8x8", "auto_pad=AUTO",
       "unknown: attribute 'auto_pad' is 'AUTO', an unknown value"},
  });
}

TEST(LoweringConvolution, TransposedConvolutionsDeriveTheirPaddingFromTheGivenAttributes) {
  ExpectLowerings({
      {"ConvTranspose", "f32 1x64x14x14, w f32 64x32x2x2, w f32 32 -> f32 1x32x28x28", "strides=[2,2]",
       "convolution dtype=f32:f32:f32 in=1x64x14x14 out_channels=32 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=yes weights=const transposed=yes {0,1,2}"},
      {"ConvTranspose", "f32 1x8x5x5, w f32 8x4x3x3 -> f32 1x4x10x10",
       "strides=[2,2] pads=[1,1,1,1] output_padding=[1,1]",
       "convolution dtype=f32:f32:f32 in=1x8x5x5 out_channels=4 kernel=3x3 stride=2x2 dilation=1x1 pad=1,1,1,1 "
       "groups=1 bias=no weights=const transposed=yes output_pad=1,1 {0,1}"},
      {"ConvTranspose", "f32 1x8x5x5, w f32 8x4x3x3 -> f32 1x4x10x10", "strides=[2,2] output_shape=[10,10]",
       "convolution dtype=f32:f32:f32 in=1x8x5x5 out_channels=4 kernel=3x3 stride=2x2 dilation=1x1 pad=1,1,0,0 "
       "groups=1 bias=no weights=const transposed=yes {0,1}"},
      {"ConvTranspose", "f32 1x8x5x5, w f32 8x4x3x3 -> f32 1x4x10x10",
       "strides=[2,2] output_shape=[1,4,10,10] auto_pad=SAME_UPPER",
       "convolution dtype=f32:f32:f32 in=1x8x5x5 out_channels=4 kernel=3x3 stride=2x2 dilation=1x1 pad=0,0,1,1 "
       "groups=1 bias=no weights=const transposed=yes {0,1}"},
      {"ConvTranspose", "f32 1x8x5x5, w f32 8x4x2x2 -> f32 1x4x12x12", "strides=[2,2] output_shape=[12,12]",
       "convolution dtype=f32:f32:f32 in=1x8x5x5 out_channels=4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=const transposed=yes output_pad=2,2 {0,1}"},
      {"ConvTranspose", "f32 1x8x5x5, w f32 8x4x3x3 -> f32 1x4x10x10", "strides=[2,2] auto_pad=SAME_LOWER",
       "convolution dtype=f32:f32:f32 in=1x8x5x5 out_channels=4 kernel=3x3 stride=2x2 dilation=1x1 pad=1,1,0,0 "
       "groups=1 bias=no weights=const transposed=yes {0,1}"},
      {"ConvTranspose", "f32 1x8x5x5, w f32 8x2x3x3 -> f32 1x4x7x7", "group=2",
       "convolution dtype=f32:f32:f32 in=1x8x5x5 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=2 bias=no weights=const transposed=yes {0,1}"},
      {"ConvTranspose", "f32 1x8x5x5, w f32 8x4x3x3 -> f32 1x4x8x8", "",
       "unknown: the declared output is 1x4x8x8 but the attributes give 1x4x7x7"},
      {"com.microsoft.ConvTransposeWithDynamicPads", "f32 1x8x5x5, w f32 8x4x3x3, w s64 4=[1,1,1,1] -> f32 1x4x9x9",
       "strides=[2,2]",
       "convolution dtype=f32:f32:f32 in=1x8x5x5 out_channels=4 kernel=3x3 stride=2x2 dilation=1x1 pad=1,1,1,1 "
       "groups=1 bias=no weights=const transposed=yes {0,1}"},
      {"com.microsoft.ConvTransposeWithDynamicPads", "f32 1x8x5x5, w f32 8x4x3x3, s64 4 -> f32 ?", "strides=[2,2]",
       "unknown: its padding is known only at run time"},
  });
}

TEST(LoweringConvolution, IntegerConvolutionsNameAllThreeTypes) {
  ExpectLowerings({
      {"ConvInteger", "u8 1x3x8x8, w s8 4x3x3x3, u8, s8 -> s32 1x4x6x6", "",
       "convolution dtype=u8:s8:s32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 "
       "bias=no weights=const {0,1}"},
      {"QLinearConv", "u8 1x3x8x8, f32, u8, w s8 4x3x3x3, w f32 4, w s8 4, f32, u8, w s32 4 -> u8 1x4x6x6", "",
       "convolution dtype=u8:s8:u8 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 "
       "bias=yes weights=const {0,3,8}"},
      {"QLinearConv", "u8 1x3x8x8, f32, u8, w s8 4x3x3x3, w f32 4, w s8 4, f32, u8 -> u8 1x4x6x6", "",
       "convolution dtype=u8:s8:u8 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 "
       "bias=no weights=const {0,3}"},
      {"com.microsoft.QLinearConv", "u8 1x8x8x3, f32, u8, w s8 4x3x3x3, w f32 4, w s8 4, f32, u8 -> u8 1x6x6x4",
       "channels_last=1",
       "convolution dtype=u8:s8:u8 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 "
       "bias=no weights=const {0,3}"},
      {"com.microsoft.QLinearConv", "u8 1x3x8x8, f32, u8, w s8 4x3x3x3, w f32 4, w s8 4, f32, u8 -> u8 1x4x6x6", "",
       "convolution dtype=u8:s8:u8 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 "
       "bias=no weights=const {0,3}"},
      {"com.ms.internal.nhwc.QLinearConv", "u8 1x8x8x3, f32, u8, w s8 4x3x3x3, w f32 4, w s8 4, f32, u8 -> u8 1x6x6x4",
       "",
       "convolution dtype=u8:s8:u8 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 "
       "bias=no weights=const {0,3}"},
      {"com.ms.internal.nhwc.QLinearConvTranspose",
       "u8 1x5x5x8, f32, u8, w s8 8x4x3x3, w f32 4, w s8 4, f32, u8 -> u8 1x7x7x4", "",
       "convolution dtype=u8:s8:u8 in=1x8x5x5 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 "
       "bias=no weights=const transposed=yes {0,3}"},
  });
}

TEST(LoweringConvolution, FusedConvolutionsAreRegions) {
  ExpectLowerings({
      {"com.microsoft.FusedConv", "f32 1x3x8x8, w f32 4x3x3x3, w f32 4 -> f32 1x4x6x6", "activation=Relu",
       "region [convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=relu dtype=f32:-:f32 in=144](%0) {0,1,2}"},
      {"com.microsoft.FusedConv", "f32 1x3x8x8, w f32 4x3x3x3, w f32 4, f32 1x4x6x6 -> f32 1x4x6x6", "activation=Relu",
       "region [convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=add dtype=f32:f32:f32 in=144,144](%0,in1) ; "
       "[pointwise kind=relu dtype=f32:-:f32 in=144](%1) {0,1,2,3}"},
      {"com.microsoft.FusedConv", "f32 1x3x8x8, w f32 4x3x3x3, -, f32 1x4x6x6 -> f32 1x4x6x6", "",
       "region [convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=const](in0,w0) ; [pointwise kind=add dtype=f32:f32:f32 in=144,144](%0,in1) {0,1,3}"},
      {"com.microsoft.FusedConv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "",
       "convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=const {0,1}"},
      {"com.microsoft.FusedConv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "activation=Wobble",
       "unknown: no element-wise kind matches the fused activation 'Wobble'"},
      {"com.microsoft.NhwcFusedConv", "f16 1x8x8x3, w f16 4x3x3x3, w f16 4, f16 1x6x6x4 -> f16 1x6x6x4",
       "activation=Clip",
       "region [convolution dtype=f16:f16:f16 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=add dtype=f16:f16:f16 in=144,144](%0,in1) ; "
       "[pointwise kind=clip dtype=f16:-:f16 in=144](%1) {0,1,2,3}"},
      {"com.microsoft.NhwcConv", "f16 1x8x8x3, w f16 4x3x3x3 -> f16 1x6x6x4", "",
       "convolution dtype=f16:f16:f16 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=const {0,1}"},
      {"com.ms.internal.nhwc.Conv", "f32 1x8x8x3, w f32 4x3x3x3 -> f32 1x6x6x4", "",
       "convolution dtype=f32:f32:f32 in=1x3x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=const {0,1}"},
      {"com.ms.internal.nhwc.Conv", "f32 1x8x8x5, w f32 4x3x3x5, w f32 4 -> f32 1x6x6x4", "activation=Relu",
       "region [convolution dtype=f32:f32:f32 in=1x5x8x8 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=relu dtype=f32:-:f32 in=144](%0) {0,1,2}"},
      {"com.ms.internal.nhwc.ConvTranspose", "f32 1x5x5x8, w f32 8x4x3x3 -> f32 1x7x7x4", "",
       "convolution dtype=f32:f32:f32 in=1x8x5x5 out_channels=4 kernel=3x3 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "groups=1 bias=no weights=const transposed=yes {0,1}"},
      {"com.microsoft.nchwc.Conv", "f32 1x16x8x8, w f32 32x16x3x3, w f32 32, f32 1x32x6x6 -> f32 1x32x6x6",
       "activation=Sigmoid",
       "region [convolution dtype=f32:f32:f32 in=1x16x8x8 out_channels=32 kernel=3x3 stride=1x1 dilation=1x1 "
       "pad=0,0,0,0 groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=add dtype=f32:f32:f32 "
       "in=1152,1152](%0,in1) ; [pointwise kind=sigmoid dtype=f32:-:f32 in=1152](%1) {0,1,2,3}"},
  });
}

TEST(LoweringConvolution, DeformableConvolutionsSampleAndMultiply) {
  ExpectLowerings({
      {"DeformConv", "f32 1x4x8x8, w f32 6x4x3x3, f32 1x18x6x6 -> f32 1x6x6x6", "",
       "region [resample kind=grid_sample dtype=f32:-:f32 in=1x4x8x8 out=1x36x6x6](in0) ; [convolution "
       "dtype=f32:f32:f32 in=1x36x6x6 out_channels=6 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 bias=no "
       "weights=const](%0,w0) {0,1}"},
      {"DeformConv", "f32 1x4x8x8, w f32 6x2x3x3, f32 1x36x6x6, w f32 6, f32 1x18x6x6 -> f32 1x6x6x6",
       "group=2 offset_group=2",
       "region [resample kind=grid_sample dtype=f32:-:f32 in=1x4x8x8 out=1x36x6x6](in0) ; [pointwise kind=multiply "
       "dtype=f32:f32:f32 in=2x2x324,2x1x324](%0,in1) ; [convolution dtype=f32:f32:f32 in=1x36x6x6 out_channels=6 "
       "kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=2 bias=yes weights=const](%1,w0,w1) {0,4,1,3}"},
  });
}

TEST(LoweringConvolution, CausalConvolutionsKeepTheirState) {
  ExpectLowerings({
      {"CausalConvWithState@27", "f32 2x16x10, w f32 16x1x4, w f32 16, f32 2x16x3 -> f32 2x16x10, f32 2x16x3",
       "activation=silu",
       "region [movement kind=concat dtype=f32:-:f32 in=32x3x1,32x10x1 out=32x13x1 axis=1](in0,in1) ; [movement "
       "kind=slice dtype=f32:-:f32 in=32x13 out=32x3](%0) ; [convolution dtype=f32:f32:f32 in=2x16x13 out_channels=16 "
       "kernel=4 stride=1 dilation=1 pad=0,0 groups=16 bias=yes weights=const](%0,w0,w1) ; [pointwise kind=swish "
       "dtype=f32:-:f32 in=320](%2) out=%1,%3 {3,0,1,2}"},
      {"CausalConvWithState@27", "f32 2x16x10, w f32 16x1x4 -> f32 2x16x10", "",
       "convolution dtype=f32:f32:f32 in=2x16x10 out_channels=16 kernel=4 stride=1 dilation=1 pad=3,0 groups=16 "
       "bias=no weights=const {0,1}"},
      {"CausalConvWithState@27", "f32 2x16x1, w f32 16x1x4 -> f32 2x16x1, f32 2x16x3", "",
       "region [movement kind=pad dtype=f32:-:f32 in=32x1 out=32x3](in0) ; [convolution dtype=f32:f32:f32 in=2x16x1 "
       "out_channels=16 kernel=4 stride=1 dilation=1 pad=3,0 groups=16 bias=no weights=const](in0,w0) out=%0,%1 {0,1}"},
      {"com.microsoft.CausalConvWithState", "f32 2x16x10, w f32 16x1x4, -, f32 2x16x6 -> f32 2x16x10, f32 2x16x6",
       "dilation=2",
       "region [movement kind=concat dtype=f32:-:f32 in=32x6x1,32x10x1 out=32x16x1 axis=1](in0,in1) ; [movement "
       "kind=slice dtype=f32:-:f32 in=32x16 out=32x6](%0) ; [convolution dtype=f32:f32:f32 in=2x16x16 out_channels=16 "
       "kernel=4 stride=1 dilation=2 pad=0,0 groups=16 bias=no weights=const](%0,w0) out=%1,%2 {3,0,1}"},
      {"com.microsoft.CausalConvWithState", "f32 2x10x16, w f32 16x1x4 -> f32 2x10x16, f32 2x3x16", "channels_last=1",
       "unknown: no workload keeps its state in this form"},
  });
}

}  // namespace
}  // namespace infimum
