#include <gtest/gtest.h>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringPooling, PoolsCarryTheirWindowAndTheirOutput) {
  ExpectLowerings({
      {"MaxPool", "f32 1x64x112x112 -> f32 1x64x56x56", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
       "pooling kind=max dtype=f32:-:f32 in=1x64x112x112 out=1x64x56x56 kernel=3x3 stride=2x2 dilation=1x1 pad=1,1,1,1 "
       "{0}"},
      {"MaxPool", "f32 1x64x112x112 -> f32 1x64x56x56, s64 1x64x56x56",
       "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
       "pooling kind=max_with_indices dtype=f32:-:f32 in=1x64x112x112 out=1x64x56x56 kernel=3x3 stride=2x2 "
       "dilation=1x1 pad=1,1,1,1 {0}"},
      {"MaxPool", "f32 1x8x7x7 -> f32 1x8x3x3", "kernel_shape=[2,2] strides=[2,2] dilations=[2,2]",
       "pooling kind=max dtype=f32:-:f32 in=1x8x7x7 out=1x8x3x3 kernel=2x2 stride=2x2 dilation=2x2 pad=0,0,0,0 {0}"},
      {"MaxPool", "f32 1x8x7x7 -> f32 1x8x4x4", "kernel_shape=[2,2] strides=[2,2] ceil_mode=1",
       "pooling kind=max dtype=f32:-:f32 in=1x8x7x7 out=1x8x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 {0}"},
      {"MaxPool", "f32 1x8x7x7 -> f32 ?", "kernel_shape=[2,2] strides=[2,2] ceil_mode=1",
       "pooling kind=max dtype=f32:-:f32 in=1x8x7x7 out=1x8x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 {0}"},
      {"MaxPool", "f32 1x8x7x7 -> f32 1x8x4x4", "kernel_shape=[2,2] strides=[2,2] auto_pad=SAME_UPPER",
       "pooling kind=max dtype=f32:-:f32 in=1x8x7x7 out=1x8x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,1,1 {0}"},
      {"AveragePool", "f32 1x8x8x8 -> f32 1x8x8x8", "kernel_shape=[3,3] pads=[1,1,1,1]",
       "pooling kind=average dtype=f32:-:f32 in=1x8x8x8 out=1x8x8x8 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
       "{0}"},
      {"AveragePool", "f32 1x8x8x8 -> f32 1x8x8x8", "kernel_shape=[3,3] pads=[1,1,1,1] count_include_pad=1",
       "pooling kind=average_with_pad dtype=f32:-:f32 in=1x8x8x8 out=1x8x8x8 kernel=3x3 stride=1x1 dilation=1x1 "
       "pad=1,1,1,1 {0}"},
      {"AveragePool", "f32 1x8x8x8 -> f32 1x8x7x7", "kernel_shape=[2,2] count_include_pad=1",
       "pooling kind=average dtype=f32:-:f32 in=1x8x8x8 out=1x8x7x7 kernel=2x2 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "{0}"},
      {"AveragePool", "f32 1x8x20 -> f32 1x8x10", "kernel_shape=[2] strides=[2]",
       "pooling kind=average dtype=f32:-:f32 in=1x8x20 out=1x8x10 kernel=2 stride=2 dilation=1 pad=0,0 {0}"},
      {"LpPool", "f32 1x8x8x8 -> f32 1x8x7x7", "kernel_shape=[2,2] p=2",
       "pooling kind=lp dtype=f32:-:f32 in=1x8x8x8 out=1x8x7x7 kernel=2x2 stride=1x1 dilation=1x1 pad=0,0,0,0 {0}"},
  });
}

