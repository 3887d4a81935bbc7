#include "src/core/layer/windows.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/random_layer.h"

namespace infimum {
namespace {

struct Counts {
  std::int64_t pairs = 0;
  std::set<std::int64_t> positions, taps, steps;
};

Counts CountOneByOne(const Windows& w) {
  Counts counts;
  for (std::int64_t step = 0; step < w.steps; ++step)
    for (std::int64_t tap = 0; tap < w.taps; ++tap) {
      const std::int64_t position = step * w.stride + tap * w.dilation - w.offset;
      if (position < 0 || position >= w.extent) continue;
      ++counts.pairs;
      counts.positions.insert(position);
      counts.taps.insert(tap);
      counts.steps.insert(step);
    }
  return counts;
}

TEST(Windows, TheHeadersExampleHolds) {
  const Windows w{.extent = 224, .steps = 112, .stride = 2, .taps = 7, .dilation = 1, .offset = 3};
  EXPECT_EQ(CountValidPairs(w), 778);
  EXPECT_EQ(CountPositions(w), 224);
}

TEST(Windows, EveryCountEqualsCountingOneByOne) {
  testing::RandomLayers random(11);
  for (int i = 0; i < 20000; ++i) {
    const Windows w{.extent = random.Between(1, 60),
                    .steps = random.Between(1, 20),
                    .stride = random.Between(1, 12),
                    .taps = random.Between(1, 12),
                    .dilation = random.Between(1, 12),
                    .offset = random.Between(-30, 60)};
    const Counts expected = CountOneByOne(w);
    SCOPED_TRACE(::testing::Message() << w.extent << ' ' << w.steps << ' ' << w.stride << ' ' << w.taps << ' '
                                      << w.dilation << ' ' << w.offset);
    ASSERT_EQ(CountValidPairs(w), expected.pairs);
    ASSERT_EQ(CountPositions(w), static_cast<std::int64_t>(expected.positions.size()));
    ASSERT_EQ(CountUsedTaps(w), static_cast<std::int64_t>(expected.taps.size()));
    ASSERT_EQ(CountUsedSteps(w), static_cast<std::int64_t>(expected.steps.size()));
  }
}

TEST(Windows, TheLargestWindowsAreCountedWithoutOverflow) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const Windows w{
      .extent = kMost, .steps = kMost, .stride = kMost, .taps = kMost, .dilation = kMost - 1, .offset = kMost};
  // x = o * 2^24 + t * (2^24 - 1), from 2^24 to 2^25 - 1: (1, 0), (1, 1) and (0, 2).
  EXPECT_EQ(CountValidPairs(w), 3);
  EXPECT_EQ(CountPositions(w), 3);
}

}  // namespace
}  // namespace infimum
