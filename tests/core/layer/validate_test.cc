// What is refused before any count is made of it; more cases are in layer_texts.txt.
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
  EXPECT_EQ(Convolution("groups=0"), "1: groups holds 0, it must be from 1 to 140737488355328");
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

TEST(Validate, ConvolutionsWhoseCountsWouldNotBeExactAreRefused) {
  EXPECT_EQ(Convolution("in=1x1x16777217x1"),
            "1: a spatial extent of in holds 16777217, it must be from 1 to 16777216");
  EXPECT_EQ(Convolution("pad=9223372036854775807,1,9223372036854775807,1"),
            "1: pad holds 9223372036854775807, it must be from -16777216 to 16777216");
  EXPECT_EQ(Convolution("in=1x1x16777216x16 stride=16777216x1 transposed=yes"),
            "1: a spatial extent of the output holds 281474959933441, it must be from 1 to 16777216");
  EXPECT_EQ(Convolution("out_channels=140737488355328"),
            "1: the weights' shape: shape '140737488355328x8x3x3' has more than 140737488355328 elements");
  EXPECT_EQ(Convolution("in=1x1x1024x1024 out_channels=134217728 pad=2,2,2,2"),
            "1: the output's shape: shape '1x134217728x1026x1026' has more than 140737488355328 elements");
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
