#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "tests/analyzer/built_run.h"
#include "tests/support/timeline_builder.h"

namespace infimum::findings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Finding> FindingsIn(const Timeline& timeline) {
  const std::vector<WorkOrigin> origins = OriginsOfWork(timeline);
  const ActivityReport activity = ActivityOf(timeline, origins);
  return FindingsOf({timeline, origins, activity});
}

std::optional<Finding> FindingOf(const Timeline& timeline, const std::string& kind) {
  return testing::Find(FindingsIn(timeline), kind);
}

Latency Nanoseconds(std::int64_t count) { return std::chrono::nanoseconds(count); }

// Ten operators, each of which launches a kernel of `work` every `every` nanoseconds.
TimelineBuilder Steps(std::int64_t every, std::int64_t work) {
  TimelineBuilder builder;
  std::int64_t free = 0;
  for (std::int64_t i = 0; i < 10; ++i) {
    builder.Call(HostCallKind::kOperator, i % 2 == 0 ? "aten::mul" : "aten::add", i * every, every);
    builder.Call(HostCallKind::kRuntime, "cudaLaunchKernel", i * every + 10, 20, i);
    const std::int64_t start = std::max(free, i * every + 50);
    builder.Work("k", start, work, i);
    free = start + work;
  }
  return builder;
}

TEST(HostBoundFinding, IsTheTimeThatTheDeviceWaitedForTheHost) {
  // Kernels of 100 ns every 1,000: nine gaps of 900.
  const std::optional<Finding> finding = FindingOf(Steps(1000, 100).Build(), "host-bound");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Nanoseconds(9 * 900));
  EXPECT_THAT(finding->layers, ElementsAre("aten::add", "aten::mul"));
  EXPECT_THAT(finding->evidence, HasSubstr("in 9 gaps"));
  EXPECT_THAT(finding->action, HasSubstr("CUDA graph"));
}

TEST(HostBoundFinding, IsNotThereWhereTheHostIsAhead) {
  EXPECT_FALSE(FindingOf(Steps(1000, 1500).Build(), "host-bound"));
}

TEST(HostBoundFinding, HiddenHostTimeIsNoGain) {
  // The host needs 600 ns more before the sixth operator; 400 of them are hidden behind work that is queued.
  TimelineBuilder builder;
  builder.Call(HostCallKind::kRuntime, "cudaLaunchKernel", 0, 20, 1).Work("a", 100, 500, 1);
  builder.Call(HostCallKind::kRuntime, "cudaLaunchKernel", 800, 20, 2).Work("b", 850, 500, 2);
  const std::optional<Finding> finding = FindingOf(builder.Build(), "host-bound");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Nanoseconds(850 - 600));
}

TEST(HostBoundFinding, SaysHowMuchOfItIsLaunching) {
  EXPECT_THAT(FindingOf(Steps(1000, 100).Build(), "host-bound")->evidence,
              HasSubstr("not launched work yet: 7.74 µs, and 360 ns from launch to start"));
}

TEST(HostBoundFinding, DevicesThatWaitAtTheSameTimeWinItOnce) {
  TimelineBuilder builder;
  for (const std::int64_t i : {0, 1}) {
    builder.Call(HostCallKind::kRuntime, "cudaLaunchKernel", i * 1000, 20, 2 * i);
    builder.Call(HostCallKind::kRuntime, "cudaLaunchKernel", i * 1000 + 30, 20, 2 * i + 1);
    builder.Work("k", i * 1000 + 50, 100, 2 * i, 0).Work("k", i * 1000 + 80, 100, 2 * i + 1, 2);
  }
  EXPECT_EQ(FindingOf(builder.Build(), "host-bound")->gain, Nanoseconds(900));
}

