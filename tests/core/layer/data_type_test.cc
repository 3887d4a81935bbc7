#include "infimum/layer/data_type.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

TEST(DataType, EachTypeIsFoundByItsName) {
  for (int i = 0; i <= static_cast<int>(DataType::kBool); ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(FindDataType(Name(type)), type) << Name(type);
  }
  EXPECT_EQ(FindDataType("float"), std::nullopt);
  EXPECT_EQ(FindDataType(""), std::nullopt);
}

TEST(DataType, SizesRoundUpToWholeBytes) {
  EXPECT_EQ(SizeOf(DataType::kF32, 3), Bytes{12});
  EXPECT_EQ(SizeOf(DataType::kU4, 3), Bytes{2});
  EXPECT_EQ(SizeOf(DataType::kBool, 3), Bytes{3});
  EXPECT_EQ(SizeOf(DataType::kNone, 3), Bytes{0});
  EXPECT_EQ(SizeOf(DataType::kF64, std::int64_t{1} << 53), Bytes{std::int64_t{1} << 56});
}

TEST(DataType, EveryTypeButBoolAndNoneIsANumber) {
  EXPECT_TRUE(IsFloatingPoint(DataType::kBF16));
  EXPECT_TRUE(IsFloatingPoint(DataType::kF8E5M2));
  EXPECT_FALSE(IsFloatingPoint(DataType::kS64));
  EXPECT_TRUE(IsInteger(DataType::kU4));
  EXPECT_FALSE(IsInteger(DataType::kBool));
  EXPECT_FALSE(IsInteger(DataType::kNone));
  EXPECT_FALSE(IsFloatingPoint(DataType::kNone));
}

}  // namespace
}  // namespace infimum
