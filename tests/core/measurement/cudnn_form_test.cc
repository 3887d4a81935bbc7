#include "src/core/measurement/cudnn_form.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/parsed_workload.h"

namespace infimum::cuda {
namespace {

const char* const kConvolution =
    "convolution dtype=f16:f16:f16 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
    "groups=1 bias=no weights=const";

TEST(CudnnForm, OfAConvolutionBothOrdersAndBothSums) {
  const std::vector<CudnnForm> forms =
      FormsOf(testing::ParsedWorkload(kConvolution), NumericContract::kF16, CandidateTier::kEngine);
  const std::vector<CudnnForm> expected{{true, false, 1}, {false, false, 1}, {true, true, 1}, {false, true, 1}};
  EXPECT_EQ(forms, expected);
  EXPECT_EQ(FormsOf(testing::ParsedWorkload(kConvolution), NumericContract::kF16, CandidateTier::kHeuristic).size(),
            1u);
}

TEST(CudnnForm, ChannelsAreFilledUpToWhatTensorCoresTake) {
  const Workload first = testing::ParsedWorkload(
      "convolution dtype=f16:f16:f16 in=1x3x224x224 out_channels=64 kernel=7x7 stride=2x2 dilation=1x1 pad=3,3,3,3 "
      "groups=1 bias=no weights=const");
  const std::vector<CudnnForm> forms = FormsOf(first, NumericContract::kF16, CandidateTier::kEngine);
  EXPECT_EQ(forms.back(), (CudnnForm{true, false, 8}));
  EXPECT_EQ(Suffix(first, forms.back()), "/pad=8");
  // Of groups each would have to be filled up.
  const Workload grouped = testing::ParsedWorkload(
      "convolution dtype=f16:f16:f16 in=1x6x224x224 out_channels=6 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=3 bias=no weights=const");
  for (const CudnnForm& form : FormsOf(grouped, NumericContract::kF16, CandidateTier::kEngine))
    EXPECT_EQ(form.channel_multiple, 1);
}

TEST(CudnnForm, SumsInHalfAreOfHalfProductsAlone) {
  for (const char* types : {"s8:s8:s8", "f32:f32:f32", "bf16:bf16:bf16"}) {
    const Workload product = testing::ParsedWorkload("matmul dtype=" + std::string(types) +
                                                     " a=1x128x768 b=1x768x3072 bias=no weights=const");
    for (const CudnnForm& form : FormsOf(product, NumericContract::kF16, CandidateTier::kEngine))
      EXPECT_FALSE(form.half_sums) << types;
  }
}

TEST(CudnnForm, EachHasItsOwnNameOrLayouts) {
  for (const std::string& text :
       {std::string(kConvolution),
        std::string("matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=no weights=const"),
        std::string("matmul dtype=f16:f16:f16 a=12x128x64 b=12x64x128 bias=no weights=variable"),
        "region [" + std::string(kConvolution) +
            "](in0,w0) ; [pointwise kind=add dtype=f16:f16:f16 in=200704,200704](%0,in1)"}) {
    const Workload workload = testing::ParsedWorkload(text);
    std::set<std::string> names;
    for (const CudnnForm& form : FormsOf(workload, NumericContract::kF16, CandidateTier::kEngine))
      EXPECT_TRUE(
          names.insert(InputLayouts(workload, form) + OutputLayout(workload, form) + Suffix(workload, form)).second)
          << text;
  }
}

TEST(CudnnForm, LayoutsNameEachOperandThatVaries) {
  const Workload region =
      testing::ParsedWorkload(std::string("region [") + kConvolution +
                              "](in0,w0) ; [pointwise kind=add dtype=f16:f16:f16 in=200704,200704](%0,in1)");
  EXPECT_EQ(InputLayouts(region, {true, false, 1}), "acdb,acdb");
  EXPECT_EQ(OutputLayout(region, {false, false, 1}), "abcd");
  const Workload scores =
      testing::ParsedWorkload("matmul dtype=f16:f16:f16 a=12x128x64 b=12x64x128 bias=no weights=variable");
  EXPECT_EQ(InputLayouts(scores, {}), "abc,abc");
  EXPECT_EQ(InputLayouts(testing::ParsedWorkload("pointwise kind=relu dtype=f16:-:f16 in=802816"), {}), "plain");
}

}  // namespace
}  // namespace infimum::cuda
