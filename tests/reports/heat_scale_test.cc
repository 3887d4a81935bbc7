#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "reports/page/heat_table.h"

namespace infimum {
namespace {

TEST(HeatScale, IsAsWideAsItsRatios) {
  EXPECT_EQ(HeatScale({0.6, 1.8}).BeginOf(2), "1.2");
  EXPECT_EQ(HeatScale({0.15, 1.2}).BeginOf(2), "1.4");
  EXPECT_EQ(HeatScale({0.15, 1.2}).BeginOf(7), "8");
  EXPECT_EQ(HeatScale({0.02}).BeginOf(7), "38");
  EXPECT_EQ(HeatScale({1e-9}).BeginOf(7), "4096");
  EXPECT_EQ(HeatScale({}).BeginOf(1), "1");
}

TEST(HeatScale, TellsApartWhatATenthExceeds) {
  std::vector<double> ratios(100, 1.3);
  for (int i = 0; i < 9; ++i) ratios.push_back(95);
  const HeatScale scale(ratios);
  EXPECT_EQ(scale.BeginOf(2), "1.2");
  EXPECT_EQ(scale.StepOf(95), HeatScale::kSteps);
}

TEST(HeatScale, EightGenerationsHaveMoreThanTwoColours) {
  const std::vector<double> generations = {0.796, 0.842, 0.283, 0.178, 0.322, 0.177, 0.328};
  const HeatScale scale(generations);
  std::set<int> steps;
  for (const double ratio : generations) steps.insert(scale.StepOf(ratio));
  EXPECT_EQ(steps, (std::set<int>{1, 5, 7}));
}

TEST(HeatScale, IsAlikeForARatioAndItsInverse) {
  const HeatScale scale({0.1, 10});
  for (const double ratio : {1.01, 1.6, 2.5, 7.0, 1e300})
    EXPECT_EQ(scale.StepOf(ratio), scale.StepOf(1 / ratio)) << ratio;
}

TEST(HeatScale, AnyNumberHasAStep) {
  const double infinity = std::numeric_limits<double>::infinity();
  const HeatScale scale({0, -1, infinity, std::numeric_limits<double>::quiet_NaN()});
  for (const double ratio : {0.0, -3.0, 1e-300, infinity}) {
    EXPECT_GE(scale.StepOf(ratio), 1) << ratio;
    EXPECT_LE(scale.StepOf(ratio), HeatScale::kSteps) << ratio;
  }
}

}  // namespace
}  // namespace infimum
