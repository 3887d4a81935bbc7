#include <gtest/gtest.h>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringAttention, OnnxAttentionTakesFourOrThreeDimensions) {
  ExpectLowerings({
      {"Attention@23", "f16 1x12x128x64, f16 1x12x128x64, f16 1x12x128x64 -> f16 1x12x128x64", "",
       "attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=no {0,1,2}"},
      {"Attention@23", "f16 1x12x128x64, f16 1x12x128x64, f16 1x12x128x64 -> f16 1x12x128x64", "is_causal=1",
       "attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=causal {0,1,2}"},
      {"Attention@23", "f16 1x128x2048, f16 1x128x512, f16 1x128x512 -> f16 1x128x2048",
       "q_num_heads=32 kv_num_heads=8",
       "attention dtype=f16:-:f16 n=1 heads=32 kv_heads=8 q=128 kv=128 head=64 mask=no {0,1,2}"},
      {"Attention@23", "f16 1x12x128x64, f16 1x12x100x64, f16 1x12x100x32 -> f16 1x12x128x32", "",
       "attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=100 head=64 value_head=32 mask=no {0,1,2}"},
      {"Attention@23", "f16 1x128x2048, f16 1x128x512, f16 1x128x512 -> f16 1x128x2048", "",
       "unknown: the number of heads of an input of 1x128x2048 is missing"},
      {"Attention@23", "f16 1x9x128x64, f16 1x4x128x64, f16 1x4x128x64 -> f16 1x9x128x64", "",
       "unknown: 4 heads of keys do not divide 9 heads of queries"},
  });
}

TEST(LoweringAttention, MasksAreOperandsPaddingIsAValueTheRestIsAdded) {
  ExpectLowerings({
      {"Attention@23", "f16 1x12x128x64, f16 1x12x128x64, f16 1x12x128x64, f16 128x128 -> f16 1x12x128x64", "",
       "attention dtype=f16:f16:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=full {0,1,2,3}"},
      {"Attention@23", "f16 1x12x128x64, f16 1x12x128x64, f16 1x12x128x64, bool 128x128 -> f16 1x12x128x64", "",
       "attention dtype=f16:bool:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=full {0,1,2,3}"},
      {"Attention@23", "f16 2x12x128x64, f16 2x12x128x64, f16 2x12x128x64, bool 2x1x1x128 -> f16 2x12x128x64", "",
       "attention dtype=f16:-:f16 n=2 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=no {0,1,2}"},
      {"Attention@23", "f16 2x12x128x64, f16 2x4x128x64, f16 2x4x128x64, f16 2x1x128x128 -> f16 2x12x128x64", "",
       "region [matmul dtype=f16:f16:f16 a=8x384x64 b=8x64x128 bias=no weights=variable](in0,in1) ; [pointwise "
       "kind=add dtype=f16:f16:f16 in=2x12x16384,2x1x16384](%0,in2) ; [softmax kind=softmax dtype=f16:-:f16 "
       "in=3072x128x1 axis=1](%1) ; [matmul dtype=f16:f16:f16 a=8x384x128 b=8x128x64 bias=no weights=variable](%2,in3) "
       "{0,1,3,2}"},
      {"Attention@23", "f16 2x12x128x64, f16 2x12x128x64, f16 2x12x128x64, bool 2x1x128x128 -> f16 2x12x128x64", "",
       "region [matmul dtype=f16:f16:f16 a=24x128x64 b=24x64x128 bias=no weights=variable](in0,in1) ; [movement "
       "kind=fill dtype=-:-:f16 in=- out=1]() ; [pointwise kind=where dtype=f16:bool:f16 "
       "in=2x1x16384,2x12x16384,1](in2,%0,%1) ; [softmax kind=softmax dtype=f16:-:f16 in=3072x128x1 axis=1](%2) ; "
       "[matmul dtype=f16:f16:f16 a=24x128x128 b=24x128x64 bias=no weights=variable](%3,in3) {0,1,3,2}"},
      {"Attention@23", "f16 1x12x128x64, f16 1x12x128x64, f16 1x12x128x64, f16 100x128 -> f16 1x12x128x64", "",
       "unknown: shapes '100x128' and '1x12x128x128' do not broadcast"},
  });
}

