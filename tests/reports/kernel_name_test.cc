#include <gtest/gtest.h>

#include "reports/text/layer_words.h"

namespace infimum {
namespace {

TEST(KernelName, LosesWhatEveryNameHas) {
  EXPECT_EQ(ShortKernelName("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
                            "float>(int, float, c10::BFloat16 const*)",
                            72),
            "vectorized_layer_norm_kernel<BFloat16, float>");
  EXPECT_EQ(ShortKernelName("void cutlass::Kernel2<cutlass_80_gemm_align8>(cutlass_80_gemm_align8::Params)", 72),
            "Kernel2<cutlass_80_gemm_align8>");
  EXPECT_EQ(ShortKernelName("sm90_xmma_gemm_bf16_cublas", 72), "sm90_xmma_gemm_bf16_cublas");
  EXPECT_EQ(ShortKernelName("Memcpy HtoD (Pinned -> Device)", 72), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(ShortKernelName("", 72), "");
  EXPECT_EQ(ShortKernelName("(", 72), "(");
}

TEST(KernelName, KeepsBothEndsOfALongOne) {
  const std::string text = ShortKernelName("Cijk_Alik_Bljk_B_" + std::string(200, 'x') + "_MT64x32x128", 40);
  EXPECT_EQ(text.size(), 40u);
  EXPECT_TRUE(text.starts_with("Cijk_Alik"));
  EXPECT_TRUE(text.ends_with("MT64x32x128"));
}

}  // namespace
}  // namespace infimum
