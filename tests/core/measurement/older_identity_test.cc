#include "infimum/measurement/older_identity.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/core/measurement/row_builder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// As an earlier version described a processor that it measured on so many threads.
Device Counted(std::int64_t cores) { return WithCores(TestDevice(), cores); }

Environment On(std::int64_t threads, const std::string& affinity = "pinned") {
  Environment environment = TestEnvironment();
  environment.threads = threads;
  environment.evidence[evidence::kAffinity] = affinity;
  return environment;
}

SeenDevice Seen(std::int64_t cores, std::set<std::int64_t> threads) {
  return {WithCoresSeen(Counted(cores), On(1)), std::move(threads)};
}

TEST(OlderIdentity, AGpuLosesItsClocks) {
  Device gpu = TestDevice();
  gpu.kind = DeviceKind::kGpu;
  gpu.identity = {{"compute_capability", "8.0"}, {"clock", "1095MHz"}, {"memory_clock", "1215MHz"}};
  Device other = gpu;
  other.identity["clock"] = "1410MHz";
  EXPECT_EQ(DeviceOfToday(gpu, On(1)).Key(), DeviceOfToday(other, On(1)).Key());
  Device processor = TestDevice();
  processor.identity["clock"] = "3601MHz";  // of a processor that nothing else tells apart
  EXPECT_EQ(WithoutClocks(processor), processor);
}

TEST(OlderIdentity, CoresThatWereLeftWhileMeasuringAreCounted) {
  EXPECT_EQ(DeviceOfToday(Counted(63), On(1)), Counted(64));
  EXPECT_EQ(DeviceOfToday(Counted(56), On(8)), Counted(64));
  EXPECT_EQ(DeviceOfToday(Counted(1), On(3)), Counted(4));
  // All cores or half of them.
  EXPECT_TRUE(HasCoresSeen(DeviceOfToday(Counted(1), On(1))));
  EXPECT_TRUE(HasCoresSeen(DeviceOfToday(Counted(2), On(2))));
  // Not counted by our runner of processors.
  Environment fake = On(1);
  fake.libraries = {{"fake", "1"}};
  EXPECT_EQ(DeviceOfToday(Counted(4), fake), Counted(4));
  EXPECT_EQ(DeviceOfToday(Counted(4), On(1, "free")), Counted(4));
}

TEST(OlderIdentity, OneAndTwoThreadsOnTwoCoresAreOneDevice) {
  const std::vector<SeenDevice> seen{Seen(1, {1}), Seen(2, {2})};
  EXPECT_THAT(CoresOf(seen, {}), ElementsAre(Optional(2), Optional(2)));
}

TEST(OlderIdentity, AloneItIsNotClear) {
  EXPECT_THAT(CoresOf(std::vector{Seen(1, {1})}, {}), ElementsAre(std::nullopt));
  EXPECT_THAT(CoresOf(std::vector{Seen(2, {2})}, {}), ElementsAre(std::nullopt));
  EXPECT_THAT(CoresOf(std::vector{Seen(2, {})}, {}), ElementsAre(std::nullopt));
  // Two processors alike: as well all of one as half of two.
  EXPECT_THAT(CoresOf(std::vector{Seen(1, {1})}, std::vector{Counted(1), Counted(2)}), ElementsAre(std::nullopt));
}

TEST(OlderIdentity, AKnownDeviceMakesItClear) {
  EXPECT_THAT(CoresOf(std::vector{Seen(1, {1})}, std::vector{Counted(2)}), ElementsAre(Optional(2)));
  EXPECT_THAT(CoresOf(std::vector{Seen(1, {1})}, std::vector{Counted(8)}), ElementsAre(std::nullopt));
  Device another = Counted(2);
  another.identity["stepping"] = "2";
  EXPECT_THAT(CoresOf(std::vector{Seen(1, {1})}, std::vector{another}), ElementsAre(std::nullopt));
}

TEST(OlderIdentity, WhatTwoMachinesExplainStaysAsItIs) {
  const SeenDevice one = Seen(1, {1}), two = Seen(2, {2}), four = Seen(4, {4});
  // Both counts are of a machine of 2 cores, or the second is of the one of 4.
  EXPECT_THAT(CoresOf(std::vector{one, two}, std::vector{Counted(4)}), ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(CoresOf(std::vector{four, one, two}, {}), ElementsAre(std::nullopt, std::nullopt, std::nullopt));
  EXPECT_THAT(CoresOf(std::vector{two}, std::vector{Counted(4)}), ElementsAre(Optional(4)));
  EXPECT_THAT(CoresOf(std::vector{one, two}, std::vector{Counted(2)}), ElementsAre(Optional(2), Optional(2)));
}

TEST(OlderIdentity, ThreadsThatContradictEachOtherLeaveADeviceAsItIs) {
  EXPECT_THAT(CoresOf(std::vector{Seen(2, {1, 2}), Seen(1, {1})}, std::vector{Counted(2)}),
              ElementsAre(std::nullopt, Optional(2)));
}

// One machine of every size, measured on any numbers of threads, is that machine wherever two of them tell more than
// one alone, and never another.
TEST(OlderIdentity, WhatIsClearIsTheMachineThatCounted) {
  std::mt19937_64 random(7);
  int clear = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto cores = static_cast<std::int64_t>(1 + random() % 64);
    std::map<std::int64_t, std::set<std::int64_t>> counted;
    for (int i = 0; i < 3; ++i) {
      const auto threads = static_cast<std::int64_t>(1 + random() % static_cast<std::uint64_t>(cores));
      counted[threads == cores ? cores : cores - threads].insert(threads);
    }
    std::vector<SeenDevice> seen;
    for (const auto& [count, threads] : counted) seen.push_back(Seen(count, threads));
    const auto found = CoresOf(seen, {});
    for (const auto& cores_of : found) {
      EXPECT_EQ(cores_of.value_or(cores), cores);
      clear += cores_of.has_value() ? 1 : 0;
    }
    // In any order.
    std::vector<SeenDevice> reversed(seen.rbegin(), seen.rend());
    auto other = CoresOf(reversed, {});
    std::reverse(other.begin(), other.end());
    EXPECT_EQ(other, found);
  }
  EXPECT_GT(clear, 4000);
}

}  // namespace
}  // namespace infimum
