#include "microbench/cpu/metronome.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace infimum::cpu {
namespace {

// The least of many is what the loops take undisturbed, and no less comes later by much.
TEST(Metronome, ItsLoopsTakeATimeOfTheirOwn) {
  Result<Metronome> metronome = Metronome::Make(1);
  ASSERT_TRUE(metronome.ok()) << metronome.error().message;
  Beat least = metronome->Take(true);
  for (int i = 0; i < 50; ++i) {
    const Beat beat = metronome->Take(true);
    least.arithmetic = std::min(least.arithmetic, beat.arithmetic);
    least.memory = std::min(least.memory, beat.memory);
    least.cache = std::min(least.cache, beat.cache);
  }
  // 30,000 steps of two cycles at least, below 10 GHz; 2 MiB at less than 1 TB/s.
  EXPECT_GT(least.arithmetic, Latency(6));
  EXPECT_GT(least.memory, Latency(2));
  // Some MiB, and nothing where the processor tells no cache; not asked for, not taken.
  EXPECT_TRUE(least.cache == Latency(0) || least.cache > Latency(2)) << least.cache.count();
  EXPECT_EQ(metronome->Take(false).cache, Latency(0));
}

TEST(Metronome, HasALoopForEachThread) {
  Result<Metronome> metronome = Metronome::Make(2);
  ASSERT_TRUE(metronome.ok()) << metronome.error().message;
  for (int i = 0; i < 200; ++i) {
    const Beat beat = metronome->Take(i % 2 == 0);
    EXPECT_GT(beat.arithmetic, Latency(0));
    EXPECT_GT(beat.memory, Latency(0));
  }
}

}  // namespace
}  // namespace infimum::cpu
