#include "microbench/cpu/device/retention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "microbench/cpu/device/memory_peaks.h"

namespace infimum::cpu {
namespace {

std::vector<KeptShare> Shares(double retention, double error) {
  std::vector<KeptShare> shares;
  double sign = 1;
  for (double pause = 5e-4; pause < 0.02; pause *= 2, sign = -sign)
    shares.push_back({pause, std::min(1.0, std::max(0.0, std::exp(-pause / retention) + sign * error))});
  return shares;
}

TEST(FittedRetention, IsTheTimeConstantOfWhatWasKept) {
  for (const double retention : {5e-4, 2e-3, 1e-2, 0.1}) {
    EXPECT_NEAR(FittedRetention(Shares(retention, 0)) / retention, 1, 0.06) << retention;
    EXPECT_NEAR(FittedRetention(Shares(retention, 0.03)) / retention, 1, 0.25) << retention;
  }
}

TEST(FittedRetention, WhereNothingIsLostItIsTheLongest) {
  EXPECT_NEAR(FittedRetention(Shares(1e9, 0)), kLongestRetention, 0.06 * kLongestRetention);
  const std::vector<KeptShare> gone = {{1e-3, 0}, {4e-3, 0}, {16e-3, 0}};
  EXPECT_LT(FittedRetention(gone), 3e-4);
}

TEST(MeasureRetention, IsAPeakOfTheMemoryWhereCachesAreShared) {
  const Result<std::vector<PeakRate>> rates = MeasureMemory(PeakDetail::kFirst, 1);
  ASSERT_TRUE(rates.ok()) << rates.error().message;
  for (const PeakRate& rate : *rates) {
    if (rate.kind != PeakRate::Kind::kRetention) continue;
    EXPECT_GT(rate.per_second, 0);
    EXPECT_LE(rate.per_second, 1.06 * kLongestRetention);
    EXPECT_GT(rate.working_set.value, 0);
    return;
  }
  GTEST_SKIP() << "no caches that are shared, or none that is faster than memory";
}

TEST(MeasureRetention, ACacheOfTheThreadsAloneHasNone) {
  EXPECT_FALSE(MeasureRetention(PeakDetail::kFirst, 1, 4096, 1e-10, [](std::int64_t) {}));
  EXPECT_FALSE(MeasureRetention(PeakDetail::kFirst, 1, std::int64_t{1} << 30, 0, [](std::int64_t) {}));
}

}  // namespace
}  // namespace infimum::cpu
