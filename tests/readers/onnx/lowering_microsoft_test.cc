#include <gtest/gtest.h>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringMicrosoft, FusedActivationsAddTheirBiasFirst) {
  ExpectLowerings({
      {"com.microsoft.Gelu", "f32 1x128x3072 -> f32 1x128x3072", "",
       "pointwise kind=gelu_erf dtype=f32:-:f32 in=393216 {0}"},
      {"com.microsoft.QuickGelu", "f32 1x128x3072 -> f32 1x128x3072", "",
       "pointwise kind=quick_gelu dtype=f32:-:f32 in=393216 {0}"},
      {"com.microsoft.FastGelu", "f32 1x128x3072 -> f32 1x128x3072", "",
       "pointwise kind=gelu_tanh dtype=f32:-:f32 in=393216 {0}"},
      {"com.microsoft.FastGelu", "f32 1x128x3072, w f32 3072 -> f32 1x128x3072", "",
       "region [pointwise kind=add dtype=f32:f32:f32 in=128x3072,3072](in0,w0) ; [pointwise kind=gelu_tanh "
       "dtype=f32:-:f32 in=393216](%0) {0,1}"},
      {"com.microsoft.BiasGelu", "f32 1x128x3072, w f32 3072 -> f32 1x128x3072", "",
       "region [pointwise kind=add dtype=f32:f32:f32 in=128x3072,3072](in0,w0) ; [pointwise kind=gelu_erf "
       "dtype=f32:-:f32 in=393216](%0) {0,1}"},
      {"com.microsoft.BiasSplitGelu", "f32 2x64x256, w f32 256 -> f32 2x64x128", "",
       "region [pointwise kind=add dtype=f32:f32:f32 in=128x256,256](in0,w0) ; [movement kind=slice dtype=f32:-:f32 "
       "in=128x256 out=128x128](%0) ; [movement kind=slice dtype=f32:-:f32 in=128x256 out=128x128](%0) ; [pointwise "
       "kind=gelu_erf dtype=f32:-:f32 in=16384](%2) ; [pointwise kind=multiply dtype=f32:f32:f32 "
       "in=16384,16384](%1,%3) {0,1}"},
      {"com.microsoft.BiasAdd", "f32 2x64x320, w f32 320, f32 2x64x320 -> f32 2x64x320", "",
       "region [pointwise kind=add dtype=f32:f32:f32 in=128x320,320](in0,w0) ; [pointwise kind=add dtype=f32:f32:f32 "
       "in=40960,40960](%0,in1) {0,1,2}"},
      {"com.microsoft.BiasSoftmax", "f32 1x12x128x128, f32 1x1x128x128 -> f32 1x12x128x128",
       "axis=3 is_inner_broadcast=0",
       "region [pointwise kind=add dtype=f32:f32:f32 in=12x16384,16384](in0,in1) ; [softmax kind=softmax "
       "dtype=f32:-:f32 in=1536x128x1 axis=1](%0) {0,1}"},
      {"com.microsoft.BiasDropout", "f32 1x128x768, w f32 768, f32 1x128x768 -> f32 1x128x768", "",
       "region [pointwise kind=add dtype=f32:f32:f32 in=128x768,768](in0,w0) ; [pointwise kind=add dtype=f32:f32:f32 "
       "in=98304,98304](%0,in1) {0,1,2}"},
      {"com.microsoft.BiasDropout", "f32 1x128x768, w f32 768, f32 1x128x768, w f32, w bool=[1] -> f32 1x128x768", "",
       "unknown: it drops elements, or may do so at run time; export the model for inference"},
      {"com.microsoft.BitmaskBiasDropout", "f32 1x128x768, w f32 768 -> f32 1x128x768", "",
       "pointwise kind=add dtype=f32:f32:f32 in=128x768,768 {0,1}"},
      {"com.microsoft.ScaledSiLU", "f32 8 -> f32 8", "", "pointwise kind=swish dtype=f32:-:f32 in=8 {0}"},
      {"com.microsoft.GatedAdd", "f32 4x8, f32 4x8, f32 4x1 -> f32 4x8", "",
       "region [pointwise kind=multiply dtype=f32:f32:f32 in=4x8,4x1](in0,in1) ; [pointwise kind=add dtype=f32:f32:f32 "
       "in=32,32](in2,%0) {1,2,0}"},
  });
}

