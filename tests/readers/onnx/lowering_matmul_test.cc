#include <gtest/gtest.h>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringMatMul, MatMulFollowsNumPy) {
  ExpectLowerings({
      {"MatMul", "f32 128x768, w f32 768x3072 -> f32 128x3072", "",
       "matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=no weights=const {0,1}"},
      {"MatMul", "f32 2x128x768, w f32 768x3072 -> f32 2x128x3072", "",
       "matmul dtype=f32:f32:f32 a=1x256x768 b=1x768x3072 bias=no weights=const {0,1}"},
      {"MatMul", "f32 2x12x128x64, f32 2x12x64x128 -> f32 2x12x128x128", "",
       "matmul dtype=f32:f32:f32 a=24x128x64 b=24x64x128 bias=no weights=variable {0,1}"},
      {"MatMul", "f32 1x12x128x64, f32 2x1x64x128 -> f32 2x12x128x128", "",
       "matmul dtype=f32:f32:f32 a=1x1536x64 b=2x64x128 bias=no weights=variable {0,1}"},
      {"MatMul", "f32 64, f32 64x8 -> f32 8", "",
       "matmul dtype=f32:f32:f32 a=1x1x64 b=1x64x8 bias=no weights=variable {0,1}"},
      {"MatMul", "f32 8x64, f32 64 -> f32 8", "",
       "matmul dtype=f32:f32:f32 a=1x8x64 b=1x64x1 bias=no weights=variable {0,1}"},
      {"MatMul", "f32 64, f32 64 -> f32", "",
       "matmul dtype=f32:f32:f32 a=1x1x64 b=1x64x1 bias=no weights=variable {0,1}"},
      {"MatMul", "f32 3x4, f32 5x6 -> f32 ?", "", "unknown: a matmul of 3x4 and 5x6: the inner dimensions differ"},
      {"MatMul", "f32, f32 5x6 -> f32 ?", "", "unknown: MatMul does not take a scalar"},
      {"MatMulInteger", "u8 4x16, w s8 16x8, u8, s8 -> s32 4x8", "",
       "matmul dtype=u8:s8:s32 a=1x4x16 b=1x16x8 bias=no weights=const {0,1}"},
  });
}

TEST(LoweringMatMul, GemmTakesItsBiasAsItBroadcasts) {
  ExpectLowerings({
      {"Gemm", "f32 1x2048, w f32 1000x2048, w f32 1000 -> f32 1x1000", "transB=1",
       "matmul dtype=f32:f32:f32 a=1x1x2048 b=1x2048x1000 bias=column weights=const {0,1,2}"},
      {"Gemm", "f32 8x4, w f32 8x16 -> f32 4x16", "transA=1",
       "matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=no weights=const {0,1}"},
      {"Gemm", "f32 4x8, w f32 8x16, w f32 1x16 -> f32 4x16", "",
       "matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=column weights=const {0,1,2}"},
      {"Gemm", "f32 4x8, w f32 8x16, w f32 4x16 -> f32 4x16", "",
       "matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=full weights=const {0,1,2}"},
      {"Gemm", "f32 4x8, w f32 8x16, f32 4x16 -> f32 4x16", "",
       "matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=full weights=variable {0,1,2}"},
      {"Gemm", "f32 4x8, w f32 8x16, w f32 4x1 -> f32 4x16", "",
       "region [matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=no weights=const](in0,w0) ; [pointwise kind=add "
       "dtype=f32:f32:f32 in=4x16,4x1](%0,w1) {0,1,2}"},
      {"Gemm", "f32 4x8, w f32 8x16, w f32 -> f32 4x16", "",
       "region [matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=no weights=const](in0,w0) ; [pointwise kind=add "
       "dtype=f32:f32:f32 in=64,1](%0,w1) {0,1,2}"},
      {"Gemm", "f32 4x8, w f32 8x16, w f32 1 -> f32 4x16", "",
       "region [matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=no weights=const](in0,w0) ; [pointwise kind=add "
       "dtype=f32:f32:f32 in=64,1](%0,w1) {0,1,2}"},
      {"Gemm", "f32 4x8, w f32 8x1, w f32 4x1 -> f32 4x1", "",
       "matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x1 bias=full weights=const {0,1,2}"},
      {"Gemm", "f32 4x8, w f32 8x16, w f32 16 -> f32 4x16", "beta=0.0 alpha=0.5",
       "matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=no weights=const {0,1}"},
      {"Gemm", "f32 4x8, w f32 8x16, w f32 7 -> f32 4x16", "", "unknown: shapes '4x16' and '7' do not broadcast"},
      {"Gemm", "f32 2x4x8, w f32 8x16 -> f32 ?", "", "unknown: Gemm multiplies two matrices, not 2x4x8 and 8x16"},
  });
}

