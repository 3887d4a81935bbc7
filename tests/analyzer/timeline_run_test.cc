#include "analyzer/trace/timeline_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "tests/support/timeline_builder.h"

namespace infimum::timeline_run_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> NamesOf(const RunProfile& run) {
  std::vector<std::string> names;
  for (const ProfiledLayer& layer : run.layers) names.push_back(layer.name);
  return names;
}

// In nanoseconds; samples are microseconds.
class Steps {
 public:
  // aten::conv2d over aten::cudnn_convolution, which starts a kernel and a small one; then aten::relu. The device runs
  // 100 behind; the next step may follow 1,000 later.
  Steps& Inference(std::int64_t at, std::int64_t kernel = 300) {
    builder_.Call(HostCallKind::kOperator, "aten::conv2d", at, 100)
        .Call(HostCallKind::kOperator, "aten::cudnn_convolution", at + 10, 80);
    Launch("gemm", at + 20, at + 100, kernel);
    Launch("turn", at + 40, at + 100 + kernel, 50);
    builder_.Call(HostCallKind::kOperator, "aten::relu", at + 110, 50);
    Launch("elementwise", at + 120, at + 200 + kernel, 20);
    return *this;
  }
  Steps& Operator(const char* name, std::int64_t at) {
    builder_.Call(HostCallKind::kOperator, name, at, 50);
    Launch("other", at + 10, at + 20, 10);
    return *this;
  }
  Steps& Range(const char* name, std::int64_t start, std::int64_t duration) {
    builder_.Call(HostCallKind::kAnnotation, name, start, duration);
    return *this;
  }
  Steps& Launch(const char* kernel, std::int64_t asked, std::int64_t start, std::int64_t duration) {
    builder_.Call(HostCallKind::kRuntime, "cudaLaunchKernel", asked, 5, next_);
    builder_.Work(kernel, start, duration, next_++);
    return *this;
  }
  Timeline Build() { return builder_.Build(); }

 private:
  TimelineBuilder builder_;
  std::int64_t next_ = 1;
};

TEST(TimelineRun, AnOperatorTakesTheTimeOfWhatItStarted) {
  Timeline timeline = Steps().Inference(0).Build();
  timeline.profiler = "kineto";
  for (HostCall& call : timeline.host_calls)
    if (timeline.names.text(call.name) == "aten::conv2d")
      call.shapes = timeline.names.Intern("[[1,3,8,8],[4,3,3,3],[]]");
  const RunProfile run = RunOf(timeline);
  EXPECT_EQ(run.framework, "pytorch");
  EXPECT_THAT(NamesOf(run), ElementsAre("aten::conv2d#1", "aten::relu#1"));
  EXPECT_EQ(run.layers[0].op, "aten::conv2d");
  EXPECT_EQ(run.layers[0].algorithm, "gemm");
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(0.35)));
  ASSERT_THAT(run.layers[0].input_tensors, SizeIs(3));
  EXPECT_THAT(run.layers[0].input_tensors[1].dims, ElementsAre(4, 3, 3, 3));
  EXPECT_THAT(run.profiled, ElementsAre(Latency(0.42)));  // 100 to 520
  ASSERT_TRUE(run.idle);
  EXPECT_EQ(run.idle->queued, Latency(0.05));  // relu was asked for before the turn ended
  EXPECT_EQ(run.idle->host, Latency(0));
}

TEST(TimelineRun, ProfilerStepsAreInferencesAndTheFirstIsTheWarmUp) {
  const RunProfile run = RunOf(Steps()
                                   .Range("ProfilerStep#3", -10, 1000)
                                   .Inference(0, 500)
                                   .Range("ProfilerStep#4", 990, 1000)
                                   .Inference(1000, 300)
                                   .Range("ProfilerStep#5", 1990, 1000)
                                   .Inference(2000, 320)
                                   .Operator("aten::mul", 5000)
                                   .Build());
  EXPECT_THAT(NamesOf(run), ElementsAre("aten::conv2d#1", "aten::relu#1"));
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(0.35), Latency(0.37)));
  EXPECT_THAT(run.warnings, ElementsAre("3 inferences, divided by ProfilerStep; the first is left out as the warm-up; "
                                        "1 operator outside of them is left out"));
  // From its first work to the first of the next, with the gap; the last to its own end.
  EXPECT_THAT(run.profiled, ElementsAre(Latency(1.0), Latency(0.44)));
}