TEST(InputBoundFinding, IsTheTimeInTheDataLoader) {
  TimelineBuilder builder = Steps(1000, 100);
  // 600 of the 860 ns in which the fifth operator had not been asked for, once in another's range.
  builder.Call(HostCallKind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 4200, 600);
  builder.Call(HostCallKind::kOperator, "aten::stack", 4300, 100);
  const Timeline timeline = builder.Build();
  const std::optional<Finding> finding = FindingOf(timeline, "input-bound");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Nanoseconds(600));
  EXPECT_THAT(finding->action, HasSubstr("num_workers"));
  EXPECT_EQ(FindingOf(timeline, "host-bound")->gain, Nanoseconds(9 * 900 - 600));
  EXPECT_FALSE(FindingOf(Steps(1000, 100).Build(), "input-bound"));
}

TEST(HostSynchronizationFinding, IsTheIdleTimeAfterAWait) {
  const Timeline timeline = TimelineOf(
      "call cudaLaunchKernel 0..20 #1; kernel a 50..1050 #1; operator aten::item 30..1130; "
      "call cudaStreamSynchronize 40..1070; call cudaLaunchKernel 1400..1420 #2; "
      "kernel b 1450..2450 #2");
  const std::optional<Finding> finding = FindingOf(timeline, "host-synchronization");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Nanoseconds(400));
  EXPECT_THAT(finding->layers, ElementsAre("cudaStreamSynchronize in aten::item"));
  EXPECT_FALSE(FindingOf(timeline, "host-bound"));
}

TEST(HostSynchronizationFinding, AWaitThatEndedBeforeTheDeviceWasIdleIsNone) {
  const Timeline timeline = TimelineOf(
      "call cudaStreamSynchronize -100..-50; call cudaLaunchKernel 0..20 #1; kernel a 50..1050 #1; "
      "call cudaLaunchKernel 1400..1420 #2; kernel b 1450..2450 #2");
  EXPECT_FALSE(FindingOf(timeline, "host-synchronization"));
  EXPECT_TRUE(FindingOf(timeline, "host-bound"));
}

TEST(ExposedCopiesFinding, CountsWhatNothingHides) {
  TimelineBuilder builder;
  builder.Work("gemm", 0, 1000).Work("Memcpy HtoD (Pageable -> Device)", 900, 400, -1, 1, DeviceWorkKind::kCopy);
  const std::optional<Finding> finding = FindingOf(builder.Build(), "exposed-copies");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Nanoseconds(300));
  EXPECT_THAT(finding->evidence, HasSubstr("1 copy"));
}

TEST(ExposedCopiesFinding, DevicesThatCopyAtTheSameTimeWinItOnce) {
  TimelineBuilder builder;
  for (const std::uint32_t stream : {0, 2})
    builder.Work("gemm", 0, 1000, -1, stream).Work("Memcpy HtoD", 1000, 300, -1, stream, DeviceWorkKind::kCopy);
  EXPECT_EQ(FindingOf(builder.Build(), "exposed-copies")->gain, Nanoseconds(300));
}

TEST(ExposedCopiesFinding, IsNotThereWhereComputationHidesThem) {
  TimelineBuilder builder;
  builder.Work("gemm", 0, 1000).Work("Memcpy HtoD", 100, 400, -1, 1, DeviceWorkKind::kCopy);
  EXPECT_FALSE(FindingOf(builder.Build(), "exposed-copies"));
}

TEST(Findings, NoneAreMadeOfNothingAndTheLargestComesFirst) {
  EXPECT_TRUE(FindingsIn(Timeline{}).empty());
  EXPECT_TRUE(FindingsIn(TimelineOf("call cudaMalloc 0..20")).empty());
  TimelineBuilder builder = Steps(1000, 100);
  builder.Work("Memcpy HtoD", 10'000, 900, -1, 1, DeviceWorkKind::kCopy);
  const std::vector<Finding> findings = FindingsIn(builder.Build());
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].kind, "host-bound");
  EXPECT_GT(findings[0].gain, findings[1].gain);
}

}  // namespace
}  // namespace infimum::findings_test
