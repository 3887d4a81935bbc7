// The forms of emitted cuDNN sources are those of the enumerator and the runner: the same suffixes and layouts in the
// same order, so that candidates have the same names.
#include "src/emit/cudnn_forms.h"

#include <gtest/gtest.h>

#include "microbench/cuda/cudnn_form.h"
#include "tests/support/random_layer.h"

namespace infimum {
namespace {

void ExpectTheRunnersForms(const Workload& workload) {
  SCOPED_TRACE(Format(workload));
  const auto wanted = cuda::FormsOf(workload, NativeContract(workload), CandidateTier::kEngine);
  const emit::CudnnForms found = emit::FormsOf(workload);
  ASSERT_EQ(found.forms.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const emit::CudnnForms::Form& form = found.forms[i];
    EXPECT_EQ(form.suffix, cuda::Suffix(workload, wanted[i]));
    EXPECT_EQ(form.layouts, cuda::InputLayouts(workload, wanted[i]) + "->" + cuda::OutputLayout(workload, wanted[i]));
    EXPECT_EQ(form.half_sums, wanted[i].half_sums);
    EXPECT_EQ(form.channel_multiple, wanted[i].channel_multiple);
  }
}

TEST(CudnnForms, AreTheRunners) {
  testing::RandomLayers random(3);
  for (int i = 0; i < 3000; ++i) ExpectTheRunnersForms(random.Either());
  ExpectTheRunnersForms(
      *ParseWorkload("convolution dtype=f16:f16:f16 in=1x3x224x224 out_channels=64 kernel=7x7 stride=2x2 dilation=1x1 "
                     "pad=3,3,3,3 groups=1 bias=yes weights=const"));
  ExpectTheRunnersForms(*ParseWorkload("matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=column weights=const"));
}

TEST(CudnnForms, AreShortAsText) {
  EXPECT_EQ(emit::FormText({"/acc=f16/pad=8", "acdb->acdb", "ChannelsLast", true, 8}),
            "{.suffix = \"/acc=f16/pad=8\", .layouts = \"acdb->acdb\", .layout = ChannelsLast, "
            ".sums = fe::DataType_t::HALF, .channel_multiple = 8}");
  EXPECT_EQ(emit::FormText({"", "ab->ab", "RowMajor"}), "{.layouts = \"ab->ab\"}");
}

}  // namespace
}  // namespace infimum
