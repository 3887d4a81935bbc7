#include <gtest/gtest.h>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringNormalization, NormalizationsOverChannelsKeepTheirShape) {
  ExpectLowerings({
      {"BatchNormalization", "f32 1x64x112x112, w f32 64, w f32 64, w f32 64, w f32 64 -> f32 1x64x112x112",
       "epsilon=0.001",
       "normalization kind=batch dtype=f32:f32:f32 in=1x64x112x112 axis=1 scale=yes bias=yes {0,1,2,3,4}"},
      {"BatchNormalization", "f32 1x64x112x112, w f32 64, w f32 64, w f32 64, w f32 64 -> f32 1x64x112x112",
       "training_mode=1", "unknown: it computes batch statistics (training_mode = 1); export the model for inference"},
      {"BatchNormalization", "f32 1x64x112x112, w f32 63, w f32 64, w f32 64, w f32 64 -> f32 1x64x112x112", "",
       "unknown: input 1 has 63 elements where the input has 64 channels"},
      {"InstanceNormalization", "f32 1x64x32x32, w f32 64, w f32 64 -> f32 1x64x32x32", "",
       "normalization kind=instance dtype=f32:f32:f32 in=1x64x32x32 axis=1 scale=yes bias=yes {0,1,2}"},
      {"GroupNormalization", "f32 1x64x32x32, w f32 64, w f32 64 -> f32 1x64x32x32", "num_groups=8",
       "normalization kind=group dtype=f32:f32:f32 in=1x64x32x32 axis=1 groups=8 scale=yes bias=yes {0,1,2}"},
      {"GroupNormalization@18", "f32 1x64x32x32, w f32 8, w f32 8 -> f32 1x64x32x32", "num_groups=8",
       "normalization kind=group dtype=f32:f32:f32 in=1x8x8192 axis=1 groups=8 scale=yes bias=yes {0,1,2}"},
      {"GroupNormalization", "f32 1x64x32x32, w f32 64, w f32 64 -> f32 1x64x32x32", "",
       "unknown: attribute 'num_groups' is missing"},
      {"LRN", "f32 1x64x32x32 -> f32 1x64x32x32", "size=5",
       "normalization kind=lrn dtype=f32:-:f32 in=1x64x32x32 axis=1 size=5 scale=no bias=no {0}"},
      {"MeanVarianceNormalization", "f32 2x64x32x32 -> f32 2x64x32x32", "",
       "normalization kind=mvn dtype=f32:-:f32 in=2x64x32x32 axis=1 scale=no bias=no {0}"},
      {"MeanVarianceNormalization", "f32 2x64x32x32 -> f32 2x64x32x32", "axes=[2,3]",
       "normalization kind=instance dtype=f32:-:f32 in=2x64x32x32 axis=1 scale=no bias=no {0}"},
      {"MeanVarianceNormalization", "f32 2x64x32x32 -> f32 2x64x32x32", "axes=[1,2,3]",
       "normalization kind=layer dtype=f32:-:f32 in=2x65536 axis=1 scale=no bias=no {0}"},
      {"MeanVarianceNormalization", "f32 2x64x32x32 -> f32 2x64x32x32", "axes=[0,2]",
       "unknown: no normalization workload has its statistics over these axes"},
      {"com.ms.internal.nhwc.BatchNormalization",
       "f32 1x8x8x64, w f32 64, w f32 64, w f32 64, w f32 64 -> f32 1x8x8x64", "",
       "normalization kind=batch dtype=f32:f32:f32 in=1x64x8x8 axis=1 scale=yes bias=yes {0,1,2,3,4}"},
      {"com.ms.internal.nhwc.InstanceNormalization", "f32 1x8x8x64, w f32 64, w f32 64 -> f32 1x8x8x64", "",
       "normalization kind=instance dtype=f32:f32:f32 in=1x64x8x8 axis=1 scale=yes bias=yes {0,1,2}"},
      {"com.ms.internal.nhwc.LRN", "f32 1x8x8x64 -> f32 1x8x8x64", "size=5",
       "normalization kind=lrn dtype=f32:-:f32 in=1x64x8x8 axis=1 size=5 scale=no bias=no {0}"},
  });
}

