#include "microbench/cpu/cache_residency.h"

#include <gtest/gtest.h>

#include "microbench/kernels/cpu/vector/cpu_features.h"

namespace infimum::cpu {
namespace {

constexpr Clock::Duration kSoon = std::chrono::milliseconds(2);

std::int64_t Caches() { return Features().l1 + Features().l2 + Features().l3; }

TEST(ResidentShare, IsAllOfWhatSurelyFitsAndNothingOfWhatSurelyDoesNot) {
  if (std::max(Features().l2, Features().l3) == 0) GTEST_SKIP() << "the processor does not describe its caches";
  EXPECT_EQ(ResidentShare(Bytes{4096}, kSoon)->value_or(-1), 1);
  EXPECT_EQ(ResidentShare(Bytes{std::max(4 * Caches(), std::int64_t{1} << 30)}, kSoon)->value_or(-1), 0);
}

TEST(ResidentShare, IsAShare) {
  const Result<std::optional<double>> share = ResidentShare(Bytes{Caches() / 2}, kSoon);
  ASSERT_TRUE(share.ok()) << share.error().message;
  if (!*share) GTEST_SKIP() << "caches that are not described, or hardly faster than memory";
  EXPECT_GE(**share, 0);
  EXPECT_LE(**share, 1);
}

}  // namespace
}  // namespace infimum::cpu