TEST(LoweringMicrosoft, SkipNormalizationsReturnTheirSum) {
  ExpectLowerings({
      {"com.microsoft.SkipLayerNormalization",
       "f32 1x128x768, f32 1x128x768, w f32 768, w f32 768, w f32 768 -> f32 1x128x768", "",
       "region [pointwise kind=add dtype=f32:f32:f32 in=98304,98304](in0,in1) ; [pointwise kind=add dtype=f32:f32:f32 "
       "in=128x768,768](%0,w0) ; [normalization kind=layer dtype=f32:f32:f32 in=128x768 axis=1 scale=yes "
       "bias=yes](%1,w1,w2) {0,1,4,2,3}"},
      {"com.microsoft.SkipLayerNormalization",
       "f32 1x128x768, f32 128x768, w f32 768, w f32 768 -> f32 1x128x768, -, -, f32 1x128x768", "",
       "region [pointwise kind=add dtype=f32:f32:f32 in=98304,98304](in0,in1) ; [normalization kind=layer "
       "dtype=f32:f32:f32 in=128x768 axis=1 scale=yes bias=yes](%0,w0,w1) out=%0,%1 {0,1,2,3}"},
      {"com.microsoft.SkipSimplifiedLayerNormalization",
       "f16 1x128x768, f16 1x128x768, w f16 768 -> f16 1x128x768, -, -, f16 1x128x768", "",
       "region [pointwise kind=add dtype=f16:f16:f16 in=98304,98304](in0,in1) ; [normalization kind=rms "
       "dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=no](%0,w0) out=%0,%1 {0,1,2}"},
      {"com.microsoft.SkipSimplifiedLayerNormalization", "f16 1x128x768, f16 1x128x768, f16 768 -> f16 1x128x768", "",
       "region [pointwise kind=add dtype=f16:f16:f16 in=98304,98304](in0,in1) ; [normalization kind=rms "
       "dtype=f16:-:f16 in=128x768 axis=1 scale=no bias=no](%0) ; [pointwise kind=multiply dtype=f16:f16:f16 "
       "in=128x768,768](%1,in2) {0,1,2}"},
      {"com.microsoft.GroupNorm", "f16 1x32x32x320, w f32 320, w f32 320 -> f16 1x32x32x320", "groups=32 activation=1",
       "region [normalization kind=group dtype=f16:f32:f16 in=1x320x32x32 axis=1 groups=32 scale=yes "
       "bias=yes](in0,w0,w1) ; [pointwise kind=swish dtype=f16:-:f16 in=327680](%0) {0,1,2}"},
      {"com.microsoft.GroupNorm", "f16 1x320x32x32, w f32 320, w f32 320 -> f16 1x320x32x32",
       "groups=32 channels_last=0",
       "normalization kind=group dtype=f16:f32:f16 in=1x320x32x32 axis=1 groups=32 scale=yes bias=yes {0,1,2}"},
      {"com.microsoft.SkipGroupNorm",
       "f16 1x32x32x320, w f32 320, w f32 320, f16 1x1x1x320, w f16 320 -> f16 1x32x32x320, f16 1x32x32x320",
       "groups=32",
       "region [pointwise kind=add dtype=f16:f16:f16 in=320x1024,320x1](in0,in1) ; [pointwise kind=add "
       "dtype=f16:f16:f16 in=320x1024,320x1](%0,w0) ; [normalization kind=group dtype=f16:f32:f16 in=1x320x32x32 "
       "axis=1 groups=32 scale=yes bias=yes](%1,w1,w2) out=%1,%2 {0,3,4,1,2}"},
      {"com.microsoft.GatedRMSNorm", "f16 1x8x512, w f16 64, f16 1x8x512 -> f16 1x8x512", "",
       "region [normalization kind=rms dtype=f16:f16:f16 in=64x64 axis=1 scale=yes bias=no](in0,w0) ; [pointwise "
       "kind=swish dtype=f16:-:f16 in=4096](in1) ; [pointwise kind=multiply dtype=f16:f16:f16 in=4096,4096](%0,%1) "
       "{0,1,2}"},
  });
}

