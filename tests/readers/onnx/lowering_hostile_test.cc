// What a file may say and no operator allows: the answer is a reason that names it, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringHostile, AttributesOutOfRangeAreNamed) {
  ExpectLowerings({
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "strides=[-1,1]",
       "unknown: attribute 'strides' is -1, which is out of range"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "strides=[0,0]",
       "unknown: attribute 'strides' is 0, which is out of range"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "kernel_shape=[0,3]",
       "unknown: attribute 'kernel_shape' is 0, which is out of range"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "kernel_shape=[5,5]",
       "unknown: attribute 'kernel_shape' is 5x5 but the weights are 3x3"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "pads=[9223372036854775807,0,0,0]",
       "unknown: attribute 'pads' is 9223372036854775807, which is out of range"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "pads=[1000000000,0,0,0]",
       "unknown: pad holds 1000000000, it must be from -16777216 to 16777216"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "pads=[1,1]",
       "unknown: attribute 'pads' has 2 entries where 4 are needed"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "group=0",
       "unknown: attribute 'group' is 0, which is out of range"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "group=2",
       "unknown: weights of 4x3x3x3 in 2 groups do not fit an input of 1x3x8x8"},
      {"Conv", "f32 1x3x2x2, w f32 4x3x3x3 -> f32 ?", "",
       "unknown: the output has no elements: kernel=3x3 with its dilation is larger than in=1x3x2x2 with its padding"},
      {"MaxPool", "f32 1x3x8x8 -> f32 1x3x4x4", "kernel_shape=[0,0]",
       "unknown: attribute 'kernel_shape' is 0, which is out of range"},
      {"MaxPool", "f32 1x3x8x8 -> f32 1x3x400x4", "kernel_shape=[2,2]",
       "unknown: out=1x3x400x4 does not fit the window in spatial dimension 0, it must be from 7 to 8 there"},
      {"MaxPool", "f32 1x3x8x8 -> f32 1x3x4x4", "", "unknown: attribute 'kernel_shape' is missing"},
      {"LRN", "f32 1x64x8x8 -> f32 1x64x8x8", "size=-5", "unknown: attribute 'size' is -5, which is out of range"},
      {"DepthToSpace", "f32 1x64x8x8 -> f32 1x16x16x16", "blocksize=0",
       "unknown: attribute 'blocksize' is 0, which is out of range"},
      {"GroupNormalization", "f32 1x64x8x8, w f32 64, w f32 64 -> f32 1x64x8x8", "num_groups=7",
       "unknown: groups=7 does not divide 64 channels"},
  });
}

TEST(LoweringHostile, AttributesOfAnotherTypeAreNamed) {
  ExpectLowerings({
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "strides=2",
       "unknown: attribute 'strides' is not a list of integers"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "group=[1]",
       "unknown: attribute 'group' is not an integer"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "auto_pad=1",
       "unknown: attribute 'auto_pad' is not a text"},
      {"Softmax", "f32 2x3 -> f32 2x3", "axis=last", "unknown: attribute 'axis' is not an integer"},
      {"Gemm", "f32 2x3, w f32 3x4 -> f32 2x4", "beta=1", "unknown: attribute 'beta' is not a number"},
      {"RNN", "f32 10x2x8, w f32 1x16x8, w f32 1x16x16 -> f32 10x1x2x16", "activations=Tanh",
       "unknown: attribute 'activations' is not a list of texts"},
  });
}

TEST(LoweringHostile, MissingOperandsAreNamed) {
  ExpectLowerings({
      {"Conv", "f32 1x3x8x8 -> f32 1x4x6x6", "", "unknown: input 1 is missing"},
      {"Conv", "f32 1x3x8x8, - -> f32 1x4x6x6", "", "unknown: input 1 is missing"},
      {"Relu", "-> f32 8", "", "unknown: input 0 is missing"},
      {"Relu", "f32 8 ->", "", "unknown: output 0 is missing"},
      {"Relu", "f32 ? -> f32 ?", "", "unknown: the shape of input 0 ('x') is not known"},
      {"Where", "bool 8, f32 8 -> f32 8", "", "unknown: input 2 is missing"},
      {"Sum", "-> f32 8", "", "unknown: it has no inputs"},
      {"Concat", "-> f32 8", "axis=0", "unknown: it has no inputs"},
      {"Split", "f32 8 ->", "", "unknown: output 0 is missing"},
      {"LSTM", "f32 64x1x256, w f32 2x2048x256 -> f32 64x2x1x512", "", "unknown: input 2 is missing"},
  });
}