TEST(LoweringMatMul, QuantizedMatMulsLeaveScalesOut) {
  ExpectLowerings({
      {"QLinearMatMul", "u8 4x16, f32, u8, w s8 16x8, w f32 8, w s8 8, f32, u8 -> u8 4x8", "",
       "matmul dtype=u8:s8:u8 a=1x4x16 b=1x16x8 bias=no weights=const {0,3}"},
      {"com.microsoft.QGemm", "u8 4x16, f32, u8, w s8 8x16, w f32 8, w s8 8, w s32 8, f32, u8 -> u8 4x8", "transB=1",
       "matmul dtype=u8:s8:u8 a=1x4x16 b=1x16x8 bias=column weights=const {0,3,6}"},
      {"com.microsoft.QGemm", "u8 4x16, f32, u8, w s8 16x8, w f32 8, w s8 8 -> f32 4x8", "",
       "matmul dtype=u8:s8:f32 a=1x4x16 b=1x16x8 bias=no weights=const {0,3}"},
      {"com.microsoft.MatMulIntegerToFloat", "u8 4x16, w s8 16x8, f32, w f32 8, u8, s8, w f32 8 -> f32 4x8", "",
       "matmul dtype=u8:s8:f32 a=1x4x16 b=1x16x8 bias=column weights=const {0,1,6}"},
      {"com.microsoft.DynamicQuantizeMatMul", "f32 4x16, w s8 16x8, w f32 8, w s8 8, w f32 8 -> f32 4x8", "",
       "region [pointwise kind=dynamic_quantize dtype=f32:-:u8 in=64](in0) ; [matmul dtype=u8:s8:f32 a=1x4x16 b=1x16x8 "
       "bias=column weights=const](%0,w0,w1) {0,1,4}"},
      {"com.microsoft.DynamicQuantizeMatMul", "f32 4x16, w s8 16x8, w f32 8 -> f32 4x8", "",
       "region [pointwise kind=dynamic_quantize dtype=f32:-:u8 in=64](in0) ; [matmul dtype=u8:s8:f32 a=1x4x16 b=1x16x8 "
       "bias=no weights=const](%0,w0) {0,1}"},
      {"com.microsoft.MatMulInteger16", "s16 4x16, w s16 16x8 -> s32 4x8", "",
       "matmul dtype=s16:s16:s32 a=1x4x16 b=1x16x8 bias=no weights=const {0,1}"},
  });
}