TEST(LoweringPooling, GlobalPoolsAreOneWindowOverEverything) {
  ExpectLowerings({
      {"GlobalAveragePool", "f32 1x2048x7x7 -> f32 1x2048x1x1", "",
       "pooling kind=average dtype=f32:-:f32 in=1x2048x7x7 out=1x2048x1x1 kernel=7x7 stride=1x1 dilation=1x1 "
       "pad=0,0,0,0 {0}"},
      {"GlobalMaxPool", "f32 1x2048x7x7 -> f32 1x2048x1x1", "",
       "pooling kind=max dtype=f32:-:f32 in=1x2048x7x7 out=1x2048x1x1 kernel=7x7 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "{0}"},
      {"GlobalLpPool", "f32 1x2048x7x7 -> f32 1x2048x1x1", "p=2",
       "pooling kind=lp dtype=f32:-:f32 in=1x2048x7x7 out=1x2048x1x1 kernel=7x7 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "{0}"},
      {"GlobalAveragePool", "f32 1x2048x1x1 -> f32 1x2048x1x1", "", "free: a pool over one element returns it"},
  });
}

TEST(LoweringPooling, UnpoolingScattersIntoZeros) {
  ExpectLowerings({
      {"MaxUnpool", "f32 1x1x2x2, s64 1x1x2x2 -> f32 1x1x4x4", "kernel_shape=[2,2] strides=[2,2]",
       "region [movement kind=fill dtype=-:-:f32 in=- out=16]() ; [movement kind=scatter dtype=f32:s64:f32 in=16,4 "
       "out=16 axis=0 indices=4](%0,in0,in1) {0,1}"},
  });
}

TEST(LoweringPooling, FusedAndQuantizedPoolsAreTheSamePools) {
  ExpectLowerings({
      {"com.microsoft.NhwcMaxPool", "s8 1x8x8x16 -> s8 1x4x4x16", "kernel_shape=[2,2] strides=[2,2]",
       "pooling kind=max dtype=s8:-:s8 in=1x16x8x8 out=1x16x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 {0}"},
      {"com.microsoft.MaxpoolWithMask", "f32 1x3x8x8, s32 1x1x8x8 -> f32 1x3x4x4", "kernel_shape=[2,2] strides=[2,2]",
       "region [pointwise kind=multiply dtype=f32:s32:f32 in=3x64,64](in0,in1) ; [pooling kind=max dtype=f32:-:f32 "
       "in=1x3x8x8 out=1x3x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0](%0) {0,1}"},
      {"com.microsoft.QLinearAveragePool", "u8 1x3x8x8, f32, u8, f32, u8 -> u8 1x3x4x4",
       "kernel_shape=[2,2] strides=[2,2]",
       "pooling kind=average dtype=u8:-:u8 in=1x3x8x8 out=1x3x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 {0}"},
      {"com.microsoft.QLinearAveragePool", "u8 1x8x8x3, f32, u8, f32, u8 -> u8 1x4x4x3",
       "kernel_shape=[2,2] strides=[2,2] channels_last=1",
       "pooling kind=average dtype=u8:-:u8 in=1x3x8x8 out=1x3x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 {0}"},
      {"com.microsoft.QLinearGlobalAveragePool", "u8 1x32x7x7, f32, u8, f32, u8 -> u8 1x32x1x1", "channels_last=0",
       "pooling kind=average dtype=u8:-:u8 in=1x32x7x7 out=1x32x1x1 kernel=7x7 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "{0}"},
      {"com.microsoft.QLinearGlobalAveragePool", "u8 1x7x7x32, f32, u8, f32, u8 -> u8 1x1x1x32", "channels_last=1",
       "pooling kind=average dtype=u8:-:u8 in=1x32x7x7 out=1x32x1x1 kernel=7x7 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "{0}"},
      {"com.microsoft.nchwc.MaxPool", "f32 1x16x8x8 -> f32 1x16x4x4", "kernel_shape=[2,2] strides=[2,2]",
       "pooling kind=max dtype=f32:-:f32 in=1x16x8x8 out=1x16x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 {0}"},
      {"com.microsoft.nchwc.AveragePool", "f32 1x16x8x8 -> f32 1x16x4x4", "kernel_shape=[2,2] strides=[2,2]",
       "pooling kind=average dtype=f32:-:f32 in=1x16x8x8 out=1x16x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 "
       "{0}"},
      {"com.microsoft.nchwc.GlobalMaxPool", "f32 1x16x8x8 -> f32 1x16x1x1", "",
       "pooling kind=max dtype=f32:-:f32 in=1x16x8x8 out=1x16x1x1 kernel=8x8 stride=1x1 dilation=1x1 pad=0,0,0,0 {0}"},
      {"com.microsoft.nchwc.GlobalAveragePool", "f32 1x16x8x8 -> f32 1x16x1x1", "",
       "pooling kind=average dtype=f32:-:f32 in=1x16x8x8 out=1x16x1x1 kernel=8x8 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "{0}"},
      {"com.ms.internal.nhwc.MaxPool", "f32 1x8x8x16 -> f32 1x4x4x16", "kernel_shape=[2,2] strides=[2,2]",
       "pooling kind=max dtype=f32:-:f32 in=1x16x8x8 out=1x16x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 {0}"},
      {"com.ms.internal.nhwc.AveragePool", "f32 1x8x8x16 -> f32 1x4x4x16", "kernel_shape=[2,2] strides=[2,2]",
       "pooling kind=average dtype=f32:-:f32 in=1x16x8x8 out=1x16x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 "
       "{0}"},
      {"com.ms.internal.nhwc.LpPool", "f32 1x8x8x16 -> f32 1x4x4x16", "kernel_shape=[2,2] strides=[2,2]",
       "pooling kind=lp dtype=f32:-:f32 in=1x16x8x8 out=1x16x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 {0}"},
      {"com.ms.internal.nhwc.GlobalAveragePool", "f32 1x8x8x16 -> f32 1x1x1x16", "",
       "pooling kind=average dtype=f32:-:f32 in=1x16x8x8 out=1x16x1x1 kernel=8x8 stride=1x1 dilation=1x1 pad=0,0,0,0 "
       "{0}"},
      {"com.ms.internal.nhwc.GlobalMaxPool", "f32 1x8x8x16 -> f32 1x1x1x16", "",
       "pooling kind=max dtype=f32:-:f32 in=1x16x8x8 out=1x16x1x1 kernel=8x8 stride=1x1 dilation=1x1 pad=0,0,0,0 {0}"},
      {"com.ms.internal.nhwc.GlobalLpPool", "f32 1x8x8x16 -> f32 1x1x1x16", "",
       "pooling kind=lp dtype=f32:-:f32 in=1x16x8x8 out=1x16x1x1 kernel=8x8 stride=1x1 dilation=1x1 pad=0,0,0,0 {0}"},
      {"com.ms.internal.nhwc.MaxUnpool", "f32 1x2x2x1, s64 1x2x2x1 -> f32 1x4x4x1", "kernel_shape=[2,2] strides=[2,2]",
       "region [movement kind=fill dtype=-:-:f32 in=- out=16]() ; [movement kind=scatter dtype=f32:s64:f32 in=16,4 "
       "out=16 axis=0 indices=4](%0,in0,in1) {0,1}"},
      {"com.ms.internal.nhwc.QLinearAveragePool", "u8 1x8x8x3, f32, u8, f32, u8 -> u8 1x4x4x3",
       "kernel_shape=[2,2] strides=[2,2]",
       "pooling kind=average dtype=u8:-:u8 in=1x3x8x8 out=1x3x4x4 kernel=2x2 stride=2x2 dilation=1x1 pad=0,0,0,0 {0}"},
  });
}

}  // namespace
}  // namespace infimum
