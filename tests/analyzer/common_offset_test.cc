#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/sides/side_comparison.h"

namespace infimum {
namespace {

constexpr std::array kTimes = {8.0, 12.0, 14.0, 20.0, 31.0, 45.0, 60.0, 80.0, 120.0, 166.0};

SideTime At(double us) {
  SideTime time;
  time.latency = Latency(us);
  return time;
}

// Each layer once; what the other side takes is told by `after`.
SideComparison Compared(const std::function<double(double)>& after) {
  ModelSides model{"net", std::vector<SideModel>(2)};
  for (std::size_t i = 0; i < kTimes.size(); ++i) {
    const std::string name = "layer" + std::to_string(i);
    model.sides[0].layers.push_back({name, "pointwise", "", At(kTimes[i])});
    model.sides[1].layers.push_back({name, "pointwise", "", At(after(kTimes[i]))});
  }
  const std::vector<ModelSides> models{std::move(model)};
  return CompareSides(models, 0.05);
}

TEST(CommonOffset, OfLayersThatAllTakeAsMuchMoreIsTold) {
  const std::optional<CommonOffset> found = CommonOffsetOf(Compared([](double us) { return us + 6; }), 1);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->offset.count(), 6, 1e-9);
  EXPECT_EQ(found->alike, kTimes.size());
  EXPECT_NEAR(found->over_all_uses.count(), 60, 1e-9);
}

TEST(CommonOffset, AFewOutliersDoNotHideIt) {
  const auto found = CommonOffsetOf(Compared([](double us) { return us + (us > 100 ? 13 : 6); }), 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->alike, kTimes.size() - 2);
}

TEST(CommonOffset, AFactorIsNone) {
  EXPECT_FALSE(CommonOffsetOf(Compared([](double us) { return us * 1.3; }), 1));
}

TEST(CommonOffset, WhereOneLayerLosesMostItIsNotTheReason) {
  EXPECT_FALSE(CommonOffsetOf(Compared([](double us) { return us > 100 ? us * 3 : us + 0.5; }), 1));
}

TEST(CommonOffset, EqualSidesHaveNone) {
  EXPECT_FALSE(CommonOffsetOf(Compared([](double us) { return us; }), 1));
}

}  // namespace
}  // namespace infimum