TEST(LoweringMatMul, PackedWeightsAreLogicalMatrices) {
  ExpectLowerings({
      {"com.microsoft.MatMulNBits", "f32 1x5x4096, w u8 1024x128x16, w f32 131072 -> f32 1x5x1024",
       "K=4096 N=1024 bits=4 block_size=32",
       "matmul dtype=f32:u4:f32 a=1x5x4096 b=1x4096x1024 bias=no weights=const {0,1}"},
      {"com.microsoft.MatMulNBits", "f16 5x4096, w u8 1024x128x32, w f16 131072, -, -, w f16 1024 -> f16 5x1024",
       "K=4096 N=1024 bits=8 block_size=32",
       "matmul dtype=f16:u8:f16 a=1x5x4096 b=1x4096x1024 bias=column weights=const {0,1,5}"},
      {"com.microsoft.MatMulNBits", "f32 5x4096, w u8 1024x128x8, w f32 131072 -> f32 5x1024",
       "K=4096 N=1024 bits=2 block_size=32", "unknown: no supported element type has 2 bits"},
      {"com.microsoft.MatMulNBits", "f32 5x4096, w u8 1024x128x8, w f32 131072 -> f32 5x1024", "K=4096 bits=4",
       "unknown: attribute 'N' is missing"},
      {"com.microsoft.MatMulBnb4", "f32 5x64, w u8 1024, w f32 32 -> f32 5x32", "K=64 N=32 quant_type=1 block_size=64",
       "matmul dtype=f32:u4:f32 a=1x5x64 b=1x64x32 bias=no weights=const {0,1}"},
      {"com.microsoft.MatMulBnb4", "f32 5x32, w u8 1024, w f32 32 -> f32 5x64", "K=64 N=32 transB=0",
       "matmul dtype=f32:u4:f32 a=1x5x32 b=1x32x64 bias=no weights=const {0,1}"},
      {"com.microsoft.MatMulFpQ4", "f32 5x64, w u8 1200, w s64 2=[64,32] -> f32 5x32", "",
       "matmul dtype=f32:u4:f32 a=1x5x64 b=1x64x32 bias=no weights=const {0,1}"},
      {"com.microsoft.MatMulNBitsQkv",
       "f16 1x1x64, -, w f16 64, w u8 64x2x16, w f16 128, -, w u8 16x2x16, w f16 32, -, w u8 16x2x16, w f16 32, - -> "
       "f16 1x1x64, f16 1x1x16, f16 1x1x16",
       "K=64 Nq=64 Nkv=16 bits=4",
       "region [normalization kind=rms dtype=f16:f16:f16 in=1x64 axis=1 scale=yes bias=no](in0,w0) ; [matmul "
       "dtype=f16:u4:f16 a=1x1x64 b=1x64x64 bias=no weights=const](%0,w1) ; [matmul dtype=f16:u4:f16 a=1x1x64 "
       "b=1x64x16 bias=no weights=const](%0,w2) ; [matmul dtype=f16:u4:f16 a=1x1x64 b=1x64x16 bias=no "
       "weights=const](%0,w3) out=%1,%2,%3 {0,2,3,6,9}"},
      {"com.microsoft.MatMulNBitsMlp",
       "f16 1x1x64, f16 1x1x64, w f16 64, w u8 96x2x16, w f16 192, -, w u8 96x2x16, w f16 192, - -> f16 1x1x96, f16 "
       "1x1x64",
       "K=64 N=96 bits=4 activation=silu",
       "region [pointwise kind=add dtype=f16:f16:f16 in=64,64](in0,in1) ; [normalization kind=rms dtype=f16:f16:f16 "
       "in=1x64 axis=1 scale=yes bias=no](%0,w0) ; [matmul dtype=f16:u4:f16 a=1x1x64 b=1x64x96 bias=no "
       "weights=const](%1,w1) ; [matmul dtype=f16:u4:f16 a=1x1x64 b=1x64x96 bias=no weights=const](%1,w2) ; [pointwise "
       "kind=swish dtype=f16:-:f16 in=96](%2) ; [pointwise kind=multiply dtype=f16:f16:f16 in=96,96](%4,%3) out=%0,%5 "
       "{0,1,2,3,6}"},
  });
}

TEST(LoweringMatMul, FusedMatMulsAreRegionsOnlyWhereTheyFuse) {
  ExpectLowerings({
      {"com.microsoft.FusedMatMul", "f32 2x8x64x4, f32 2x8x64x5 -> f32 2x8x4x5", "transA=1 alpha=0.125",
       "matmul dtype=f32:f32:f32 a=16x4x64 b=16x64x5 bias=no weights=variable {0,1}"},
      {"com.microsoft.FusedMatMul", "f32 2x8x4x64, f32 2x8x5x64 -> f32 2x8x4x5", "transB=1 alpha=0.125",
       "matmul dtype=f32:f32:f32 a=16x4x64 b=16x64x5 bias=no weights=variable {0,1}"},
      {"com.microsoft.FusedMatMul", "f32 4x2x8x64, f32 2x8x64x5 -> f32 2x8x4x5", "transBatchA=1",
       "matmul dtype=f32:f32:f32 a=16x4x64 b=16x64x5 bias=no weights=variable {0,1}"},
      {"com.microsoft.FusedMatMul", "f32 2x8x4x64, f32 5x2x8x64 -> f32 2x8x4x5", "transBatchB=1 transB=1",
       "matmul dtype=f32:f32:f32 a=16x4x64 b=16x64x5 bias=no weights=variable {0,1}"},
      {"com.microsoft.TransposeMatMul", "f32 2x8x64x4, f32 2x8x64x5 -> f32 2x8x4x5", "transA=1",
       "matmul dtype=f32:f32:f32 a=16x4x64 b=16x64x5 bias=no weights=variable {0,1}"},
      {"com.microsoft.FusedMatMulActivation", "f32 4x64, w f32 64x5 -> f32 4x5", "activation=Relu",
       "region [matmul dtype=f32:f32:f32 a=1x4x64 b=1x64x5 bias=no weights=const](in0,w0) ; [pointwise kind=relu "
       "dtype=f32:-:f32 in=20](%0) {0,1}"},
      {"com.microsoft.FusedGemm", "f32 4x8, w f32 16x8, w f32 16 -> f32 4x16",
       "transB=1 activation=LeakyRelu activation_alpha=0.1",
       "region [matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=column weights=const](in0,w0,w1) ; [pointwise "
       "kind=leaky_relu dtype=f32:-:f32 in=64](%0) {0,1,2}"},
      {"com.microsoft.GemmFastGelu", "f32 4x8, w f32 8x16, w f32 16 -> f32 4x16", "",
       "region [matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=column weights=const](in0,w0,w1) ; [pointwise "
       "kind=gelu_tanh dtype=f32:-:f32 in=64](%0) {0,1,2}"},
      {"com.microsoft.GemmFloat8", "f8e4m3 4x8, w f8e4m3 16x8, -, f32, f32, f32 -> f16 4x16",
       "transB=1 activation=GELU",
       "region [matmul dtype=f8e4m3:f8e4m3:f16 a=1x4x8 b=1x8x16 bias=no weights=const](in0,w0) ; [pointwise "
       "kind=gelu_erf dtype=f16:-:f16 in=64](%0) {0,1}"},
  });
}

