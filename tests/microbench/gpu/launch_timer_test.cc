#include "microbench/gpu/device/launch_timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace infimum::cuda {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A kernel of 3 us on a device that needs 6 us for starting anything, and 2 us of the host for a launch in a stream.
class PretendedDevice : public LaunchDevice {
 public:
  Result<Graph> Capture(std::int64_t launches) override {
    if (!captures) return Error{"operation not permitted when stream is capturing"};
    graphs.push_back(launches);
    live.insert(graphs.size() - 1);
    return graphs.size() - 1;
  }
  Result<Latency> Replay(Graph graph) override {
    ++replays;
    return Latency(6 + 3.0 * static_cast<double>(graphs[graph])) + disturbance(replays);
  }
  void Drop(Graph graph) override { live.erase(graph); }
  Result<Latency> LaunchInStream(std::int64_t launches) override {
    return Latency(6 + 5.0 * static_cast<double>(launches));
  }
  Result<Latency> LaunchAlone(LaunchCaches caches) override {
    return Latency(caches == LaunchCaches::kEmptied ? 9 : 7);
  }
  std::optional<double> FrequencyMhz() override {
    ++looks;
    return frequency(looks);
  }

  bool IsPowerLimited() override { return power_limited; }
  bool Overlaps(Graph) override { return overlaps; }
  bool HostWasLate() override { return late; }
  void Pause() override { ++pauses; }

  bool captures = true, power_limited = false, overlaps = false, late = false;
  int pauses = 0;
  std::vector<std::int64_t> graphs;
  std::set<Graph> live;
  int replays = 0, looks = 0;
  std::function<Latency(int)> disturbance = [](int) { return Latency(0); };
  std::function<std::optional<double>(int)> frequency = [](int) { return std::optional<double>(); };
};

TEST(LaunchTimer, TheMarginalLaunchIsTheKernelAlone) {
  PretendedDevice device;
  LaunchTimer timer(device, {});
  EXPECT_EQ(*timer.Time(100), microseconds(300));
  EXPECT_EQ(*timer.Time(1), microseconds(3));
  EXPECT_THAT(timer.flags(), IsEmpty());
}

// Locked clocks, or a machine that is hot: pauses would not make it faster.
TEST(LaunchTimer, WhereTheDeviceStaysSlowEachFurtherTimeIsTakenOnce) {
  PretendedDevice device;
  device.frequency = [](int) { return 600.0; };
  LaunchTimerOptions options;
  options.usual_mhz = 1980;
  LaunchTimer timer(device, options);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(*timer.Time(64), microseconds(192));
  EXPECT_EQ(device.pauses, options.most_attempts - 1);
  EXPECT_THAT(timer.flags(), ElementsAre("throttled"));
  device.frequency = [](int) { return 1980.0; };
  ASSERT_TRUE(timer.Time(64).ok());
  device.frequency = [](int) { return 600.0; };
  ASSERT_TRUE(timer.Time(64).ok());
  EXPECT_EQ(device.pauses, 2 * (options.most_attempts - 1)) << "it had been at its usual frequency again";
}

TEST(LaunchTimer, GraphsAreRecordedOnceAndDroppedAtTheEnd) {
  PretendedDevice device;
  {
    LaunchTimer timer(device, {});
    for (int i = 0; i < 5; ++i) EXPECT_EQ(*timer.Time(64), microseconds(192));
    EXPECT_THAT(device.graphs, ElementsAre(64, 128));
    EXPECT_EQ(device.replays, 10);
  }
  EXPECT_THAT(device.live, IsEmpty());
}

TEST(LaunchTimer, ManyLaunchesAreCountedUpFromALargestGraph) {
  PretendedDevice device;
  LaunchTimer timer(device, {});
  EXPECT_EQ(*timer.Time(10000), microseconds(30000));
  EXPECT_THAT(device.graphs, ElementsAre(512, 1024));
}

TEST(LaunchTimer, WhatCannotBeCapturedIsLaunchedIntoAStreamAndSaysSo) {
  PretendedDevice device;
  device.captures = false;
  LaunchTimer timer(device, {});
  EXPECT_EQ(*timer.Time(10), microseconds(50));
  EXPECT_THAT(timer.flags(), ElementsAre("uncaptured"));
}

TEST(LaunchTimer, ADifferenceWithoutASlopeIsTakenAgain) {
  PretendedDevice device;
  // Something else ran during the first graph.
  device.disturbance = [](int replay) { return Latency(replay == 1 ? 10000 : 0); };
  LaunchTimer timer(device, {});
  EXPECT_EQ(*timer.Time(10), microseconds(30));
  EXPECT_EQ(timer.without_slope(), 1u);
  device.disturbance = [](int replay) { return Latency(replay % 2 == 1 ? 10000 : 0); };
  const Result<Clock::Duration> never = timer.Time(10);
  ASSERT_FALSE(never.ok());
  EXPECT_THAT(never.error().message, HasSubstr("median of 8 differences"));
}

