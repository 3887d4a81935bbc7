// What is refused before any count is made of it.
#include <gtest/gtest.h>

#include "infimum/layer/layer_config.h"

namespace infimum {
namespace {

std::string Verdict(const std::string& text) {
  const Result<LayerConfig> config = ParseLayerConfig(text);
  return config.ok() ? "valid" : config.error().message;
}

std::string Convolution(const std::string& changed) {
  std::string text = "convolution";
  const std::pair<std::string, std::string> fields[] = {
      {"dtype", "f32:f32:f32"}, {"in", "1x8x16x16"}, {"out_channels", "8"}, {"kernel", "3x3"}, {"stride", "1x1"},
      {"dilation", "1x1"},      {"pad", "1,1,1,1"},  {"groups", "1"},       {"bias", "no"},    {"weights", "const"}};
  for (const auto& [name, value] : fields)
    if (!changed.starts_with(name + "=") && changed.find(" " + name + "=") == std::string::npos)
      text += " " + name + "=" + value;
  return Verdict(text + (changed.empty() ? "" : " " + changed));
}

TEST(Validate, ConvolutionsMustBeConsistent) {
  EXPECT_EQ(Convolution(""), "valid");
  EXPECT_EQ(Convolution("in=1x8"), "1: in=1x8 is not batch x channels x one to three spatial dimensions");
  EXPECT_EQ(Convolution("kernel=3"), "1: kernel='3' has 1 dimensions, but there are 2 spatial ones");
  EXPECT_EQ(Convolution("kernel=0x3"), "1: kernel holds 0, it must be from 1 to 16777216");
  EXPECT_EQ(Convolution("stride=0x1"), "1: stride holds 0, it must be from 1 to 16777216");
  EXPECT_EQ(Convolution("pad=1,1"), "1: pad has 2 numbers, write all begins, then all ends: 4");
  EXPECT_EQ(Convolution("groups=3"), "1: groups=3 does not divide 8 channels and 8 out_channels");
  EXPECT_EQ(Convolution("groups=0"), "1: groups holds 0, it must be from 1 to 1099511627776");
  EXPECT_EQ(
      Convolution("kernel=19x3"),
      "1: the output has no elements: kernel=19x3 with its dilation is larger than in=1x8x16x16 with its padding");
  EXPECT_EQ(Convolution("kernel=18x3"), "valid");
  EXPECT_EQ(Convolution("pad=-8,-8,-8,-8"),
            "1: the output has no elements: kernel=3x3 with its dilation is larger than in=1x8x16x16 with its padding");
  EXPECT_EQ(Convolution("dtype=f32:-:f32"), "1: dtype has no type for the second operand, write it between the ':'");
  EXPECT_EQ(Convolution("output_pad=1,1"),
            "1: output_pad belongs to transposed convolutions, remove it or add transposed=yes");
  EXPECT_EQ(Convolution("output_pad=1 transposed=yes"), "1: output_pad has 1 numbers, write 2");
  EXPECT_EQ(Convolution("in=1x8x0x16"),
            "1: in=1x8x0x16 has no elements: such a layer costs nothing and is not measured");
}

TEST(Validate, CountsThatWouldNotBeExactAreRefused) {
  EXPECT_EQ(Convolution("in=1x1x16777217x1"),
            "1: a spatial extent of in holds 16777217, it must be from 1 to 16777216");
  EXPECT_EQ(Convolution("pad=9223372036854775807,1,9223372036854775807,1"),
            "1: pad holds 9223372036854775807, it must be from -16777216 to 16777216");
  EXPECT_EQ(Convolution("in=1x1x16777216x16 stride=16777216x1 transposed=yes"),
            "1: a spatial extent of the output holds 281474959933441, it must be from 1 to 16777216");
  EXPECT_EQ(Convolution("out_channels=1099511627776"),
            "1: the weights' shape: shape '1099511627776x8x3x3' has more than 1099511627776 elements");
  EXPECT_EQ(Convolution("in=1x1x1024x1024 out_channels=1048576 pad=2,2,2,2"),
            "1: the output's shape: shape '1x1048576x1026x1026' has more than 1099511627776 elements");
  EXPECT_EQ(Verdict("matmul dtype=f32:f32:f32 a=1x1048576x1048576 b=1x1048576x1048576 bias=no weights=const"), "valid");
  EXPECT_EQ(Verdict("matmul dtype=f32:f32:f32 a=2x524288x1048576 b=1x1048576x1048576 bias=no weights=const"), "valid");
  EXPECT_EQ(Verdict("attention dtype=f16:-:f16 n=1048576 heads=1 kv_heads=1 q=16384 kv=16384 head=64 mask=no"),
            "valid");
  EXPECT_EQ(Verdict("attention dtype=f16:-:f16 n=1 heads=1 kv_heads=1 q=1099511627776 kv=1099511627776 head=1 mask=no"),
            "1: the layer has 2^62 operations or more, which no exact count here can hold");
  EXPECT_EQ(Verdict("recurrent kind=lstm dtype=f32:f32:f32 sequence=1048576 batch=1048576 input=1 hidden=1048576 "
                    "directions=2 bias=no weights=const"),
            "1: r's shape: shape '2x4194304x1048576' has more than 1099511627776 elements");
  EXPECT_EQ(
      Verdict("normalization kind=lrn dtype=f32:-:f32 in=1099511627776 axis=0 size=1099511627776 scale=no bias=no"),
      "1: the layer has 2^62 operations or more, which no exact count here can hold");
}

TEST(Validate, TheLargestWindowsAreCheckedInTime) {
  EXPECT_EQ(Verdict("convolution dtype=f32:f32:f32 in=1x1x16777216 out_channels=1 kernel=8388608 stride=3 dilation=2 "
                    "pad=16777216,16777216 groups=1 bias=no weights=const"),
            "valid");
  EXPECT_EQ(Verdict("pooling kind=max dtype=f32:-:f32 in=1x1x16777216 out=1x1x1 kernel=16777216 stride=16777216 "
                    "dilation=1 pad=0,0"),
            "valid");
}

TEST(Validate, APoolingsOutputIsRoundedDownOrUp) {
  const auto pooling = [](const std::string& out) {
    return Verdict("pooling kind=max dtype=f32:-:f32 in=1x64x112x112 out=1x64x" + out +
                   " kernel=3x3 stride=2x2 dilation=1x1 pad=0,0,0,0");
  };
  EXPECT_EQ(pooling("55x55"), "valid");
  EXPECT_EQ(pooling("56x56"), "valid");
  EXPECT_EQ(pooling("57x56"),
            "1: out=1x64x57x56 does not fit the window in spatial dimension 0, it must be from 55 to 56 there");
  EXPECT_EQ(pooling("55x54"),
            "1: out=1x64x55x54 does not fit the window in spatial dimension 1, it must be from 55 to 56 there");
}

TEST(Validate, FieldsOfOtherKindsAreRefused) {
  EXPECT_EQ(Verdict("normalization kind=layer dtype=f32:-:f32 in=4x8 axis=1 groups=2 scale=no bias=no"),
            "1: groups belongs to kind=group, remove it");
  EXPECT_EQ(Verdict("normalization kind=lrn dtype=f32:f32:f32 in=4x8 axis=1 size=5 scale=yes bias=no"),
            "1: kind=lrn has neither scale nor bias, write scale=no bias=no");
  EXPECT_EQ(Verdict("movement kind=copy dtype=f32:-:f32 in=4 out=4 axis=0"),
            "1: axis does not belong to kind=copy, remove it");
  EXPECT_EQ(Verdict("movement kind=copy dtype=f32:-:f16 in=4 out=4"),
            "1: a movement keeps the element type, use pointwise kind=cast to change f32 into f16");
  EXPECT_EQ(Verdict("attention dtype=f16:bool:f16 n=1 heads=1 kv_heads=1 q=1 kv=1 head=1 mask=no"),
            "1: dtype has a type for a mask that is not an operand: write '-' between the ':', or mask=full");
  EXPECT_EQ(Verdict("pointwise kind=relu dtype=f32:f32:f32 in=4"),
            "1: dtype has a type for a second operand, which this layer does not have: write '-' between the ':'");
  EXPECT_EQ(Verdict("pointwise kind=relu dtype=f32:f32:f32 in=4,4"), "1: kind=relu takes 1 operands, in has 2");
  EXPECT_EQ(Verdict("pointwise kind=less dtype=f32:f32:f32 in=4,4"),
            "1: kind=less gives bool, write it after the second ':' of dtype");
}

TEST(Validate, MovementsMustAgreeWithTheirShapes) {
  const auto movement = [](const std::string& fields) { return Verdict("movement " + fields); };
  EXPECT_EQ(movement("kind=transpose dtype=f32:-:f32 in=2x3 out=3x2 perm=1,1"),
            "1: kind=transpose in=2x3 out=3x2: perm must name each dimension of in once");
  EXPECT_EQ(movement("kind=transpose dtype=f32:-:f32 in=2x3 out=2x3 perm=1,0"),
            "1: kind=transpose in=2x3 out=2x3: out is not in permuted by perm=1,0");
  EXPECT_EQ(movement("kind=concat dtype=f32:-:f32 in=2x3,2x4 out=2x8 axis=1"),
            "1: kind=concat in=2x3,2x4 out=2x8: the pieces do not add up to the whole");
  EXPECT_EQ(movement("kind=concat dtype=f32:-:f32 in=2x3,1x4 out=2x7 axis=1"),
            "1: kind=concat in=2x3,1x4 out=2x7: the pieces and the whole differ outside of the axis");
  EXPECT_EQ(movement("kind=expand dtype=f32:-:f32 in=2x3 out=4x3"),
            "1: kind=expand in=2x3 out=4x3: in does not broadcast to out");
  EXPECT_EQ(movement("kind=gather dtype=f32:s64:f32 in=2x3 out=4x3 axis=0"),
            "1: indices holds 0, it must be from 1 to 1099511627776");
  EXPECT_EQ(movement("kind=copy dtype=f32:-:f32 in=- out=4"), "1: kind=copy takes 1 inputs, in has 0");
}

TEST(Operands, StandInTheOrderOfTheHeaders) {
  const Result<LayerConfig> convolution = ParseLayerConfig(
      "convolution dtype=u8:s8:s32 in=1x8x4x4 out_channels=6 kernel=3x1 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=2 "
      "bias=yes weights=const");
  ASSERT_TRUE(convolution.ok()) << convolution.error().message;
  EXPECT_EQ(OperandsOf(*convolution), (std::vector<Operand>{{Shape{{1, 8, 4, 4}}, DataType::kU8, false},
                                                            {Shape{{6, 4, 3, 1}}, DataType::kS8, true},
                                                            {Shape{{6}}, DataType::kS32, true}}));
  EXPECT_EQ(OutputsOf(*convolution), (std::vector<Operand>{{Shape{{1, 6, 2, 4}}, DataType::kS32, false}}));

  const Result<LayerConfig> where = ParseLayerConfig("pointwise kind=where dtype=f32:bool:f32 in=3,1,2x1");
  ASSERT_TRUE(where.ok()) << where.error().message;
  EXPECT_EQ(OperandsOf(*where), (std::vector<Operand>{{Shape{{3}}, DataType::kBool, false},
                                                      {Shape{{1}}, DataType::kF32, false},
                                                      {Shape{{2, 1}}, DataType::kF32, false}}));
  EXPECT_EQ(OutputsOf(*where)[0].shape, (Shape{{2, 3}}));
}

}  // namespace
}  // namespace infimum