TEST(LoweringMatMul, EinsumBecomesTheOperationOfItsEquation) {
  ExpectLowerings({
      {"Einsum", "f32 2x12x128x64, f32 2x12x100x64 -> f32 2x12x128x100", "equation=bhid,bhjd->bhij",
       "matmul dtype=f32:f32:f32 a=24x128x64 b=24x64x100 bias=no weights=variable {0,1}"},
      {"Einsum", "f32 2x128x12x64, f32 2x100x12x64 -> f32 2x12x128x100", "equation=bihd,bjhd->bhij",
       "matmul dtype=f32:f32:f32 a=24x128x64 b=24x64x100 bias=no weights=variable {0,1}"},
      {"Einsum", "f32 2x128x768, w f32 768x12x64 -> f32 2x128x12x64", "equation=abc,cde->abde",
       "matmul dtype=f32:f32:f32 a=1x256x768 b=1x768x768 bias=no weights=const {0,1}"},
      {"Einsum", "f32 5x3x4, w f32 4x6 -> f32 5x3x6", "equation=...k,kn->...n",
       "matmul dtype=f32:f32:f32 a=1x15x4 b=1x4x6 bias=no weights=const {0,1}"},
      {"Einsum", "f32 3x4, f32 4x5 -> f32 3x5", "equation=ij,jk",
       "matmul dtype=f32:f32:f32 a=1x3x4 b=1x4x5 bias=no weights=variable {0,1}"},
      {"Einsum", "f32 3x4 -> f32 4x3", "equation=ij->ji",
       "movement kind=transpose dtype=f32:-:f32 in=3x4 out=4x3 perm=1,0 {0}"},
      {"Einsum", "f32 3x4 -> f32 4", "equation=ij->j", "reduction kind=sum dtype=f32:-:f32 in=3x4 axes=0 {0}"},
      {"Einsum", "f32 3x4 -> f32", "equation=ij->", "reduction kind=sum dtype=f32:-:f32 in=12 axes=0 {0}"},
      {"Einsum", "f32 3x4 -> f32 3x4", "equation=ij->ij", "free: changes the shape, not the elements"},
      {"Einsum", "f32 8x8 -> f32 8", "equation=ii->i", "movement kind=slice dtype=f32:-:f32 in=8x8 out=8x1 {0}"},
      {"Einsum", "f32 8x8 -> f32", "equation=ii",
       "region [movement kind=slice dtype=f32:-:f32 in=8x8 out=8x1](in0) ; [reduction kind=sum dtype=f32:-:f32 in=8 "
       "axes=0](%0) {0}"},
      {"Einsum", "f32 3, f32 4 -> f32 3x4", "equation=i,j->ij",
       "pointwise kind=multiply dtype=f32:f32:f32 in=3x1,4 {0,1}"},
      {"Einsum", "f32 3x4, f32 3x4 -> f32 3x4", "equation=ij,ij->ij",
       "pointwise kind=multiply dtype=f32:f32:f32 in=12,12 {0,1}"},
      {"Einsum", "f32 3x4, f32 3x4 -> f32", "equation=ij,ij->",
       "matmul dtype=f32:f32:f32 a=1x1x12 b=1x12x1 bias=no weights=variable {0,1}"},
      {"Einsum", "f32 3x4x7, f32 4x5 -> f32 3x5", "equation=ijl,jk->ik",
       "region [reduction kind=sum dtype=f32:-:f32 in=12x7 axes=1](in0) ; [matmul dtype=f32:f32:f32 a=1x3x4 b=1x4x5 "
       "bias=no weights=variable](%0,in1) {0,1}"},
      {"Einsum", "f32 3x4, f32 4x5, f32 5x6 -> f32 3x6", "equation=ab,bc,cd->ad",
       "region [matmul dtype=f32:f32:f32 a=1x3x4 b=1x4x5 bias=no weights=variable](in0,in1) ; [matmul "
       "dtype=f32:f32:f32 a=1x3x5 b=1x5x6 bias=no weights=variable](%0,in2) {0,1,2}"},
      {"Einsum", "f32 3x4, f32 5x6 -> f32 ?", "equation=ij,jk->ik",
       "unknown: two terms give one label different extents"},
      {"Einsum", "f32 3x4 -> f32 ?", "equation=ijk->i", "unknown: term 'ijk' does not fit an operand of rank 2"},
      {"Einsum", "f32 3x4 -> f32 ?", "equation=ij->k", "unknown: the result has a label that no term has"},
      {"Einsum", "f32 3x4 -> f32 ?", "equation=i?->i", "unknown: term 'i?' has a character that is not a label"},
      {"Einsum", "f32 3x4 -> f32 ?", "equation=ij,jk->ik", "unknown: the equation has 2 terms for 1 inputs"},
  });
}

