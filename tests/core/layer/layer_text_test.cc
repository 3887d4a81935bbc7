#include <gtest/gtest.h>

#include <map>

#include "infimum/layer/layer_config.h"
#include "tests/support/random_layer.h"

namespace infimum::layer_text_test {
namespace {

std::string ErrorOf(std::string_view text) {
  const Result<LayerConfig> config = ParseLayerConfig(text);
  return config.ok() ? "(no error)" : config.error().message;
}

TEST(LayerText, ParsingAFormattedLayerGivesItBack) {
  testing::RandomLayers random(51);
  std::map<std::string_view, int> families;
  for (int i = 0; i < 20000; ++i) {
    const LayerConfig config = random.Layer();
    const std::string text = Format(config);
    const Result<LayerConfig> parsed = ParseLayerConfig(text);
    ASSERT_TRUE(parsed.ok()) << text << "\n" << parsed.error().message;
    ASSERT_EQ(*parsed, config) << text;
    ++families[FamilyOf(config)];
  }
  EXPECT_EQ(families.size(), std::variant_size_v<LayerConfig>);
}

// Every text that stands in a header, in the documents or in a shared database stays as it is.
TEST(LayerText, CanonicalTextsNeverChange) {
  for (const char* text : {
           "convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 "
           "pad=1,1,1,1 groups=1 bias=no weights=const",
           "convolution dtype=f16:f16:f16 in=1x64x56 out_channels=64 kernel=2 stride=2 dilation=1 pad=0,0 groups=1 "
           "bias=yes weights=variable transposed=yes output_pad=1",
           "matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x3072 bias=column weights=const",
           "pooling kind=max dtype=f32:-:f32 in=1x64x112x112 out=1x64x56x56 kernel=3x3 stride=2x2 dilation=1x1 "
           "pad=1,1,1,1",
           "normalization kind=layer dtype=f32:f32:f32 in=128x768 axis=1 scale=yes bias=yes",
           "normalization kind=batch dtype=f32:f32:f32 in=1x64x112x112 axis=1 scale=yes bias=yes",
           "normalization kind=group dtype=f32:f32:f32 in=1x64x32x32 axis=1 groups=8 scale=yes bias=yes",
           "softmax kind=softmax dtype=f32:-:f32 in=1536x128x1 axis=1",
           "pointwise kind=relu dtype=f32:-:f32 in=802816",
           "pointwise kind=add dtype=f32:f32:f32 in=128x768,768",
           "pointwise kind=where dtype=f32:bool:f32 in=12x128x128,12x128x128,1",
           "pointwise kind=relu dtype=f32:-:f32 in=scalar",
           "reduction kind=mean dtype=f32:-:f32 in=1280x49 axes=1",
           "scan kind=sum dtype=f32:-:f32 in=64x1000x1 axis=1",
           "sort kind=topk dtype=f32:-:f32 in=8x1000x1 axis=1 k=5",
           "recurrent kind=lstm dtype=f32:f32:f32 sequence=64 batch=1 input=256 hidden=512 directions=2 bias=yes "
           "weights=const",
           "attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=causal",
           "resample kind=linear dtype=f32:-:f32 in=1x256x10x10 out=1x256x20x20",
           "movement kind=transpose dtype=f32:-:f32 in=128x12x64 out=12x128x64 perm=1,0,2",
           "movement kind=concat dtype=f32:-:f32 in=1x64x3136,1x32x3136 out=1x96x3136 axis=1",
           "movement kind=gather dtype=f32:s64:f32 in=30522x768 out=128x768 axis=0 indices=128",
           "movement kind=fill dtype=-:-:f32 in=- out=128",
           "reorder dtype=f32:-:f32 in=1x64x56x56 from=nchw to=nChw8c",
       }) {
    const Result<LayerConfig> config = ParseLayerConfig(text);
    ASSERT_TRUE(config.ok()) << text << "\n" << config.error().message;
    EXPECT_EQ(Format(*config), text);
  }
}

TEST(LayerText, FieldsMayBeTypedInAnyOrderAndAreWrittenInOne) {
  const Result<LayerConfig> config = ParseLayerConfig("pointwise in=64 dtype=f32:-:f32 kind=relu");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(Format(*config), "pointwise kind=relu dtype=f32:-:f32 in=64");
}

TEST(LayerText, ErrorsGiveTheColumnTheReasonAndTheRemedy) {
  EXPECT_EQ(ErrorOf(""), "1: expected a layer, such as 'pointwise kind=relu dtype=f32:-:f32 in=64'");
  EXPECT_EQ(ErrorOf("convoluton in=1"), "1: unknown layer family 'convoluton', did you mean 'convolution'?");
  EXPECT_EQ(ErrorOf("teapot"), "1: unknown layer family 'teapot'");
  EXPECT_EQ(ErrorOf("convolution in=1x1x1 strid=1"),
            "22: unknown field 'strid' for convolution, did you mean 'stride'?");
  EXPECT_EQ(ErrorOf("pointwise kind=relu in=1 in=2"), "26: a second field 'in', remove one of them");
  EXPECT_EQ(ErrorOf("pointwise kind=relu"), "20: field 'dtype' of pointwise is missing, add it");
  EXPECT_EQ(ErrorOf("pointwise"), "10: field 'kind' of pointwise is missing, add it");
  EXPECT_EQ(ErrorOf("pointwise "), "11: a field is missing here, write name=value with single spaces between");
  EXPECT_EQ(ErrorOf("pointwise  kind=relu"),
            "11: a field is missing here, write name=value with single spaces between");
  EXPECT_EQ(ErrorOf("pointwise relu"), "11: expected name=value, not 'relu'");
  EXPECT_EQ(ErrorOf("pointwise kind=reluu dtype=f32:-:f32 in=1"), "16: unknown name 'reluu', did you mean 'relu'?");
  EXPECT_EQ(ErrorOf("pointwise kind=zzz dtype=f32:-:f32 in=1"), "16: unknown name 'zzz'");
  EXPECT_EQ(ErrorOf("scan kind=max dtype=f32:-:f32 in=1 axis=0"), "11: unknown name 'max', it must be sum or product");
  EXPECT_EQ(ErrorOf("pointwise kind=relu dtype=f32 in=1"),
            "27: 'f32' is not a triple of element types, write input:weights:output as in f32:f32:f32");
  EXPECT_EQ(ErrorOf("pointwise kind=relu dtype=f32:-:f33 in=1"),
            "27: 'f33' is not an element type, write f32, f16, bf16, s8, u8, s32, s64, bool ... or '-' for none");
  EXPECT_EQ(ErrorOf("pointwise kind=relu dtype=f32:-:f32 in=1xx2"),
            "40: '1xx2' is not a shape, write one like 1x64x56x56, or scalar");
  EXPECT_EQ(ErrorOf("scan kind=sum dtype=f32:-:f32 in=4 axis=1e3"), "41: '1e3' is not a 64-bit integer");
  EXPECT_EQ(ErrorOf("reduction kind=sum dtype=f32:-:f32 in=4 axes="),
            "46: '' is not a list of 64-bit integers, write one like 1,1,1,1");
  EXPECT_EQ(ErrorOf("reorder dtype=f32:-:f32 in=4 from=a/b to=c"),
            "35: 'a/b' is not a name of 1 to 64 letters, digits and underscores");
  EXPECT_EQ(ErrorOf("normalization kind=layer dtype=f32:-:f32 in=4 axis=0 scale=true bias=no"),
            "60: 'true' is neither yes nor no");
}

TEST(LayerText, WhatDoesNotFitTogetherIsRefusedAtItsStart) {
  EXPECT_EQ(ErrorOf("pointwise kind=add dtype=f32:f32:f32 in=3,4"), "1: in: shapes '3' and '4' do not broadcast");
  EXPECT_EQ(ErrorOf("softmax kind=softmax dtype=f32:-:f32 in=4x5 axis=2"), "1: axis holds 2, it must be from 0 to 1");
}

}  // namespace
}  // namespace infimum::layer_text_test
