#include "microbench/cpu/device/metronome.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <string>

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

// All threads of this process, also those that OpenMP keeps.
void RunOn(const cpu_set_t& cores) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    sched_setaffinity(std::stoi(task.path().filename().string()), sizeof cores, &cores);
}

// As where threads of a framework spin on the other cores: one after the other, each still as fast as alone.
TEST(Metronome, ThreadsOfOneCoreCountByThemselves) {
  Result<Metronome> alone = Metronome::Make(1), two = Metronome::Make(2);
  ASSERT_TRUE(alone.ok() && two.ok());
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0 && core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
  RunOn(one);
  // Of many, since others run here too.
  Latency least = Latency::max(), together = Latency::max();
  for (int i = 0; i < 20; ++i) {
    least = std::min(least, alone->Take(false).arithmetic);
    together = std::min(together, two->Take(false).arithmetic);
  }
  RunOn(all);
  EXPECT_LT(together, 1.5 * least);
}

}  // namespace
}  // namespace infimum::cpu