TEST(LoweringNormalization, NormalizationsOverTrailingDimensionsAreLines) {
  ExpectLowerings({
      {"LayerNormalization", "f32 1x128x768, w f32 768, w f32 768 -> f32 1x128x768", "axis=-1",
       "normalization kind=layer dtype=f32:f32:f32 in=128x768 axis=1 scale=yes bias=yes {0,1,2}"},
      {"LayerNormalization", "f32 4x8x16, w f32 8x16 -> f32 4x8x16", "axis=1",
       "normalization kind=layer dtype=f32:f32:f32 in=4x128 axis=1 scale=yes bias=no {0,1}"},
      {"LayerNormalization", "f32 4x8x16, w f32 16, w f32 16 -> f32 4x8x16", "axis=1",
       "region [normalization kind=layer dtype=f32:-:f32 in=4x128 axis=1 scale=no bias=no](in0) ; [pointwise "
       "kind=multiply dtype=f32:f32:f32 in=32x16,16](%0,w0) ; [pointwise kind=add dtype=f32:f32:f32 "
       "in=32x16,16](%1,w1) {0,1,2}"},
      {"RMSNormalization@23", "f16 1x128x768, w f16 768 -> f16 1x128x768", "",
       "normalization kind=rms dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=no {0,1}"},
      {"SimplifiedLayerNormalization", "f16 1x128x768, w f16 768 -> f16 1x128x768", "",
       "normalization kind=rms dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=no {0,1}"},
      {"com.microsoft.SimplifiedLayerNormalization", "f16 1x128x768, w f16 768 -> f16 1x128x768", "",
       "normalization kind=rms dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=no {0,1}"},
      {"LpNormalization", "f32 4x8x16 -> f32 4x8x16", "axis=1 p=2",
       "normalization kind=lp dtype=f32:-:f32 in=4x8x16 axis=1 scale=no bias=no {0}"},
  });
}

TEST(LoweringNormalization, SoftmaxTakesOneLineFromItsAxisOnBeforeOpset13) {
  ExpectLowerings({
      {"Softmax", "f32 1x12x128x128 -> f32 1x12x128x128", "",
       "softmax kind=softmax dtype=f32:-:f32 in=1536x128x1 axis=1 {0}"},
      {"Softmax", "f32 2x3x4 -> f32 2x3x4", "axis=1", "softmax kind=softmax dtype=f32:-:f32 in=2x3x4 axis=1 {0}"},
      {"Softmax@11", "f32 2x3x4 -> f32 2x3x4", "", "softmax kind=softmax dtype=f32:-:f32 in=2x12x1 axis=1 {0}"},
      {"Softmax@11", "f32 2x3x4 -> f32 2x3x4", "axis=2", "softmax kind=softmax dtype=f32:-:f32 in=6x4x1 axis=1 {0}"},
      {"Softmax@11", "f32 2x3x4 -> f32 2x3x4", "axis=-1", "softmax kind=softmax dtype=f32:-:f32 in=6x4x1 axis=1 {0}"},
      {"Softmax@11", "f32 2x3x4 -> f32 2x3x4", "axis=0", "softmax kind=softmax dtype=f32:-:f32 in=1x24x1 axis=1 {0}"},
      {"LogSoftmax", "f32 2x1000 -> f32 2x1000", "axis=1",
       "softmax kind=log_softmax dtype=f32:-:f32 in=2x1000x1 axis=1 {0}"},
      {"Hardmax", "f32 2x1000 -> f32 2x1000", "", "softmax kind=hardmax dtype=f32:-:f32 in=2x1000x1 axis=1 {0}"},
      {"Softmax", "f32 2x3x4 -> f32 2x3x4", "axis=3", "unknown: axis 3 does not exist in a tensor of rank 3"},
      {"com.microsoft.QLinearSoftmax", "u8 2x3x4, f32, u8, f32, u8 -> u8 2x3x4", "axis=1 opset=12",
       "softmax kind=softmax dtype=u8:-:u8 in=2x12x1 axis=1 {0}"},
      {"com.microsoft.QLinearSoftmax", "u8 2x3x4, f32, u8, f32, u8 -> u8 2x3x4", "axis=1 opset=13",
       "softmax kind=softmax dtype=u8:-:u8 in=2x3x4 axis=1 {0}"},
  });
}

}  // namespace
}  // namespace infimum