TEST(LoweringAttention, CachesGrowAndAreReturned) {
  ExpectLowerings({
      {"Attention@23",
       "f16 1x12x1x64, f16 1x12x1x64, f16 1x12x1x64, -, f16 1x12x127x64, f16 1x12x127x64 -> f16 1x12x1x64, f16 "
       "1x12x128x64, f16 1x12x128x64",
       "is_causal=1",
       "region [movement kind=concat dtype=f16:-:f16 in=12x127x64,12x1x64 out=12x128x64 axis=1](in0,in1) ; [movement "
       "kind=concat dtype=f16:-:f16 in=12x127x64,12x1x64 out=12x128x64 axis=1](in2,in3) ; [attention dtype=f16:-:f16 "
       "n=1 heads=12 kv_heads=12 q=1 kv=128 head=64 mask=no](in4,%0,%1) out=%0,%1,%2 {4,1,5,2,0}"},
      {"Attention@23", "f16 1x4x768, f16 1x4x768, f16 1x4x768 -> f16 1x4x768, f16 1x12x4x64, f16 1x12x4x64",
       "is_causal=1 q_num_heads=12 kv_num_heads=12",
       "region [movement kind=transpose dtype=f16:-:f16 in=4x12x64 out=12x4x64 perm=1,0,2](in0) ; [movement "
       "kind=transpose dtype=f16:-:f16 in=4x12x64 out=12x4x64 perm=1,0,2](in1) ; [attention dtype=f16:-:f16 n=1 "
       "heads=12 kv_heads=12 q=4 kv=4 head=64 mask=causal](in2,in0,in1) out=%0,%1,%2 {1,2,0}"},
      {"Attention@23", "f16 1x12x8x64, f16 1x12x16x64, f16 1x12x16x64 -> f16 1x12x8x64", "is_causal=1",
       "region [movement kind=slice dtype=f16:-:f16 in=12x16x64 out=12x8x64](in0) ; [movement kind=slice "
       "dtype=f16:-:f16 in=12x16x64 out=12x8x64](in1) ; [attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=8 kv=8 "
       "head=64 mask=causal](in2,%0,%1) {1,2,0}"},
      {"Attention@23", "f16 1x12x16x64, f16 1x12x8x64, f16 1x12x8x64 -> f16 1x12x16x64", "is_causal=1",
       "unknown: a causal mask aligned at the first key, over fewer keys than queries, has no workload"},
      {"Attention@24", "f16 1x12x1x64, f16 1x12x128x64, f16 1x12x128x64, -, -, -, s64 1 -> f16 1x12x1x64", "",
       "unknown: the number of valid cached positions is known only at run time"},
      {"Attention@23", "f16 1x12x8x64, f16 1x12x8x64, f16 1x12x8x64 -> f16 1x12x8x64, -, -, f16 1x12x8x8", "",
       "unknown: it also returns the scores, which no attention workload does"},
      {"Attention@25",
       "f16 1x12x1x64, f16 1x12x1x64, f16 1x12x1x64, -, f16 1x12x127x64, f16 1x12x127x64 -> f16 1x12x1x64",
       "is_causal=1 left_window_size=31",
       "region [movement kind=concat dtype=f16:-:f16 in=12x127x64,12x1x64 out=12x128x64 axis=1](in0,in1) ; [movement "
       "kind=concat dtype=f16:-:f16 in=12x127x64,12x1x64 out=12x128x64 axis=1](in2,in3) ; [movement kind=slice "
       "dtype=f16:-:f16 in=12x128x64 out=12x32x64](%0) ; [movement kind=slice dtype=f16:-:f16 in=12x128x64 "
       "out=12x32x64](%1) ; [attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=1 kv=32 head=64 mask=no](in4,%2,%3) "
       "{4,1,5,2,0}"},
      {"Attention@25", "f16 1x12x64x64, f16 1x12x64x64, f16 1x12x64x64 -> f16 1x12x64x64",
       "is_causal=1 left_window_size=31",
       "unknown: a sliding window of 32 positions over several queries has no workload"},
      {"Attention@25", "f16 1x12x64x64, f16 1x12x64x64, f16 1x12x64x64 -> f16 1x12x64x64", "right_window_size=3",
       "unknown: a window beyond the current position has no workload"},
  });
}