TEST(LoweringMicrosoft, EmbeddingsAreGathersAndANormalization) {
  ExpectLowerings({
      {"com.microsoft.EmbedLayerNormalization",
       "s32 1x128, s32 1x128, w f32 30522x768, w f32 512x768, w f32 2x768, w f32 768, w f32 768, s32 1x128 -> f32 "
       "1x128x768, s32 1",
       "",
       "region [movement kind=gather dtype=f32:s32:f32 in=30522x768 out=128x768 axis=0 indices=128](w0,in0) ; "
       "[movement kind=slice dtype=f32:-:f32 in=512x768 out=128x768](w1) ; [pointwise kind=add dtype=f32:f32:f32 "
       "in=98304,98304](%0,%1) ; [movement kind=gather dtype=f32:s32:f32 in=2x768 out=128x768 axis=0 "
       "indices=128](w2,in1) ; [pointwise kind=add dtype=f32:f32:f32 in=98304,98304](%2,%3) ; [reduction kind=sum "
       "dtype=s32:-:s32 in=128 axes=0](in2) ; [normalization kind=layer dtype=f32:f32:f32 in=128x768 axis=1 scale=yes "
       "bias=yes](%4,w3,w4) out=%5,%6 {2,0,3,4,1,7,5,6}"},
      {"com.microsoft.EmbedLayerNormalization",
       "s32 2x128, -, w f32 30522x768, w f32 512x768, -, w f32 768, w f32 768, -, s32 1x128 -> f32 2x128x768, -, f32 "
       "2x128x768",
       "",
       "region [movement kind=gather dtype=f32:s32:f32 in=30522x768 out=256x768 axis=0 indices=256](w0,in0) ; "
       "[movement kind=gather dtype=f32:s32:f32 in=512x768 out=128x768 axis=0 indices=128](w1,in1) ; [pointwise "
       "kind=add dtype=f32:f32:f32 in=2x98304,98304](%0,%1) ; [normalization kind=layer dtype=f32:f32:f32 in=256x768 "
       "axis=1 scale=yes bias=yes](%2,w2,w3) out=%2,%3 {2,0,3,8,5,6}"},
  });
}

TEST(LoweringMicrosoft, OperatorsThatWaitForTheDataAreUnknown) {
  ExpectLowerings({
      {"com.microsoft.MoE", "f32 4 -> f32 4", "", "unknown: which experts' weights it reads depends on the data"},
      {"com.microsoft.PagedAttention", "f32 4 -> f32 4", "",
       "unknown: the lengths of its packed sequences are known only at run time"},
      {"com.microsoft.PackedAttention", "f32 4 -> f32 4", "",
       "unknown: the lengths of its packed sequences are known only at run time"},
      {"com.microsoft.BeamSearch", "f32 4 -> f32 4", "",
       "unknown: a whole generation loop, whose length depends on the data"},
      {"com.microsoft.QOrderedMatMul", "f32 4 -> f32 4", "",
       "unknown: its layouts are those of one library (cublasLt), not of the model"},
      {"com.microsoft.SparseAttention", "f32 4 -> f32 4", "",
       "unknown: which positions it attends to is known only at run time"},
      {"com.microsoft.Rfft", "f32 4 -> f32 4", "", "unknown: no layer family has Fourier transforms"},
      {"com.microsoft.Inverse", "f32 4 -> f32 4", "",
       "unknown: a factorization of small matrices, which no layer family has"},
      {"com.microsoft.NGramRepeatBlock", "f32 4 -> f32 4", "", "unknown: which scores it blocks depends on the data"},
      {"NonZero", "f32 4 -> f32 4", "", "unknown: the number of elements that it keeps depends on the data"},
      {"NonMaxSuppression", "f32 4 -> f32 4", "", "unknown: the number of elements that it keeps depends on the data"},
      {"Unique", "f32 4 -> f32 4", "", "unknown: the number of elements that it keeps depends on the data"},
      {"SequenceAt", "f32 4 -> f32 4", "",
       "unknown: a sequence of tensors, whose length and shapes depend on the data"},
      {"StringConcat", "f32 4 -> f32 4", "", "unknown: works on strings"},
      {"DFT", "f32 4 -> f32 4", "", "unknown: no layer family has Fourier transforms"},
      {"Det", "f32 4 -> f32 4", "", "unknown: a factorization of small matrices, which no layer family has"},
      {"Frobnicate", "f32 4 -> f32 4", "", "unknown: there is no workload for operator 'Frobnicate'"},
      {"org.example.Frobnicate", "f32 4 -> f32 4", "",
       "unknown: there is no workload for operator 'Frobnicate' of domain 'org.example'"},
      {"ai.onnx.ml.TreeEnsemble", "f32 4 -> f32 4", "",
       "unknown: there is no workload for operator 'TreeEnsemble' of domain 'ai.onnx.ml'"},
  });
}

}  // namespace
}  // namespace infimum
