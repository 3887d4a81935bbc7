#include "src/core/measurement/cudnn_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infimum/layer/workload.h"

namespace infimum::cuda {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(CudnnShapes, OneSpatialDimensionBecomesTwo) {
  EXPECT_EQ(WithTwoSpatial(Shape{{1, 64, 56}}), (Shape{{1, 64, 1, 56}}));
  EXPECT_EQ(WithTwoSpatial(Shape{{1, 64, 5, 6, 7}}), (Shape{{1, 64, 5, 6, 7}}));
  EXPECT_THAT(SpatialSteps(Shape{{3}}), ElementsAre(1, 3));
  EXPECT_THAT(SpatialSteps(Shape{{3, 2}}), ElementsAre(3, 2));
  EXPECT_THAT(PaddingBefore({1, 2}), ElementsAre(0, 1));
  EXPECT_THAT(PaddingBehind({1, 2}), ElementsAre(0, 2));
  EXPECT_THAT(PaddingBefore({1, 2, 3, 4}), ElementsAre(1, 2));
  EXPECT_THAT(PaddingBehind({1, 2, 3, 4}), ElementsAre(3, 4));
}

TEST(CudnnShapes, WhatHasNoChannelsKeepsItsBytesWhereTheyAre) {
  EXPECT_EQ(WithLastAsChannels(Shape{}), (Shape{{1, 1, 1, 1}}));
  EXPECT_EQ(WithLastAsChannels(Shape{{802816}}), (Shape{{1, 802816, 1, 1}}));
  EXPECT_EQ(WithLastAsChannels(Shape{{128, 768}}), (Shape{{128, 768, 1, 1}}));
  const Shape shape = WithLastAsChannels(Shape{{2, 3, 5, 7}});
  EXPECT_EQ(shape, (Shape{{2, 7, 3, 5}}));
  // The strides of {2, 3, 5, 7} row by row, in the new order.
  EXPECT_THAT(Strides(shape, true), ElementsAre(105, 1, 35, 7));
}

Region RegionOf(const std::string& text) { return std::get<Region>(*ParseWorkload("region " + text)); }

TEST(CudnnShapes, MembersThatPassElementsOnSeeThemInTheSameDimensions) {
  EXPECT_THAT(MemberShapes(
                  RegionOf("[pointwise kind=add dtype=f16:f16:f16 in=98304,98304](in0,in1) ; [normalization kind=layer "
                           "dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=yes](%0,w0,w1)")),
              Each(Shape{{128, 768}}));
  EXPECT_THAT(
      MemberShapes(RegionOf("[pointwise kind=multiply dtype=f16:f16:f16 in=196608,1](in0,w0) ; [pointwise kind=add "
                            "dtype=f16:f16:f16 in=12x16384,16384](%0,in1)")),
      Each(Shape{{12, 16384}}));
  // Both read in0: what one splits is split for the other.
  EXPECT_THAT(
      MemberShapes(RegionOf("[reduction kind=mean dtype=f32:-:f32 in=128x768 axes=1](in0) ; [pointwise kind=subtract "
                            "dtype=f32:f32:f32 in=128x768,128x1](in0,%0) ; [pointwise kind=multiply dtype=f32:f32:f32 "
                            "in=128x768,768](%1,w0)")),
      Each(Shape{{128, 768}}));
}

TEST(CudnnShapes, MembersWithoutACommonSplitKeepTheirOwnAndProductsDecideBehindThem) {
  EXPECT_THAT(
      MemberShapes(RegionOf("[pointwise kind=multiply dtype=f16:f16:f16 in=6x4,4](in0,w0) ; [pointwise kind=add "
                            "dtype=f16:f16:f16 in=8x3,3](%0,w1)")),
      ElementsAre(Shape{{6, 4}}, Shape{{8, 3}}));
  EXPECT_THAT(MemberShapes(RegionOf(
                  "[matmul dtype=f16:f16:f16 a=1x8x16 b=1x16x32 bias=no weights=const](in0,w0) ; [pointwise kind=relu "
                  "dtype=f16:-:f16 in=256](%0)")),
              Each(Shape{}));
}

TEST(CudnnShapes, ParametersOfANormalizationLieInItsRows) {
  NormalizationConfig config;
  config.kind = NormalizationKind::kLayer;
  config.input = Shape{{12, 64, 768}};
  config.axis = 2;
  EXPECT_EQ(ParametersOf(config, Shape{{768, 768}}), (Shape{{1, 768}}));
  EXPECT_EQ(ParametersOf(config, Shape{{12, 64, 768}}), (Shape{{1, 1, 768}}));
  EXPECT_EQ(ParametersOf(config, Shape{{768, 24, 32}}), (Shape{{1, 24, 32}}));
  EXPECT_EQ(ParametersOf(config, Shape{{768 * 768}}), std::nullopt);
}

TEST(CudnnShapes, StridesArePacked) {
  EXPECT_THAT(Strides(Shape{{1, 64, 8, 8}}, false), ElementsAre(4096, 64, 8, 1));
  EXPECT_THAT(Strides(Shape{{1, 64, 8, 8}}, true), ElementsAre(4096, 1, 512, 64));
  EXPECT_THAT(Strides(Shape{{4, 3}}, true), ElementsAre(3, 1));
}

}  // namespace
}  // namespace infimum::cuda