TEST(LoweringAttention, RotaryEmbeddingsPickRowsAndRotate) {
  ExpectLowerings({
      {"RotaryEmbedding@23", "f16 1x12x128x64, f16 2048x32, f16 2048x32, s64 1x128 -> f16 1x12x128x64", "",
       "region [movement kind=gather dtype=f16:s64:f16 in=2048x32 out=128x32 axis=0 indices=128](in0,in1) ; [movement "
       "kind=gather dtype=f16:s64:f16 in=2048x32 out=128x32 axis=0 indices=128](in2,in1) ; [pointwise kind=multiply "
       "dtype=f16:f16:f16 in=12x128x2x32,128x1x32](in3,%0) ; [pointwise kind=multiply dtype=f16:f16:f16 "
       "in=12x128x2x32,128x1x32](in3,%1) ; [pointwise kind=add dtype=f16:f16:f16 in=98304,98304](%2,%3) {1,3,2,0}"},
      {"RotaryEmbedding@23", "f16 1x128x768, f16 1x128x32, f16 1x128x32 -> f16 1x128x768", "num_heads=12 interleaved=1",
       "region [pointwise kind=multiply dtype=f16:f16:f16 in=128x12x32x2,128x1x32x1](in0,in1) ; [pointwise "
       "kind=multiply dtype=f16:f16:f16 in=128x12x32x2,128x1x32x1](in0,in2) ; [pointwise kind=add dtype=f16:f16:f16 "
       "in=98304,98304](%0,%1) {0,1,2}"},
      {"RotaryEmbedding@23", "f16 1x12x128x64, f16 1x128x16, f16 1x128x16 -> f16 1x12x128x64",
       "rotary_embedding_dim=32",
       "region [movement kind=slice dtype=f16:-:f16 in=1536x64 out=1536x32](in0) ; [movement kind=slice "
       "dtype=f16:-:f16 in=1536x64 out=1536x32](in0) ; [pointwise kind=multiply dtype=f16:f16:f16 "
       "in=12x128x2x16,128x1x16](%0,in1) ; [pointwise kind=multiply dtype=f16:f16:f16 in=12x128x2x16,128x1x16](%0,in2) "
       "; [pointwise kind=add dtype=f16:f16:f16 in=49152,49152](%2,%3) ; [movement kind=concat dtype=f16:-:f16 "
       "in=1536x32x1,1536x32x1 out=1536x64x1 axis=1](%4,%1) {0,1,2}"},
      {"com.microsoft.RotaryEmbedding", "f16 1x128x768, s64 1, f16 2048x32, f16 2048x32 -> f16 1x128x768", "",
       "region [movement kind=slice dtype=f16:-:f16 in=2048x32 out=128x32](in0) ; [movement kind=slice dtype=f16:-:f16 "
       "in=2048x32 out=128x32](in1) ; [pointwise kind=multiply dtype=f16:f16:f16 in=128x24x32,128x1x32](in2,%0) ; "
       "[pointwise kind=multiply dtype=f16:f16:f16 in=128x24x32,128x1x32](in2,%1) ; [pointwise kind=add "
       "dtype=f16:f16:f16 in=98304,98304](%2,%3) {2,3,0}"},
  });
}

