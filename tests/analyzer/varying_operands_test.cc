#include <gtest/gtest.h>

#include "analyzer/rows/measured_rows.h"

namespace infimum::varying_operands_test {
namespace {

ConvolutionConfig Convolution() {
  ConvolutionConfig config;
  config.input = Shape{{1, 64, 8, 8}};
  config.output_channels = 32;
  config.kernel = config.stride = config.dilation = Shape{{1, 1}};
  config.padding = {0, 0, 0, 0};
  return config;
}

PointwiseConfig Sum(const Shape& shape) {
  PointwiseConfig config;
  config.kind = PointwiseKind::kAdd;
  config.inputs = {shape, shape};
  return config;
}

TEST(VaryingOperands, OfALayerAreItsInputsWithoutWeights) {
  const VaryingOperands varying = VaryingOperandsOf(LayerConfig(Convolution()));
  ASSERT_EQ(varying.reads.size(), 1u);
  EXPECT_EQ(varying.reads[0].place, 0u);
  EXPECT_EQ(varying.reads[0].shape, (Shape{{1, 64, 8, 8}}));
  ASSERT_EQ(varying.writes.size(), 1u);
  EXPECT_EQ(varying.writes[0], (Shape{{1, 32, 8, 8}}));
  EXPECT_FALSE(varying.keeps_layout);
  EXPECT_TRUE(VaryingOperandsOf(LayerConfig(Sum(Shape{{4, 4}}))).keeps_layout);
}

TEST(VaryingOperands, OfARegionNameThePlaceOfTheirFirstUse) {
  using Source = RegionOperand::Source;
  // A convolution to which another input is added: listed as {input 0, weights, input 1}.
  Region region;
  region.members.push_back({Convolution(), {{Source::kInput, 0}, {Source::kWeight, 0}}});
  region.members.push_back({Sum(Shape{{1, 32, 8, 8}}), {{Source::kMember, 0}, {Source::kInput, 1}}});
  region.outputs = {1};
  const VaryingOperands varying = VaryingOperandsOf(region);
  ASSERT_EQ(varying.reads.size(), 2u);
  EXPECT_EQ(varying.reads[0].place, 0u);
  EXPECT_EQ(varying.reads[0].shape, (Shape{{1, 64, 8, 8}}));
  EXPECT_EQ(varying.reads[1].place, 2u);
  EXPECT_EQ(varying.reads[1].shape, (Shape{{1, 32, 8, 8}}));
  ASSERT_EQ(varying.writes.size(), 1u);
}

}  // namespace
}  // namespace infimum::varying_operands_test
