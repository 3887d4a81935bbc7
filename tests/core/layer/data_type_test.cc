#include "infimum/layer/data_type.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/core/layer/small_float.h"

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

// Each number of a format is itself; between two neighbours the nearer one is taken, in the middle the even one.
TEST(SmallFloat, RoundsToTheNearestOfItsNumbers) {
  for (const DataType type : {DataType::kF16, DataType::kF8E4M3, DataType::kF8E5M2, DataType::kF4E2M1}) {
    const SmallFloat& format = *SmallFloatOf(type);
    const int bits = 1 + format.exponent_bits + format.mantissa_bits;
    for (unsigned i = 0; i < 1U << bits; ++i) {
      const double value = format.ValueOf(i);
      if (std::isnan(value)) continue;
      if (std::isfinite(value) || !format.saturates) {
        EXPECT_EQ(format.BitsOf(value), i) << Name(type) << " " << value;
      }
      const double next = format.ValueOf(i + 1);
      if (!std::isfinite(value) || !std::isfinite(next) || std::signbit(value) || std::signbit(next)) continue;
      const double middle = (value + next) / 2;
      EXPECT_EQ(format.BitsOf(middle), i % 2 == 0 ? i : i + 1) << Name(type) << " " << middle;
      EXPECT_EQ(format.BitsOf(std::nextafter(middle, 0.0)), i);
      EXPECT_EQ(format.BitsOf(std::nextafter(middle, 1e9)), i + 1);
    }
  }
}

TEST(SmallFloat, BeyondTheLargestItSaturatesOrIsInfinite) {
  EXPECT_EQ(SmallFloatOf(DataType::kF8E4M3)->ValueOf(SmallFloatOf(DataType::kF8E4M3)->BitsOf(1e9)), 448);
  EXPECT_EQ(SmallFloatOf(DataType::kF8E5M2)->ValueOf(SmallFloatOf(DataType::kF8E5M2)->BitsOf(-INFINITY)), -57344);
  EXPECT_EQ(SmallFloatOf(DataType::kF4E2M1)->ValueOf(SmallFloatOf(DataType::kF4E2M1)->BitsOf(7)), 6);
  EXPECT_EQ(SmallFloatOf(DataType::kF16)->BitsOf(65520), 0x7c00U);
  EXPECT_TRUE(std::isnan(SmallFloatOf(DataType::kF8E4M3)->ValueOf(SmallFloatOf(DataType::kF8E4M3)->BitsOf(NAN))));
  EXPECT_EQ(SmallFloatOf(DataType::kBF16), nullptr);
  EXPECT_EQ(PowerOfScale(ScaleOfPower(0.25)), 0.25);
  EXPECT_EQ(PowerOfScale(ScaleOfPower(3e38)), 0x1p127);
}

}  // namespace
}  // namespace infimum