TEST(LoweringHostile, ShapesThatCannotBeAreNamed) {
  ExpectLowerings({
      {"Gather", "f32 1099511627776, s64 1099511627776 -> f32 ?", "",
       "movement kind=gather dtype=f32:s64:f32 in=1099511627776 out=1099511627776 axis=0 indices=1099511627776 {0,1}"},
      {"MatMul", "f32 1048576x2, f32 2x2097152 -> f32 ?", "",
       "unknown: shape '1048576x2097152' has more than 1099511627776 elements"},
      {"Conv", "f32 1x3x8x8, w f32 4x3x3 -> f32 1x4x6x6", "",
       "unknown: weights of 4x3x3 do not fit an input of 1x3x8x8"},
      {"Conv", "f32 3x8, w f32 4x3 -> f32 ?", "", "unknown: a convolution over 3x8 has no spatial dimensions"},
      {"Transpose", "f32 3x4 -> f32 ?", "perm=[0,1,2]",
       "unknown: attribute 'perm' is not a permutation of 2 dimensions"},
      {"Transpose", "f32 3x4 -> f32 ?", "perm=[0,9]", "unknown: attribute 'perm' is not a permutation of 2 dimensions"},
      {"Concat", "f32 3, f32 3 -> f32 ?", "axis=5", "unknown: axis 5 does not exist in a tensor of rank 1"},
      {"GatherND", "f32 3, s64 4x2 -> f32 ?", "", "unknown: indices of 4x2 do not fit data of 3"},
      {"ReduceSum", "f32 3x4, w s64 1=[-3] -> f32 ?", "", "unknown: axis -3 does not exist in a tensor of rank 2"},
      {"Attention", "f32 1x2x3x4x5, f32 1, f32 1 -> f32 ?", "",
       "unknown: an input of 1x2x3x4x5 is neither 3-D nor 4-D"},
  });
}

TEST(LoweringHostile, DimensionsThatNoTensorHasAreNamed) {
  for (const std::int64_t dim : {std::int64_t{-1}, kMaxElements + 1, std::int64_t{1} << 62}) {
    TestNode node("Relu", "f32 8 -> f32 8", "");
    node.inputs()[0]->shape = node.Keep(Shape{{0, dim}});
    const Lowering lowering = Lower(node.View());
    EXPECT_EQ(lowering.status, LayerStatus::kUnknown) << dim;
    EXPECT_THAT(lowering.reason, ::testing::StartsWith("'x': ")) << dim;
  }
}

TEST(LoweringHostile, TextFromTheFileIsEscapedInReasons) {
  TestNode node("Conv", "f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6", "");
  node.attributes()["auto_pad"] = std::string("a\nb\x01");
  const std::string reason = Lower(node.View()).reason;
  EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
  EXPECT_EQ(reason.find('\x01'), std::string::npos) << reason;
}

TEST(LoweringHostile, EveryOperatorSurvivesNodesMadeAtRandom) {
  std::mt19937 random(11);
  const char* const kOps[] = {"Conv",
                              "ConvTranspose",
                              "DeformConv",
                              "MaxPool",
                              "Gemm",
                              "MatMul",
                              "Einsum",
                              "LSTM",
                              "BatchNormalization",
                              "Softmax",
                              "Add",
                              "Where",
                              "ReduceSum",
                              "TopK",
                              "CumSum",
                              "Transpose",
                              "Concat",
                              "Split",
                              "Pad",
                              "Gather",
                              "GatherND",
                              "ScatterND",
                              "Resize",
                              "Attention",
                              "RotaryEmbedding",
                              "com.microsoft.Attention",
                              "com.microsoft.MultiHeadAttention",
                              "com.microsoft.GroupQueryAttention",
                              "com.microsoft.EmbedLayerNormalization",
                              "com.microsoft.MatMulNBits"};
  const char* const kOperands[] = {"f32 1x3x8x8",        "f32 4x8", "w f32 4x3x3x3", "f32",     "-",
                                   "s64 2=[1,-9]",       "f32 ?",   "bool 2x2",      "f32 0x4", "w s8 64x64",
                                   "f32 1x1x1x1x1x1x1x1"};
  for (int i = 0; i < 6000; ++i) {
    std::string operands;
    for (std::size_t j = random() % 6; j > 0; --j)
      operands += (operands.empty() ? "" : ", ") + std::string(kOperands[random() % std::size(kOperands)]);
    operands += " -> f32 4x8, f32 ?";
    TestNode node(kOps[random() % std::size(kOps)], operands, "");
    for (int j = 0; j < 6; ++j) Damage(node, random);
    ExpectSound(Lower(node.View()));
    if (HasFailure()) FAIL() << operands;
  }
}

}  // namespace
}  // namespace infimum
