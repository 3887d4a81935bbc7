// From a trace to the waterfall: what a device idled is a host gap, and only what it idled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/findings/finding.h"
#include "analyzer/trace/timeline_run.h"
#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"
#include "tests/support/timeline_builder.h"

namespace infimum {
namespace {

using testing::GraphBuilder;

constexpr std::int64_t kMicrosecond = 1000;
const DeviceKey kGpu{"gpu/NVIDIA/compute_capability=9.0/multiprocessors=132"};

// x [8,100] -> fc1 -> fc2 -> fc3, at best 50, 100 and 30 us.
class TracedChain : public ::testing::Test {
 protected:
  TracedChain() {
    GraphBuilder model;
    ValueId value = model.Input("x", {8, 100});
    std::int64_t width = 100;
    for (const std::int64_t next : {200, 300, 70}) {
      value = model.MatMul("fc" + std::to_string(next), value, model.Weight("w" + std::to_string(next), {width, next}));
      width = next;
    }
    model.Output(value);
    graph_ = model.Take();
    for (std::size_t i = 0; i < 3; ++i) source_.Add(graph_.layers[i], "best", {kBest[i]});
  }

  // Four inferences whose products take `took`; the host works `between` microseconds before it asks for the second
  // one. A launch takes 2 us, and the device begins 3 us after it was asked, or when it is free.
  Waterfall Trace(std::array<double, 3> took, double between, double clone = 0) {
    TimelineBuilder trace;
    std::vector<std::pair<std::int64_t, std::string>> shapes;
    std::int64_t host = 0, device = 0, number = 1;
    const char* const operands[] = {"[[8,100],[200,100],[200]]", "[[8,200],[300,200],[300]]",
                                    "[[8,300],[70,300],[70]]"};
    const auto ask = [&](const char* op, const char* kernel, double microseconds, const char* operand) {
      trace.Call(HostCallKind::kOperator, op, host, 10 * kMicrosecond);
      shapes.emplace_back(host, operand);
      trace.Call(HostCallKind::kRuntime, "cudaLaunchKernel", host + 2 * kMicrosecond, 2 * kMicrosecond, number);
      device = std::max(device, host + 5 * kMicrosecond);
      const auto duration = static_cast<std::int64_t>(microseconds * kMicrosecond);
      trace.Work(kernel, device, duration, number++);
      device += duration;
      host += 12 * kMicrosecond;
    };
    for (int step = 0; step < 4; ++step) {
      const std::int64_t begin = host;
      ask("aten::linear", "gemm_1", took[0], operands[0]);
      host += static_cast<std::int64_t>(between * kMicrosecond);
      ask("aten::linear", "gemm_2", took[1], operands[1]);
      if (clone > 0) ask("aten::contiguous", "copy_kernel", clone, "[[8,300]]");
      ask("aten::linear", "gemm_3", took[2], operands[2]);
      const std::string name = "ProfilerStep#" + std::to_string(step);
      trace.Call(HostCallKind::kAnnotation, name.c_str(), begin, host - begin);
      host = std::max(host, device - 4 * kMicrosecond);  // the next inference is asked for just in time
    }
    Timeline timeline = trace.Build();
    timeline.profiler = "kineto";
    for (HostCall& call : timeline.host_calls)
      for (const auto& [start, operand] : shapes)
        if (call.kind == HostCallKind::kOperator && call.start_ns == start)
          call.shapes = timeline.names.Intern(operand);
    run_ = RunOf(timeline);
    Selection selection;
    selection.device = kGpu;
    bracket_ = testing::BracketOf(graph_, source_, selection);
    const Alignment alignment = AlignRun(graph_, run_);
    Waterfall waterfall = MakeWaterfall({graph_, bracket_, run_, alignment});
    Latency sum = waterfall.floor;
    for (const GapStep& step : waterfall.steps) sum += step.latency;
    EXPECT_NEAR(sum.count(), waterfall.measured.count(), 1e-6);
    return waterfall;
  }

  // Within 5 % of the cause, and as much of the whole gap unexplained at most.
  void ExpectCause(const Waterfall& waterfall, GapCause cause, double microseconds) {
    EXPECT_NEAR(waterfall.Of(cause).count(), microseconds, 0.05 * microseconds) << Name(cause);
    EXPECT_LE(std::abs(waterfall.Of(GapCause::kUnexplained).count()),
              0.05 * (waterfall.measured - waterfall.floor).count());
  }

  static constexpr double kBest[] = {50, 100, 30};
  ModelGraph graph_;
  testing::KnownRows source_{kGpu};
  RunProfile run_;
  Bracket bracket_;
};

TEST_F(TracedChain, AtItsBestTheDeviceIsHardlyIdle) {
  const Waterfall waterfall = Trace({50, 100, 30}, 0);
  EXPECT_EQ(waterfall.measured_by, MeasuredBy::kProfiled);
  EXPECT_NEAR(waterfall.measured.count(), 180, 3);
  EXPECT_LE(waterfall.Of(GapCause::kHostGaps).count(), 3);
  ExpectCause(waterfall, GapCause::kAlgorithmRegret, 0);
}

TEST_F(TracedChain, OnlyThePartOfTheHostsDelayThatNoQueuedWorkHidesIsAGap) {
  // The host is 200 us late. The first product still runs for 50 of them, less the 7 us between its launch and the
  // host's next call; launching takes 5.
  const Waterfall waterfall = Trace({50, 100, 30}, 200);
  const double hidden = 50 - 7;
  ExpectCause(waterfall, GapCause::kHostGaps, 200 - hidden + 5);
  EXPECT_NEAR(waterfall.Of(GapCause::kAlgorithmRegret).count(), 0, 1e-6);
  const std::vector<Finding> findings = FindingsOf(RunFacts{graph_, bracket_, run_, waterfall});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, "launch-bound");
}

TEST_F(TracedChain, ADelayThatQueuedWorkHidesIsNoGap) {
  const Waterfall waterfall = Trace({50, 100, 30}, 30);
  EXPECT_LE(waterfall.Of(GapCause::kHostGaps).count(), 3);
}

TEST_F(TracedChain, ASlowerKernelIsAlgorithmRegret) {
  const Waterfall waterfall = Trace({50, 160, 30}, 0);
  ExpectCause(waterfall, GapCause::kAlgorithmRegret, 60);
}

TEST_F(TracedChain, ACopyIsTheEnginesOwn) {
  const Waterfall waterfall = Trace({50, 100, 30}, 0, 40);
  ExpectCause(waterfall, GapCause::kLayoutChanges, 40);
}

}  // namespace
}  // namespace infimum
