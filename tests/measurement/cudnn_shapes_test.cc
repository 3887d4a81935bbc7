#include "infimum/measurement/cudnn_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infimum::cuda {
namespace {

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

TEST(CudnnShapes, StridesArePacked) {
  EXPECT_THAT(Strides(Shape{{1, 64, 8, 8}}, false), ElementsAre(4096, 64, 8, 1));
  EXPECT_THAT(Strides(Shape{{1, 64, 8, 8}}, true), ElementsAre(4096, 1, 512, 64));
  EXPECT_THAT(Strides(Shape{{4, 3}}, true), ElementsAre(3, 1));
}

}  // namespace
}  // namespace infimum::cuda
