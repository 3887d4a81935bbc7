#include "analyzer/trace/traced_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::vector<std::int64_t>> DimsOf(std::string_view shapes) {
  std::vector<std::vector<std::int64_t>> dims;
  for (const ProfiledTensor& tensor : TensorsOf(shapes)) dims.push_back(tensor.dims);
  return dims;
}

using Dims = std::vector<std::int64_t>;

TEST(TracedOperators, ShapesAreListsOfExtents) {
  EXPECT_THAT(DimsOf("[[1,64,56,56],[64],[]]"), ElementsAre(Dims{1, 64, 56, 56}, Dims{64}, Dims{}));
  EXPECT_THAT(DimsOf("[\n  [ 4, 3 ],\n []\n]"), ElementsAre(Dims{4, 3}, Dims{}));
  // The tensors of aten::cat stand in a list of their own.
  EXPECT_THAT(DimsOf("[[[4,1,768],[4,196,768]],[]]"), ElementsAre(Dims{4, 1, 768}, Dims{4, 196, 768}, Dims{}));
  EXPECT_THAT(DimsOf("[]"), IsEmpty());
  EXPECT_THAT(DimsOf(""), IsEmpty());
}

TEST(TracedOperators, WhatIsNoListOfExtentsGivesNone) {
  for (const char* text :
       {"[[1,2]", "]", "[[1],x]", "[[-1]]", "[[1.5]]", "[[99999999999999999999999]]", "[[1,[2]]]x", "1", "[[1,[2],3]]"})
    EXPECT_THAT(DimsOf(text), IsEmpty()) << text;
}

TEST(TracedOperators, NoTextCrashes) {
  std::mt19937_64 random(7);
  constexpr std::string_view kLetters = "[[[]]],, 019x";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t i = random() % 24; i > 0; --i) text += kLetters[random() % kLetters.size()];
    for (const ProfiledTensor& tensor : TensorsOf(text))
      for (const std::int64_t dim : tensor.dims) ASSERT_GE(dim, 0) << text;
    ParseTracedName(text);
    KernelClass(text);
  }
}

TEST(TracedOperators, RangesOfEmitNvtxAreOperators) {
  const TracedName linear =
      ParseTracedName("aten::linear, seq = 5, op_id = 12, sizes = [[4, 197], [8, 197]], input_op_ids = [[3,0]]");
  EXPECT_EQ(linear.op, "aten::linear");
  EXPECT_EQ(linear.shapes, "[[4, 197], [8, 197]]");
  EXPECT_TRUE(linear.is_operator);
  EXPECT_EQ(linear.kind, OperatorKind::kProduct);
  EXPECT_TRUE(ParseTracedName("aten::empty").is_operator);
  EXPECT_FALSE(ParseTracedName("encoder").is_operator);
  EXPECT_FALSE(ParseTracedName("encoder: layer 3").is_operator);
}

TEST(TracedOperators, AProductOfABackwardPassIsNoLayer) {
  EXPECT_TRUE(ParseTracedName("autograd::engine::evaluate_function: AddmmBackward0").is_backward);
  EXPECT_TRUE(ParseTracedName("CudnnConvolutionBackward").is_backward);
  EXPECT_EQ(ParseTracedName("aten::convolution_backward").kind, OperatorKind::kOther);
  EXPECT_TRUE(ParseTracedName("torch::autograd::AccumulateGrad").is_backward);
  EXPECT_FALSE(ParseTracedName("aten::convolution").is_backward);
}

TEST(TracedOperators, AKernelIsItsFunction) {
  EXPECT_EQ(KernelClass("void at::native::(anonymous namespace)::vectorized_layer_norm<float>(int, float*)"),
            "at::native::(anonymous namespace)::vectorized_layer_norm");
  EXPECT_EQ(KernelClass("volta_sgemm_64x32_nn"), "volta_sgemm_64x32_nn");
  EXPECT_EQ(KernelClass("Memcpy HtoD (Pinned -> Device)"), "Memcpy HtoD");
  EXPECT_EQ(KernelClass("<unnamed>::f<int>(int)"), "<unnamed>::f");
  EXPECT_EQ(KernelClass(""), "");
}

}  // namespace
}  // namespace infimum