TEST(LaunchTimer, ADifferenceWithoutASlopeCountsBesideTheOneThatIsTakenForIt) {
  PretendedDevice device;
  // 60 us on the first graph of 10, then on the second of 20: -3 us and 9 us a launch.
  device.disturbance = [](int replay) { return Latency(replay == 1 || replay == 4 ? 60 : 0); };
  LaunchTimer timer(device, {});
  EXPECT_EQ(*timer.Time(10), microseconds(30));
}

TEST(LaunchTimer, ASlightlyDisturbedDifferenceMakesNoTimeTooShort) {
  PretendedDevice device;
  // -2 us a launch, then 3 each time.
  device.disturbance = [](int replay) { return Latency(replay == 1 ? 50 : 0); };
  LaunchTimer timer(device, {});
  EXPECT_EQ(*timer.Time(10), microseconds(30));
}

TEST(LaunchTimer, TimesOfASlowedDeviceAreTakenAgain) {
  PretendedDevice device;
  device.frequency = [](int look) { return look <= 2 ? 1400.0 : 1980.0; };
  LaunchTimerOptions options;
  options.usual_mhz = 1980;
  LaunchTimer timer(device, options);
  EXPECT_EQ(*timer.Time(10), microseconds(30));
  EXPECT_EQ(timer.slowed(), 2u);
  EXPECT_EQ(device.pauses, 2) << "a rest before each further attempt";
  EXPECT_THAT(timer.flags(), IsEmpty());
}

TEST(LaunchTimer, ADeviceThatStaysSlowIsSaidToBeThrottled) {
  PretendedDevice device;
  device.frequency = [](int) { return 345.0; };
  LaunchTimerOptions options;
  options.usual_mhz = 1980;
  LaunchTimer timer(device, options);
  EXPECT_EQ(*timer.TimeAlone(LaunchCaches::kEmptied), microseconds(9));
  EXPECT_THAT(timer.flags(), ElementsAre("throttled"));
  EXPECT_EQ(device.looks, options.most_attempts);
}

TEST(LaunchTimer, WhereTheHostTookLongerThanTheStreamIsHeldItsTimeMayBeInALaunchAlone) {
  PretendedDevice device;
  LaunchTimer timer(device, {});
  EXPECT_TRUE(timer.TimeAlone(LaunchCaches::kEmptied).ok());
  EXPECT_THAT(timer.flags(), IsEmpty());
  device.late = true;
  EXPECT_TRUE(timer.TimeAlone(LaunchCaches::kWithoutConstants).ok());
  EXPECT_THAT(timer.flags(), ElementsAre("host_bound"));
}

TEST(LaunchTimer, SlownessInTheBeginningIsNoThrottling) {
  PretendedDevice device;
  LaunchTimerOptions options;
  options.usual_mhz = 1980;
  device.frequency = [&](int look) { return look <= options.most_attempts ? 345.0 : 1980.0; };
  LaunchTimer timer(device, options);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(timer.Time(10).ok());
  EXPECT_THAT(timer.flags(), IsEmpty());
}

TEST(LaunchTimer, UnderThePowerLimitATimeIsTakenOnce) {
  PretendedDevice device;
  device.frequency = [](int) { return 1300.0; };
  device.power_limited = true;
  LaunchTimerOptions options;
  options.usual_mhz = 1980;
  LaunchTimer timer(device, options);
  EXPECT_EQ(*timer.Time(10), microseconds(30));
  EXPECT_EQ(device.replays, 2);
  EXPECT_EQ(timer.slowed(), 0u);
  EXPECT_THAT(timer.flags(), ElementsAre("power_limited"));
}

TEST(LaunchTimer, LaunchesThatMayOverlapAreFlagged) {
  PretendedDevice device;
  device.overlaps = true;
  LaunchTimer timer(device, {});
  EXPECT_TRUE(timer.Time(10).ok());
  EXPECT_THAT(timer.flags(), ElementsAre("overlaps"));
}

TEST(LaunchTimer, AnErrorOfTheDeviceIsHandedOn) {
  class Broken : public PretendedDevice {
    Result<Latency> Replay(Graph) override { return Error{"an illegal memory access was encountered"}; }
  } device;
  LaunchTimer timer(device, {});
  const Result<Clock::Duration> time = timer.Time(1);
  ASSERT_FALSE(time.ok());
  EXPECT_EQ(time.error().message, "an illegal memory access was encountered");
}

}  // namespace
}  // namespace infimum::cuda
