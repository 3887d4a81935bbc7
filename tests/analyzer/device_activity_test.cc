#include "analyzer/trace/device_activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/timeline_builder.h"

namespace infimum {
namespace {

TEST(WorkOrigin, IsTheInnermostOperatorAroundTheCallOfItsThread) {
  const Timeline timeline = TimelineOf(
      "range step 0..100; operator linear 10..60; operator addmm 20..50; "
      "operator other thread's 15..75 on 1; call launch 30..35 #77; call launch 55..57 #78; "
      "call launch 70..72 #79; kernel gemm 40..50 #77; kernel bias 60..70 #78; "
      "kernel late 80..90 #79; kernel orphan 90..100 #12345");
  const std::vector<WorkOrigin> origins = OriginsOfWork(timeline);
  const auto name = [&](std::uint32_t call) {
    return call == kNoCall ? "" : std::string(timeline.names.text(timeline.host_calls[call].name));
  };
  EXPECT_EQ(name(origins[0].call), "launch");
  EXPECT_EQ(name(origins[0].operation), "addmm");
  EXPECT_EQ(name(origins[0].outermost), "linear");
  EXPECT_EQ(name(origins[1].operation), "linear");
  EXPECT_EQ(name(origins[2].operation), "");
  EXPECT_EQ(origins[3].call, kNoCall);
}

TEST(WorkOrigin, WithoutACallTheExternalIdTells) {
  Timeline timeline =
      TimelineBuilder().Call(HostCallKind::kOperator, "aten::add", 0, 10, -1, 0, 5).Work("k", 20, 5).Build();
  timeline.device_work[0].external_id = 5;
  EXPECT_EQ(OriginsOfWork(timeline)[0].operation, 0u);
}

TEST(DeviceActivity, TellsForWhomAnIdleDeviceWaited) {
  // a 0..10; asked at 30 for b at 40: 20 of the host, 10 of the launch; c was asked for at 35, before b ended: queued.
  const Timeline timeline = TimelineOf(
      "call launch -5..-3 #1; call launch 30..32 #2; call launch 35..37 #3; kernel a 0..10 #1; "
      "kernel b 40..50 #2; kernel c 53..63 #3; kernel d 70..75");
  const ActivityReport report = ActivityOf(timeline, OriginsOfWork(timeline));
  ASSERT_EQ(report.devices.size(), 1u);
  const DeviceActivity& device = report.devices[0];
  EXPECT_EQ(device.busy_ns(), 35);
  EXPECT_EQ(device.host_ns, 20);
  EXPECT_EQ(device.launch_ns, 10);
  EXPECT_EQ(device.queued_ns, 3);
  EXPECT_EQ(device.unknown_ns, 7);
  EXPECT_EQ(device.span_ns(), 75);
  ASSERT_EQ(report.gaps.size(), 3u);
  EXPECT_EQ(report.gaps[0].next, 1u);
}

TEST(DeviceActivity, HiddenCopiesAndCommunicationAreNotExposed) {
  const Timeline timeline = TimelineOf(
      "kernel gemm 0..100; copy Memcpy HtoD 50..130 on 1; "
      "kernel ncclDevKernel_AllReduce 90..120 on 1");
  const DeviceActivity device = ActivityOf(timeline, OriginsOfWork(timeline)).devices.at(0);
  EXPECT_EQ(device.computation_ns, 100);
  EXPECT_EQ(device.exposed_communication_ns, 20);
  EXPECT_EQ(device.exposed_copy_ns, 10);
  EXPECT_EQ(device.communication_ns, 30);
  EXPECT_EQ(device.copy_ns, 80);
}

// Busy and idle time of any timeline add up to its span, and are what a look at each nanosecond says.
TEST(DeviceActivity, AddsUpOnRandomTimelines) {
  std::mt19937_64 random(3);
  const auto pick = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int round = 0; round < 300; ++round) {
    TimelineBuilder builder;
    constexpr std::int64_t kEnd = 400;
    for (std::int64_t i = 0; i < 1 + pick(30); ++i) {
      const std::int64_t start = pick(kEnd - 60);
      if (pick(4) != 0)
        builder.Call(HostCallKind::kRuntime, "launch", std::max<std::int64_t>(-20, start - pick(80)), 3, i);
      builder.Work(pick(5) == 0 ? "ncclKernel" : "k", start, pick(50), i, static_cast<std::uint32_t>(pick(3)),
                   pick(4) == 0 ? DeviceWorkKind::kCopy : DeviceWorkKind::kKernel);
    }
    const Timeline timeline = builder.Build();
    const ActivityReport report = ActivityOf(timeline, OriginsOfWork(timeline));
    for (const DeviceActivity& device : report.devices) {
      std::int64_t busy = 0, computing = 0, first = kEnd, last = 0;
      for (const DeviceWork& work : timeline.device_work) {
        if (timeline.streams[work.stream].device != device.device) continue;
        first = std::min(first, work.start_ns);
        last = std::max(last, work.start_ns + work.duration_ns);
      }
      for (std::int64_t t = 0; t < kEnd; ++t) {
        bool any = false, computes = false;
        for (const DeviceWork& work : timeline.device_work) {
          if (timeline.streams[work.stream].device != device.device) continue;
          if (t < work.start_ns || t >= work.start_ns + work.duration_ns) continue;
          any = true;
          computes |= work.kind != DeviceWorkKind::kCopy && !IsCommunication(timeline.names.text(work.name));
        }
        busy += any ? 1 : 0;
        computing += computes ? 1 : 0;
      }
      ASSERT_EQ(device.first_ns, first);
      ASSERT_EQ(device.last_ns, last);
      ASSERT_EQ(device.busy_ns(), busy);
      ASSERT_EQ(device.computation_ns, computing);
      ASSERT_EQ(device.idle_ns(), device.span_ns() - busy);
    }
    std::int64_t gaps = 0, idle = 0;
    for (const IdleGap& gap : report.gaps) gaps += gap.duration_ns();
    for (const DeviceActivity& device : report.devices) idle += device.idle_ns();
    ASSERT_EQ(gaps, idle);
  }
}

}  // namespace
}  // namespace infimum