TEST(TimelineRun, RangesOfOneNameAreInferencesWhereTheyHoldTheTime) {
  Steps steps;
  steps.Range("warm up", 0, 100).Operator("aten::mul", 10);
  for (int i = 1; i < 4; ++i)
    steps.Range(("request " + std::to_string(i)).c_str(), 1000 * i, 900).Inference(1000 * i + 10, 300 + 10 * i);
  const RunProfile run = RunOf(steps.Build());
  EXPECT_THAT(run.warnings.front(), HasSubstr("3 inferences, divided by the ranges 'request '"));
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(0.37), Latency(0.38)));
}

TEST(TimelineRun, WithoutRangesTheOperatorsRepeat) {
  const RunProfile run = RunOf(Steps().Inference(0).Inference(1000, 310).Inference(2000, 320).Build());
  EXPECT_THAT(run.warnings.front(), HasSubstr("3 inferences, divided where the operators repeat"));
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(0.36), Latency(0.37)));
}

TEST(TimelineRun, WhatNeitherMarksNorRepeatsIsOneInference) {
  const RunProfile run = RunOf(Steps().Inference(0).Operator("aten::mul", 2000).Build());
  EXPECT_THAT(NamesOf(run), ElementsAre("aten::conv2d#1", "aten::relu#1", "aten::mul#1"));
  EXPECT_THAT(run.warnings.front(), HasSubstr("one inference"));
}

TEST(TimelineRun, AnInferenceThatRanSomethingElseIsLeftOut) {
  const RunProfile run = RunOf(Steps()
                                   .Range("ProfilerStep#1", -10, 1000)
                                   .Inference(0)
                                   .Range("ProfilerStep#2", 990, 1000)
                                   .Inference(1000)
                                   .Range("ProfilerStep#3", 1990, 1000)
                                   .Inference(2000)
                                   .Operator("aten::mul", 2600)
                                   .Range("ProfilerStep#4", 2990, 1000)
                                   .Inference(3000, 330)
                                   .Build());
  EXPECT_THAT(run.layers, SizeIs(2));
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(0.35), Latency(0.38)));
  EXPECT_THAT(run.warnings, Contains(HasSubstr("1 inference runs other operators or shapes")));
}

TEST(TimelineRun, KernelsThatNoOperatorStartedAreLayersByThemselves) {
  const RunProfile run =
      RunOf(TimelineOf("call cudaGraphLaunch 0..10 #1; kernel void ns::gemm<int>(int) 20..30 #1; "
                       "kernel void ns::gemm<int>(int) 35..45 #1; kernel softmax_warp 50..55 #1"));
  EXPECT_THAT(NamesOf(run), ElementsAre("ns::gemm#1", "ns::gemm#2", "softmax_warp#1"));
}

TEST(TimelineRun, ABackwardPassIsOneLayerForEachOfItsCalls) {
  TimelineBuilder builder;
  builder.Call(HostCallKind::kOperator, "autograd::engine::evaluate_function: AddmmBackward0", 0, 100)
      .Call(HostCallKind::kOperator, "AddmmBackward0", 5, 90)
      .Call(HostCallKind::kOperator, "aten::mm", 10, 30)
      .Call(HostCallKind::kRuntime, "launch", 20, 5, 1)
      .Work("gemm", 30, 10, 1)
      .Call(HostCallKind::kOperator, "aten::mm", 50, 30)
      .Call(HostCallKind::kRuntime, "launch", 60, 5, 2)
      .Work("gemm", 70, 10, 2);
  const RunProfile run = RunOf(builder.Build());
  EXPECT_THAT(NamesOf(run), ElementsAre("autograd::engine::evaluate_function: AddmmBackward0#1"));
  EXPECT_THAT(run.warnings, Contains(HasSubstr("a backward pass takes")));
}

TEST(TimelineRun, RangesWithinAnInferenceNameTheLayersInThem) {
  const RunProfile run =
      RunOf(Steps().Range("all", -10, 3000).Range("encoder", -5, 400).Inference(0).Operator("aten::mul", 1000).Build());
  EXPECT_THAT(NamesOf(run), ElementsAre("encoder/aten::conv2d#1", "encoder/aten::relu#1", "aten::mul#1"));
}