TEST(LoweringAttention, MicrosoftAttentionProjectsFirst) {
  ExpectLowerings({
      {"com.microsoft.Attention", "f32 1x128x768, w f32 768x2304, w f32 2304, s32 1 -> f32 1x128x768", "num_heads=12",
       "region [matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x2304 bias=column weights=const](in0,w0,w1) ; [movement "
       "kind=slice dtype=f32:-:f32 in=128x2304 out=128x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=128x2304 "
       "out=128x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=128x2304 out=128x768](%0) ; [attention "
       "dtype=f32:-:f32 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=no](%1,%2,%3) {0,1,2}"},
      {"com.microsoft.Attention",
       "f32 1x128x768, w f32 768x2304, w f32 2304, -, f32 2x1x12x10x64 -> f32 1x128x768, f32 2x1x12x138x64",
       "num_heads=12 unidirectional=1",
       "region [matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x2304 bias=column weights=const](in0,w0,w1) ; [movement "
       "kind=slice dtype=f32:-:f32 in=128x2304 out=128x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=128x2304 "
       "out=128x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=128x2304 out=128x768](%0) ; [movement kind=slice "
       "dtype=f32:-:f32 in=2x7680 out=1x7680](in1) ; [movement kind=concat dtype=f32:-:f32 in=12x10x64,12x128x64 "
       "out=12x138x64 axis=1](%4,%2) ; [movement kind=slice dtype=f32:-:f32 in=2x7680 out=1x7680](in1) ; [movement "
       "kind=concat dtype=f32:-:f32 in=12x10x64,12x128x64 out=12x138x64 axis=1](%6,%3) ; [movement kind=concat "
       "dtype=f32:-:f32 in=1x105984x1,1x105984x1 out=1x211968x1 axis=1](%5,%7) ; [attention dtype=f32:-:f32 n=1 "
       "heads=12 kv_heads=12 q=128 kv=138 head=64 mask=causal](%1,%5,%7) out=%8,%9 {0,1,2,4}"},
      {"com.microsoft.Attention", "f32 1x128x768, w f32 768x2304, w f32 2304, -, -, f32 1x12x128x128 -> f32 1x128x768",
       "num_heads=12",
       "region [matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x2304 bias=column weights=const](in0,w0,w1) ; [movement "
       "kind=slice dtype=f32:-:f32 in=128x2304 out=128x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=128x2304 "
       "out=128x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=128x2304 out=128x768](%0) ; [matmul "
       "dtype=f32:f32:f32 a=12x128x64 b=12x64x128 bias=no weights=variable](%1,%2) ; [pointwise kind=add "
       "dtype=f32:f32:f32 in=196608,196608](%4,in1) ; [softmax kind=softmax dtype=f32:-:f32 in=1536x128x1 axis=1](%5) "
       "; [matmul dtype=f32:f32:f32 a=12x128x128 b=12x128x64 bias=no weights=variable](%6,%3) {0,1,2,5}"},
      {"com.microsoft.Attention", "f32 2x128x768, w f32 768x2304, w f32 2304, s32 2x128x128 -> f32 2x128x768",
       "num_heads=12",
       "region [matmul dtype=f32:f32:f32 a=1x256x768 b=1x768x2304 bias=column weights=const](in0,w0,w1) ; [movement "
       "kind=slice dtype=f32:-:f32 in=256x2304 out=256x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=256x2304 "
       "out=256x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=256x2304 out=256x768](%0) ; [matmul "
       "dtype=f32:f32:f32 a=24x128x64 b=24x64x128 bias=no weights=variable](%1,%2) ; [pointwise kind=add "
       "dtype=f32:s32:f32 in=2x12x16384,2x1x16384](%4,in1) ; [softmax kind=softmax dtype=f32:-:f32 in=3072x128x1 "
       "axis=1](%5) ; [matmul dtype=f32:f32:f32 a=24x128x128 b=24x128x64 bias=no weights=variable](%6,%3) {0,1,2,3}"},
      {"com.microsoft.Attention", "f32 1x128x768, w f32 768x2304 -> f32 1x128x768", "num_heads=5",
       "unknown: weights of 768x2304 are not projections to 5 heads"},
      {"com.microsoft.QAttention",
       "u8 1x128x768, w s8 768x2304, w f32 2304, f32, w f32, s32 1, u8, s8 -> f32 1x128x768", "num_heads=12",
       "region [matmul dtype=u8:s8:f32 a=1x128x768 b=1x768x2304 bias=column weights=const](in0,w0,w1) ; [movement "
       "kind=slice dtype=f32:-:f32 in=128x2304 out=128x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=128x2304 "
       "out=128x768](%0) ; [movement kind=slice dtype=f32:-:f32 in=128x2304 out=128x768](%0) ; [attention "
       "dtype=f32:-:f32 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=no](%1,%2,%3) {0,1,2}"},
      {"com.microsoft.DecoderMaskedSelfAttention",
       "f32 1x1x768, w f32 768x2304, w f32 2304, s32 1x128, f32 2x1x12x127x64 -> f32 1x1x768, f32 2x1x12x128x64",
       "num_heads=12",
       "region [matmul dtype=f32:f32:f32 a=1x1x768 b=1x768x2304 bias=column weights=const](in0,w0,w1) ; [movement "
       "kind=slice dtype=f32:-:f32 in=2304 out=768](%0) ; [movement kind=slice dtype=f32:-:f32 in=2304 out=768](%0) ; "
       "[movement kind=slice dtype=f32:-:f32 in=2304 out=768](%0) ; [movement kind=slice dtype=f32:-:f32 in=2x97536 "
       "out=1x97536](in1) ; [movement kind=concat dtype=f32:-:f32 in=12x127x64,12x1x64 out=12x128x64 axis=1](%4,%2) ; "
       "[movement kind=slice dtype=f32:-:f32 in=2x97536 out=1x97536](in1) ; [movement kind=concat dtype=f32:-:f32 "
       "in=12x127x64,12x1x64 out=12x128x64 axis=1](%6,%3) ; [movement kind=concat dtype=f32:-:f32 "
       "in=1x98304x1,1x98304x1 out=1x196608x1 axis=1](%5,%7) ; [attention dtype=f32:-:f32 n=1 heads=12 kv_heads=12 q=1 "
       "kv=128 head=64 mask=no](%1,%5,%7) out=%8,%9 {0,1,2,4}"},
      {"com.microsoft.DecoderMaskedSelfAttention",
       "f32 1x1x768, w f32 768x2304, w f32 2304, s32 1x128, f32 2x1x12x127x64 -> f32 1x1x768, f32 2x1x12x128x64",
       "num_heads=12 past_present_share_buffer=1",
       "unknown: the number of valid positions of its shared cache is known only at run time"},
  });
}

