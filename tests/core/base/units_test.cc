#include "infimum/base/units.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "infimum/base/clock.h"
#include "infimum/base/id.h"

namespace infimum {
namespace {

using LayerId = Id<struct LayerTag>;

TEST(Units, ACountOverARateIsALatency) {
  const Latency latency = Bytes{1 << 20} / BytesPerSecond{1e10};
  EXPECT_DOUBLE_EQ(latency.count(), 104.8576);
}

TEST(Units, CountsOfOneUnitAddAndCompare) {
  Flops sum = Flops{128} + Flops{64};
  sum += Flops{8};
  EXPECT_EQ(sum, Flops{200});
  EXPECT_EQ(sum - Flops{200}, Flops{});
  EXPECT_LT(Flops{1}, Flops{2});
}

TEST(Id, IdsOfTheSameIndexAreEqualAndHashAlike) {
  const std::unordered_set<LayerId> seen = {LayerId(3), LayerId(3), LayerId(4)};
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(LayerId(3).index(), 3U);
  EXPECT_LT(LayerId(3), LayerId(4));
}

TEST(Clock, TheFakeClockMovesOnlyWhenAdvanced) {
  FakeClock clock;
  EXPECT_EQ(clock.Now(), Clock::Duration(0));
  clock.Advance(std::chrono::milliseconds(5));
  EXPECT_EQ(clock.Now(), std::chrono::milliseconds(5));
}

TEST(Clock, TheSteadyClockNeverGoesBack) {
  Clock::Duration previous = SteadyClock().Now();
  for (int i = 0; i < 1000; ++i) {
    const Clock::Duration now = SteadyClock().Now();
    ASSERT_GE(now, previous);
    previous = now;
  }
}

}  // namespace
}  // namespace infimum