TEST(TimelineRun, WithoutADeviceTheHostsTimeCounts) {
  TimelineBuilder builder;
  for (int i = 0; i < 3; ++i) {
    builder.Call(HostCallKind::kOperator, "aten::linear", 1000 * i, 400 + 10 * i)
        .Call(HostCallKind::kOperator, "aten::addmm", 1000 * i + 10, 300)
        .Call(HostCallKind::kOperator, "aten::relu", 1000 * i + 500, 100);
  }
  const RunProfile run = RunOf(builder.Build());
  EXPECT_THAT(NamesOf(run), ElementsAre("aten::linear#1", "aten::relu#1"));
  EXPECT_THAT(run.layers[0].samples, ElementsAre(Latency(0.41), Latency(0.42)));
  EXPECT_THAT(run.profiled, ElementsAre(Latency(1.0), Latency(0.6)));
  EXPECT_FALSE(run.idle);
}

TEST(TimelineRun, OverlappingWorkIsCountedInBothLayersAndSaidOnce) {
  const RunProfile run =
      RunOf(TimelineOf("call launch 0..5 #1; call launch 6..11 #2; kernel a 20..120 #1; kernel b 60..160 #2 on 1"));
  ASSERT_TRUE(run.idle);
  EXPECT_EQ(run.idle->overlapped, Latency(0.06));
  EXPECT_THAT(run.profiled, ElementsAre(Latency(0.14)));
}

TEST(TimelineRun, WhatWasWaitedForIsNotGuessed) {
  const RunProfile run = RunOf(TimelineOf("kernel a 0..10; kernel b 100..110"));
  EXPECT_FALSE(run.idle);
  EXPECT_THAT(run.warnings, Contains(HasSubstr("no call is known to have started")));
}

// Calls that overlap in any way, ranges, work that nobody started: all of a device's work is in the layers, once.
TEST(TimelineRun, NoWorkOfARandomTimelineIsLostOrCountedTwice) {
  std::mt19937_64 random(11);
  const auto pick = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  int checked = 0;
  for (int round = 0; round < 500; ++round) {
    TimelineBuilder builder;
    const auto name = [&] {
      return std::array{"aten::linear", "aten::addmm", "AddmmBackward0", "my op", "aten::view", "range"}.at(
          static_cast<std::size_t>(pick(6)));
    };
    for (std::int64_t i = pick(20); i > 0; --i)
      builder.Call(pick(4) == 0 ? HostCallKind::kAnnotation : HostCallKind::kOperator, name(), pick(400), pick(200), -1,
                   static_cast<std::uint32_t>(pick(2)));
    std::int64_t all = 0;
    for (std::int64_t i = 1 + pick(20); i > 0; --i) {
      const std::int64_t start = pick(400), duration = pick(50);
      if (pick(3) > 0)
        builder.Call(HostCallKind::kRuntime, "launch", start - pick(50), 3, i, static_cast<std::uint32_t>(pick(2)));
      builder.Work(pick(2) == 0 ? "gemm" : "relu", start, duration, i, static_cast<std::uint32_t>(pick(2)));
      all += duration;
    }
    const RunProfile run = RunOf(builder.Build());
    ASSERT_FALSE(run.layers.empty());
    if (!run.warnings.front().starts_with("one inference")) continue;
    ++checked;
    Latency layers{0};
    for (const ProfiledLayer& layer : run.layers) layers += layer.samples.at(0);
    ASSERT_NEAR(layers.count() * 1000, static_cast<double>(all), 1e-6) << round;
    if (!run.idle) continue;
    ASSERT_NEAR((run.profiled.at(0) - run.idle->total()).count(), (layers - run.idle->overlapped).count(), 1e-9)
        << round;
  }
  EXPECT_GT(checked, 250);
}

TEST(TimelineRun, AnEmptyTimelineIsARunWithoutLayers) {
  const RunProfile run = RunOf(Timeline{});
  EXPECT_THAT(run.layers, IsEmpty());
  EXPECT_THAT(run.warnings, ElementsAre("neither device work nor operators"));
}

}  // namespace
}  // namespace infimum::timeline_run_test