TEST(LoweringAttention, MicrosoftMultiHeadAttentionTakesProjections) {
  ExpectLowerings({
      {"com.microsoft.MultiHeadAttention", "f32 1x128x768, f32 1x100x768, f32 1x100x768 -> f32 1x128x768",
       "num_heads=12", "attention dtype=f32:-:f32 n=1 heads=12 kv_heads=12 q=128 kv=100 head=64 mask=no {0,1,2}"},
      {"com.microsoft.MultiHeadAttention", "f32 1x128x768, f32 1x128x768, f32 1x128x768, w f32 2304 -> f32 1x128x768",
       "num_heads=12 unidirectional=1",
       "region [movement kind=slice dtype=f32:-:f32 in=2304 out=768](w0) ; [pointwise kind=add dtype=f32:f32:f32 "
       "in=128x768,768](in0,%0) ; [movement kind=slice dtype=f32:-:f32 in=2304 out=768](w0) ; [pointwise kind=add "
       "dtype=f32:f32:f32 in=128x768,768](in1,%2) ; [movement kind=slice dtype=f32:-:f32 in=2304 out=768](w0) ; "
       "[pointwise kind=add dtype=f32:f32:f32 in=128x768,768](in2,%4) ; [attention dtype=f32:-:f32 n=1 heads=12 "
       "kv_heads=12 q=128 kv=128 head=64 mask=causal](%1,%3,%5) {3,0,1,2}"},
      {"com.microsoft.MultiHeadAttention", "f16 1x128x12x3x64 -> f16 1x128x768", "num_heads=12",
       "region [movement kind=slice dtype=f16:-:f16 in=128x2304 out=128x768](in0) ; [movement kind=slice "
       "dtype=f16:-:f16 in=128x2304 out=128x768](in0) ; [movement kind=slice dtype=f16:-:f16 in=128x2304 "
       "out=128x768](in0) ; [attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 "
       "mask=no](%0,%1,%2) {0}"},
      {"com.microsoft.MultiHeadAttention", "f16 1x128x768, f16 1x77x12x2x64 -> f16 1x128x768", "num_heads=12",
       "region [movement kind=slice dtype=f16:-:f16 in=77x1536 out=77x768](in0) ; [movement kind=slice dtype=f16:-:f16 "
       "in=77x1536 out=77x768](in0) ; [attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=77 head=64 "
       "mask=no](in1,%0,%1) {1,0}"},
      {"com.microsoft.MultiHeadAttention",
       "f32 1x1x768, f32 1x1x768, f32 1x1x768, -, -, -, f32 1x12x127x64, f32 1x12x127x64 -> f32 1x1x768, f32 "
       "1x12x128x64, f32 1x12x128x64",
       "num_heads=12",
       "region [movement kind=concat dtype=f32:-:f32 in=12x127x64,12x1x64 out=12x128x64 axis=1](in0,in1) ; [movement "
       "kind=concat dtype=f32:-:f32 in=12x127x64,12x1x64 out=12x128x64 axis=1](in2,in3) ; [attention dtype=f32:-:f32 "
       "n=1 heads=12 kv_heads=12 q=1 kv=128 head=64 mask=no](in4,%0,%1) out=%0,%1,%2 {6,1,7,2,0}"},
      {"com.microsoft.MultiHeadAttention",
       "f32 1x128x768, f32 1x128x768, f32 1x128x768, -, -, f32 1x12x128x128 -> f32 1x128x768", "num_heads=12",
       "region [matmul dtype=f32:f32:f32 a=12x128x64 b=12x64x128 bias=no weights=variable](in0,in1) ; [pointwise "
       "kind=add dtype=f32:f32:f32 in=196608,196608](%0,in2) ; [softmax kind=softmax dtype=f32:-:f32 in=1536x128x1 "
       "axis=1](%1) ; [matmul dtype=f32:f32:f32 a=12x128x128 b=12x128x64 bias=no weights=variable](%2,in3) {0,1,5,2}"},
      {"com.microsoft.MultiHeadAttention", "f32 1x128x768, f32 1x128x768, f32 1x128x768, -, s32 1x128 -> f32 1x128x768",
       "num_heads=12", "attention dtype=f32:-:f32 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=no {0,1,2}"},
      {"com.microsoft.DecoderMaskedMultiHeadAttention",
       "f32 1x1x768, f32 1x1x768, f32 1x1x768, -, -, f32 1x12x127x64, f32 1x12x127x64 -> f32 1x1x768, f32 1x12x128x64, "
       "f32 1x12x128x64",
       "num_heads=12",
       "region [movement kind=concat dtype=f32:-:f32 in=12x127x64,12x1x64 out=12x128x64 axis=1](in0,in1) ; [movement "
       "kind=concat dtype=f32:-:f32 in=12x127x64,12x1x64 out=12x128x64 axis=1](in2,in3) ; [attention dtype=f32:-:f32 "
       "n=1 heads=12 kv_heads=12 q=1 kv=128 head=64 mask=no](in4,%0,%1) out=%0,%1,%2 {5,1,6,2,0}"},
      {"com.microsoft.DecoderMaskedMultiHeadAttention",
       "f32 1x1x768, f32 1x1x768, f32 1x1x768, -, -, f32 1x12x127x64, f32 1x12x127x64, s32 1 -> f32 1x1x768, f32 "
       "1x12x128x64, f32 1x12x128x64",
       "num_heads=12 past_present_share_buffer=1",
       "unknown: the number of valid positions of its shared cache is known only at run time"},
  });
}