TEST(LoweringMatMul, RecurrentLayersReadTheirSizesFromTheWeights) {
  ExpectLowerings({
      {"LSTM",
       "f32 64x1x256, w f32 2x2048x256, w f32 2x2048x512, w f32 2x4096, -, f32 2x1x512, f32 2x1x512 -> f32 64x2x1x512, "
       "f32 2x1x512, f32 2x1x512",
       "hidden_size=512 direction=bidirectional",
       "recurrent kind=lstm dtype=f32:f32:f32 sequence=64 batch=1 input=256 hidden=512 directions=2 bias=yes "
       "weights=const {0,1,2,3}"},
      {"LSTM", "f32 1x64x256, w f32 1x2048x256, w f32 1x2048x512 -> -, f32 1x1x512", "hidden_size=512 layout=1",
       "recurrent kind=lstm dtype=f32:f32:f32 sequence=64 batch=1 input=256 hidden=512 directions=1 bias=no "
       "weights=const {0,1,2}"},
      {"GRU", "f32 10x2x8, w f32 1x48x8, w f32 1x48x16 -> f32 10x1x2x16", "hidden_size=16",
       "recurrent kind=gru dtype=f32:f32:f32 sequence=10 batch=2 input=8 hidden=16 directions=1 bias=no weights=const "
       "{0,1,2}"},
      {"GRU", "f32 10x2x8, w f32 1x48x8, w f32 1x48x16, w f32 1x96 -> f32 10x1x2x16",
       "hidden_size=16 linear_before_reset=1",
       "recurrent kind=gru_linear_before_reset dtype=f32:f32:f32 sequence=10 batch=2 input=8 hidden=16 directions=1 "
       "bias=yes weights=const {0,1,2,3}"},
      {"RNN", "f32 10x2x8, w f32 1x16x8, w f32 1x16x16 -> f32 10x1x2x16", "hidden_size=16",
       "recurrent kind=rnn_tanh dtype=f32:f32:f32 sequence=10 batch=2 input=8 hidden=16 directions=1 bias=no "
       "weights=const {0,1,2}"},
      {"RNN", "f32 10x2x8, w f32 2x16x8, w f32 2x16x16 -> f32 10x2x2x16",
       "hidden_size=16 direction=bidirectional activations={Relu;Relu}",
       "recurrent kind=rnn_relu dtype=f32:f32:f32 sequence=10 batch=2 input=8 hidden=16 directions=2 bias=no "
       "weights=const {0,1,2}"},
      {"RNN", "f32 10x2x8, w f32 1x16x8, w f32 1x16x16 -> f32 10x1x2x16", "activations={Affine}",
       "unknown: no recurrent workload has the activation 'Affine'"},
      {"LSTM", "f32 10x2x8, w f32 1x64x9, w f32 1x64x16 -> f32 10x1x2x16", "hidden_size=16",
       "unknown: weights of 1x64x9 and 1x64x16 do not fit 16 hidden elements over an input of 10x2x8"},
      {"com.microsoft.DynamicQuantizeLSTM",
       "f32 10x2x8, w s8 1x8x64, w s8 1x16x64, w f32 1x128, -, -, -, -, w f32 1, w s8 1, w f32 1, w s8 1 -> f32 "
       "10x1x2x16",
       "hidden_size=16",
       "recurrent kind=lstm dtype=f32:s8:f32 sequence=10 batch=2 input=8 hidden=16 directions=1 bias=yes weights=const "
       "{0,1,2,3}"},
  });
}

}  // namespace
}  // namespace infimum
