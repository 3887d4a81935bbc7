#include "infimum/layer/shape.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

TEST(Shape, ATextReadsBack) {
  for (const char* text : {"scalar", "1", "0", "1x64x56x56", "140737488355328", "9x0x140737488355328"}) {
    const Result<Shape> shape = ParseShape(text);
    ASSERT_TRUE(shape.ok()) << shape.error().message;
    EXPECT_EQ(Format(*shape), text);
  }
}

TEST(Shape, WhatIsNotAShapeIsRefusedWithTheReason) {
  for (const char* text : {"", "x", "1x", "x1", "1xx2", "1X2", "1,2", "scalarx1", "1x 2", "9223372036854775808"})
    EXPECT_EQ(ParseShape(text).error().message,
              "'" + std::string(text) + "' is not a shape, write one like 1x64x56x56, or scalar");
  EXPECT_EQ(ParseShape("2x-1").error().message, "a negative dimension in shape '2x-1'");
  EXPECT_EQ(ParseShape("134217728x1048577").error().message,
            "shape '134217728x1048577' has more than 140737488355328 elements");
}

TEST(Shape, CountsElementsWithoutWrappingAround) {
  EXPECT_EQ(*CheckedElementCount(Shape{}), 1);
  EXPECT_EQ(*CheckedElementCount(Shape{{2, 3, 4}}), 24);
  EXPECT_EQ(*CheckedElementCount(Shape{{INT64_MAX, INT64_MAX, 0}}), 0);
  EXPECT_EQ(*CheckedElementCount(Shape{{kMaxElements}}), kMaxElements);
  EXPECT_FALSE(CheckedElementCount(Shape{{kMaxElements, 2}}).ok());
  EXPECT_FALSE(CheckedElementCount(Shape{{INT64_MAX, INT64_MAX}}).ok());
  EXPECT_FALSE(CheckedElementCount(Shape{{0, -1}}).ok());
}

TEST(Broadcast, AlignsAtTheLastDimension) {
  EXPECT_EQ(*Broadcast(Shape{{8, 1, 6}}, Shape{{7, 1}}), (Shape{{8, 7, 6}}));
  EXPECT_EQ(*Broadcast(Shape{}, Shape{{5}}), (Shape{{5}}));
  EXPECT_EQ(*Broadcast(Shape{{5}}, Shape{{2, 3, 1}}), (Shape{{2, 3, 5}}));
  EXPECT_EQ(Broadcast(Shape{{2}}, Shape{{3}}).error().message, "shapes '2' and '3' do not broadcast");
}

}  // namespace
}  // namespace infimum