TEST(LoweringAttention, GroupQueryAttentionNeedsToKnowItsLength) {
  ExpectLowerings({
      {"com.microsoft.GroupQueryAttention",
       "f16 1x64x2048, f16 1x64x512, f16 1x64x512, f16 1x8x0x64, f16 1x8x0x64, s32 1, s32 -> f16 1x64x2048, f16 "
       "1x8x64x64, f16 1x8x64x64",
       "num_heads=32 kv_num_heads=8",
       "attention dtype=f16:-:f16 n=1 heads=32 kv_heads=8 q=64 kv=64 head=64 mask=causal {0,1,2}"},
      {"com.microsoft.GroupQueryAttention",
       "f16 1x1x2048, f16 1x1x512, f16 1x1x512, f16 1x8x127x64, f16 1x8x127x64, s32 1, s32 -> f16 1x1x2048, f16 "
       "1x8x128x64, f16 1x8x128x64",
       "num_heads=32 kv_num_heads=8",
       "region [movement kind=concat dtype=f16:-:f16 in=8x127x64,8x1x64 out=8x128x64 axis=1](in0,in1) ; [movement "
       "kind=concat dtype=f16:-:f16 in=8x127x64,8x1x64 out=8x128x64 axis=1](in2,in3) ; [attention dtype=f16:-:f16 n=1 "
       "heads=32 kv_heads=8 q=1 kv=128 head=64 mask=no](in4,%0,%1) out=%0,%1,%2 {3,1,4,2,0}"},
      {"com.microsoft.GroupQueryAttention",
       "f16 1x1x2048, f16 1x1x512, f16 1x1x512, f16 1x8x4096x64, f16 1x8x4096x64, s32 1, w s32=[100] -> f16 1x1x2048, "
       "f16 1x8x4096x64, f16 1x8x4096x64",
       "num_heads=32 kv_num_heads=8",
       "region [movement kind=slice dtype=f16:-:f16 in=8x4096x64 out=8x99x64](in0) ; [movement kind=concat "
       "dtype=f16:-:f16 in=8x99x64,8x1x64 out=8x100x64 axis=1](%0,in1) ; [movement kind=slice dtype=f16:-:f16 "
       "in=8x4096x64 out=8x99x64](in2) ; [movement kind=concat dtype=f16:-:f16 in=8x99x64,8x1x64 out=8x100x64 "
       "axis=1](%2,in3) ; [attention dtype=f16:-:f16 n=1 heads=32 kv_heads=8 q=1 kv=100 head=64 mask=no](in4,%1,%3) "
       "{3,1,4,2,0}"},
      {"com.microsoft.GroupQueryAttention",
       "f16 1x1x2048, f16 1x1x512, f16 1x1x512, f16 1x8x4096x64, f16 1x8x4096x64, s32 1, s32 -> f16 1x1x2048, f16 "
       "1x8x4096x64, f16 1x8x4096x64",
       "num_heads=32 kv_num_heads=8",
       "unknown: the number of valid positions of its shared cache is known only at run time"},
      {"com.microsoft.GroupQueryAttention",
       "f16 1x64x3072, -, -, -, -, s32 1, s32, w f16 4096x32, w f16 4096x32 -> f16 1x64x2048",
       "num_heads=32 kv_num_heads=8 do_rotary=1",
       "region [movement kind=slice dtype=f16:-:f16 in=64x3072 out=64x2048](in0) ; [movement kind=slice "
       "dtype=f16:-:f16 in=64x3072 out=64x512](in0) ; [movement kind=slice dtype=f16:-:f16 in=64x3072 out=64x512](in0) "
       "; [movement kind=slice dtype=f16:-:f16 in=4096x32 out=64x32](w0) ; [movement kind=slice dtype=f16:-:f16 "
       "in=4096x32 out=64x32](w1) ; [pointwise kind=multiply dtype=f16:f16:f16 in=64x64x32,64x1x32](%0,%3) ; "
       "[pointwise kind=multiply dtype=f16:f16:f16 in=64x64x32,64x1x32](%0,%4) ; [pointwise kind=add dtype=f16:f16:f16 "
       "in=131072,131072](%5,%6) ; [pointwise kind=multiply dtype=f16:f16:f16 in=64x16x32,64x1x32](%1,%3) ; [pointwise "
       "kind=multiply dtype=f16:f16:f16 in=64x16x32,64x1x32](%1,%4) ; [pointwise kind=add dtype=f16:f16:f16 "
       "in=32768,32768](%8,%9) ; [attention dtype=f16:-:f16 n=1 heads=32 kv_heads=8 q=64 kv=64 head=64 "
       "mask=causal](%7,%10,%2) {0,7,8}"},
      {"com.microsoft.GroupQueryAttention",
       "f16 1x1x2048, f16 1x1x512, f16 1x1x512, f16 1x8x127x64, f16 1x8x127x64, s32 1, s32 -> f16 1x1x2048, f16 "
       "1x8x128x64, f16 1x8x128x64",
       "num_heads=32 kv_num_heads=8 local_window_size=32",
       "region [movement kind=concat dtype=f16:-:f16 in=8x127x64,8x1x64 out=8x128x64 axis=1](in0,in1) ; [movement "
       "kind=concat dtype=f16:-:f16 in=8x127x64,8x1x64 out=8x128x64 axis=1](in2,in3) ; [movement kind=slice "
       "dtype=f16:-:f16 in=8x128x64 out=8x32x64](%0) ; [movement kind=slice dtype=f16:-:f16 in=8x128x64 "
       "out=8x32x64](%1) ; [attention dtype=f16:-:f16 n=1 heads=32 kv_heads=8 q=1 kv=32 head=64 mask=no](in4,%2,%3) "
       "out=%0,%1,%4 {3,1,4,2,0}"},
  });
}

}  // namespace
}  // namespace infimum
