#include "src/app/model_report/emitted_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace infimum {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kConvolution =
    "convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
    "groups=1 bias=no weights=const";

TEST(EmittedLayer, IsTheLayersOwnFileByTheLibraryOfItsBestCandidate) {
  const std::vector<std::string> candidates = {"infimum/copy:stream", "onednn/brgconv:avx512_core"};
  const Result<EmittedLayer> emitted = EmitLayer(kConvolution, candidates, std::nullopt);
  ASSERT_TRUE(emitted.ok()) << emitted.error().message;
  EXPECT_EQ(emitted->library, "onednn");
  EXPECT_THAT(emitted->file_name, StartsWith("onednn_convolution_f32_1x64x56x56"));
  EXPECT_THAT(emitted->text, HasSubstr("in=1x64x56x56 out_channels=64 kernel=3x3"));
  EXPECT_THAT(emitted->text, HasSubstr(".out_channels = 64,"));
  const std::string stem = emitted->file_name.substr(0, emitted->file_name.size() - 3);
  EXPECT_EQ(emitted->CommandInto(), "infimum emit --layer '" + std::string(kConvolution) + "' -o " + stem);

  const std::vector<std::string> of_gpu = {"cudnn-graph/eng62"};
  const Result<EmittedLayer> cudnn = EmitLayer(kConvolution, of_gpu, NumericContract::kTf32);
  ASSERT_TRUE(cudnn.ok()) << cudnn.error().message;
  EXPECT_THAT(cudnn->file_name, StartsWith("cudnn_convolution"));
  EXPECT_THAT(cudnn->CommandInto("there"), HasSubstr(" --library cudnn --contract tf32 -o there"));
}

TEST(EmittedLayer, WhatHasNoSourceSaysWhy) {
  const std::vector<std::string> none, own = {"infimum/copy:stream"}, any = {"onednn/gemm:jit"};
  EXPECT_EQ(EmitLayer(kConvolution, none, std::nullopt).error().message, "none of its candidates was measured");
  EXPECT_THAT(EmitLayer(kConvolution, own, std::nullopt).error().message,
              HasSubstr("infimum/copy:stream is from a library that emit does not support"));
  EXPECT_FALSE(EmitLayer("convolution nonsense", any, std::nullopt).ok());
}

}  // namespace
}  // namespace infimum
