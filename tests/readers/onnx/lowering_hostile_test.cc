// What a file may contain and no operator allows: the answer is a reason that names it, never a crash. More cases are
// in lowering/hostile.txt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "infimum/base/text.h"
#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringHostile, DimensionsThatNoTensorHasAreNamed) {
  for (const std::int64_t dim : {std::int64_t{-1}, kMaxElements + 1, std::int64_t{1} << 62}) {
    TestNode node("Relu (f32 8 -> f32 8)");
    node.inputs()[0]->shape = node.Keep(Shape{{0, dim}});
    const Lowering lowering = Lower(node.View());
    EXPECT_EQ(lowering.status, LayerStatus::kUnknown) << dim;
    EXPECT_THAT(lowering.reason, ::testing::StartsWith("'x': ")) << dim;
  }
}

TEST(LoweringHostile, TextFromTheFileIsEscapedInReasons) {
  TestNode node("Conv (f32 1x3x8x8, w f32 4x3x3x3 -> f32 1x4x6x6)");
  node.attributes()["auto_pad"] = std::string("a\nb\x01");
  const std::string reason = Lower(node.View()).reason;
  EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
  EXPECT_EQ(reason.find('\x01'), std::string::npos) << reason;
}

TEST(LoweringHostile, EveryOperatorSurvivesNodesMadeAtRandom) {
  std::mt19937 random(11);
  const std::vector<std::string_view> ops = Split(
      "Conv ConvTranspose DeformConv MaxPool Gemm MatMul Einsum LSTM BatchNormalization Softmax Add Where ReduceSum "
      "TopK CumSum Transpose Concat Split Pad Gather GatherND ScatterND Resize Attention RotaryEmbedding "
      "com.microsoft.Attention com.microsoft.MultiHeadAttention com.microsoft.GroupQueryAttention "
      "com.microsoft.EmbedLayerNormalization com.microsoft.MatMulNBits",
      ' ');
  const char* const kOperands[] = {"f32 1x3x8x8",        "f32 4x8", "w f32 4x3x3x3", "f32",     "-",
                                   "s64 2=[1,-9]",       "f32 ?",   "bool 2x2",      "f32 0x4", "w s8 64x64",
                                   "f32 1x1x1x1x1x1x1x1"};
  for (int i = 0; i < 6000; ++i) {
    std::string operands;
    for (std::size_t j = random() % 6; j > 0; --j)
      operands += (operands.empty() ? "" : ", ") + std::string(kOperands[random() % std::size(kOperands)]);
    operands += " -> f32 4x8, f32 ?";
    TestNode node(std::string(ops[random() % ops.size()]) + " (" + operands + ")");
    for (int j = 0; j < 6; ++j) Damage(node, random);
    ExpectSound(Lower(node.View()));
    if (HasFailure()) FAIL() << operands;
  }
}

}  // namespace
}  // namespace infimum
