#include "src/emit/cudnn_forms.h"

#include <gtest/gtest.h>

#include "tests/support/random_layer.h"

namespace infimum {
namespace {

// What an emitted source is not told of a form it takes from the workload: it must then be the same in all of them.
TEST(CudnnForms, SayWhichOfTheirPartsDiffer) {
  testing::RandomLayers random(3);
  for (int i = 0; i < 3000; ++i) {
    const Workload workload = random.Either();
    SCOPED_TRACE(Format(workload));
    const emit::CudnnForms found = emit::FormsOf(workload);
    ASSERT_FALSE(found.forms.empty());
    for (const emit::CudnnForms::Form& form : found.forms) {
      EXPECT_TRUE(found.layouts_vary || form.layout == found.forms[0].layout);
      EXPECT_TRUE(found.sums_vary || !form.half_sums);
      EXPECT_TRUE(found.channels_vary || form.channel_multiple == 1);
      EXPECT_EQ(form.layout == "Transposed", form.suffix.starts_with("/b=transposed"));
    }
  }
}

TEST(CudnnForms, OfAConvolutionWithThreeChannels) {
  const emit::CudnnForms found = emit::FormsOf(
      *ParseWorkload("convolution dtype=f16:f16:f16 in=1x3x224x224 out_channels=64 kernel=7x7 stride=2x2 dilation=1x1 "
                     "pad=3,3,3,3 groups=1 bias=yes weights=const"));
  std::vector<std::string> texts;
  for (const emit::CudnnForms::Form& form : found.forms) texts.push_back(form.layout + form.suffix);
  EXPECT_EQ(texts, (std::vector<std::string>{"ChannelsLast", "RowMajor", "ChannelsLast/acc=f16", "RowMajor/acc=f16",
                                             "ChannelsLast/pad=8"}));
  EXPECT_TRUE(found.layouts_vary && found.sums_vary && found.channels_vary);
}

TEST(CudnnForms, OfAProductLayItsConstantBothWays) {
  const emit::CudnnForms found =
      emit::FormsOf(*ParseWorkload("matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=column weights=const"));
  ASSERT_EQ(found.forms.size(), 2u);
  EXPECT_EQ(found.forms[1].layout, "Transposed");
  EXPECT_TRUE(found.layouts_vary);
  EXPECT_FALSE(found.sums_vary || found.channels_vary);
}

TEST(CudnnForms, AreShortAsText) {
  EXPECT_EQ(emit::FormText({"/acc=f16/pad=8", "acdb->acdb", "ChannelsLast", true, 8}),
            "{.suffix = \"/acc=f16/pad=8\", .layouts = \"acdb->acdb\", .layout = ChannelsLast, "
            ".sums = fe::DataType_t::HALF, .channel_multiple = 8}");
  EXPECT_EQ(emit::FormText({"", "ab->ab", "RowMajor"}), "{.layouts = \"ab->ab\"}");
}

}  // namespace
}  // namespace infimum
