// A whole model on the pretended GPU: the small network of tests/support on every layout of its convolutions, as a
// graph whose outputs are compared, with times that are known beforehand.
#include "microbench/gpu/gpu_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "microbench/gpu/gpu_backend.h"
#include "microbench/harness/sampling/replay_trial.h"
#include "src/core/results/replay_schedule_text.h"
#include "tests/microbench/gpu/pretended_gpu.h"
#include "tests/microbench/gpu/reference_library.h"
#include "tests/support/replay_network.h"

namespace infimum::cuda {
namespace {

using infimum::testing::ReplayNetwork;
using std::chrono::microseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class GpuReplay : public ::testing::Test {
 protected:
  GpuReplay() { gpu_.computes_in_graphs = true; }

  Result<std::unique_ptr<PreparedReplay>> Prepared(const ReplaySchedule& schedule, std::size_t streams = 1) {
    INFIMUM_ASSIGN_OR_RETURN(const TensorFolder folder, TensorFolder::Open(network_.folder()));
    return PrepareGpuReplay(gpu_, *libraries_, schedule, &folder, {1, streams});
  }
  std::unique_ptr<PreparedReplay> Replay(const ReplaySchedule& schedule, std::size_t streams = 1) {
    Result<std::unique_ptr<PreparedReplay>> replay = Prepared(schedule, streams);
    EXPECT_TRUE(replay.ok()) << (replay.ok() ? "" : replay.error().message);
    return *std::move(replay);
  }
  ReplayResult Checked(const ReplaySchedule& schedule, std::size_t streams = 1) {
    Result<ReplayResult> result = Replay(schedule, streams)->Check();
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return *std::move(result);
  }
  std::vector<ReplayCandidate> Convolutions() {
    std::vector<ReplayCandidate> candidates;
    const Result<std::vector<GpuOffer>> offers =
        libraries_->Offers(*ParseWorkload(ReplayNetwork::kFirst), NumericContract::kStrictF32, CandidateTier::kEngine);
    for (const GpuOffer& offer : *offers) {
      candidates.emplace_back(offer.candidate.name(), offer.candidate.input_layout, offer.candidate.output_layout);
    }
    return candidates;
  }

  PretendedGpu gpu_{GpuOptions{}};
  std::unique_ptr<GpuLibraries> libraries_ = MakeReferenceLibrary(gpu_);
  ReplayNetwork network_;
};

std::size_t Reorders(const ReplayResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.parts.begin(), result.parts.end(), [](const ReplayPart& part) { return part.is_reorder; }));
}

TEST_F(GpuReplay, IsRightWithEveryPairOfCandidatesAndTheirLayouts) {
  ASSERT_EQ(Convolutions().size(), 3u);
  for (const ReplayCandidate& first : Convolutions()) {
    for (const ReplayCandidate& second : Convolutions()) {
      SCOPED_TRACE(first.name + " " + first.input_layout + " then " + second.name + " " + second.input_layout);
      const ReplayResult result = Checked(ReplayNetwork::Schedule(first, second));
      EXPECT_EQ(result.FirstFault().value_or(""), "");
      ASSERT_EQ(result.outputs.size(), 1u);
      EXPECT_LT(result.outputs[0].error, 1e-5);
      for (const ReplayPart& part : result.parts) EXPECT_EQ(part.is_reorder, !part.error.has_value()) << part.name;
      // In and out again; what the add reads is there in either order. 16 channels fill multiples of 8: channels last
      // by another name.
      const bool any_last = first.input_layout == "acdb" || second.input_layout == "acdb";
      EXPECT_EQ(Reorders(result), any_last ? 2u : 0u);
    }
  }
}

TEST_F(GpuReplay, LayoutsTellApartWhatIsCalledAlike) {
  const ReplayResult last = Checked(ReplayNetwork::Schedule({"pretended/reference", "acdb", "acdb"}, {}));
  const ReplayResult first = Checked(
      ReplayNetwork::Schedule({"pretended/reference", "abcd", "abcd"}, {"pretended/reference", "abcd", "abcd"}));
  EXPECT_GT(Reorders(last), 0u);
  EXPECT_EQ(Reorders(first), 0u);
}

// Three channels are filled up to eight on the way in, five on the way out.
TEST_F(GpuReplay, ChannelsThatAreFilledUpStayZeroWhereNoneIs) {
  const Workload convolution = *ParseWorkload(
      "convolution dtype=f32:f32:f32 in=1x3x6x6 out_channels=5 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 "
      "bias=no weights=const");
  ReplaySchedule schedule;
  schedule.model = "padded";
  using Kind = ReplayTensorKind;
  schedule.tensors = {{"x", Kind::kInput, DataType::kF32, Shape{{1, 3, 6, 6}}},
                      {"w", Kind::kWeight, DataType::kF32, Shape{{5, 3, 3, 3}}},
                      {"y", Kind::kIntermediate, DataType::kF32, Shape{{1, 5, 6, 6}}, true}};
  schedule.steps = {
      ReplayNetwork::Step("conv", Format(convolution), {"pretended/reference/pad=8", "acdb", "acdb"}, {0, 1}, {2})};
  network_.given() = {{"x", std::vector<float>(108, 0.5F)}, {"w", std::vector<float>(135, 0.25F)}};
  std::vector<float> y(180);
  for (int i = 0; i < 180; ++i) {
    const int row = i / 6 % 6, column = i % 6;
    const int rows = row == 0 || row == 5 ? 2 : 3, columns = column == 0 || column == 5 ? 2 : 3;
    y[static_cast<std::size_t>(i)] = static_cast<float>(3 * rows * columns) * 0.125F;
  }
  network_.given()["y"] = y;
  network_.WriteTensors();
  const ReplayResult result = Checked(schedule);
  EXPECT_EQ(result.FirstFault().value_or(""), "");
  EXPECT_EQ(Reorders(result), 2u);
  EXPECT_EQ(result.outputs[0].error, 0);
}

TEST_F(GpuReplay, BranchesRunOnStreamsOfTheirOwn) {
  // Both convolutions read the input: neither waits for the other.
  ReplaySchedule forked = ReplayNetwork::Schedule();
  forked.steps[2].operands[0] = 0;
  const auto check = [&](std::size_t streams) {
    const auto replay = PrepareGpuReplay(gpu_, *libraries_, forked, nullptr, {7, streams});
    EXPECT_TRUE(replay.ok()) << (replay.ok() ? "" : replay.error().message);
    EXPECT_EQ((*replay)->Check()->FirstFault().value_or(""), "");
    return (*replay)->arena();
  };
  const Bytes together = check(1);
  EXPECT_EQ(gpu_.branches_used(), 1u);
  EXPECT_EQ(gpu_.follows(), 0u);
  const Bytes apart = check(4);
  EXPECT_GT(gpu_.branches_used(), 1u);
  EXPECT_GE(gpu_.follows(), 2u) << "a branch begins behind stream 0 and is joined";
  EXPECT_GT(apart.value, together.value);
}

TEST_F(GpuReplay, TheWholeIsOneGraphAndPartsAreMarginal) {
  const auto replay =
      Replay(ReplayNetwork::Schedule({"pretended/reference", "abcd", "abcd"}, {"pretended/reference", "abcd", "abcd"}));
  const std::size_t parts = replay->parts().size();
  ASSERT_EQ(parts, 7u);
  // 2 us for each kernel (concat is two copies), 6 us for starting each inference's graph, and 0.2 for each node of it,
  // which a part alone, whose stream is held meanwhile, does not wait for.
  EXPECT_NEAR(static_cast<double>((**replay->TimeParts(0, parts, 10)).count()), 10e3 * (8 * 2.2 + 6), 10);
  EXPECT_EQ(**replay->TimeParts(0, 1, 100), microseconds(200));
  EXPECT_EQ(**replay->TimeParts(4, 5, 100), microseconds(400));
  const std::vector<Latency> each = **replay->TimeEach();
  ASSERT_EQ(each.size(), parts);
  EXPECT_EQ(each[0], Latency(2));
  EXPECT_EQ(each[4], Latency(4));
}

TEST_F(GpuReplay, WeightsOfAPartCanBeRotated) {
  const auto replay = Replay(ReplayNetwork::Schedule());
  std::size_t part = 0;
  while (replay->constants(part).value == 0) ++part;
  EXPECT_EQ(replay->constants(part), Bytes{(16 * 16 * 9 + 16) * 4});
  const std::size_t before = gpu_.live_allocations();
  ASSERT_TRUE(replay->RotateConstants(part, 4).ok());
  EXPECT_EQ(gpu_.live_allocations(), before + 2);
  EXPECT_TRUE(replay->TimeParts(part, part + 1, 10).ok());
  ASSERT_TRUE(replay->RotateConstants(part, 1).ok());
  EXPECT_EQ(gpu_.live_allocations(), before);
  EXPECT_EQ(replay->Check()->FirstFault().value_or(""), "");
}

TEST_F(GpuReplay, GoesThroughTheHarnessLikeAnyOther) {
  FakeClock clock;
  const auto open = [&](const GpuOptions& options) -> Result<std::unique_ptr<Gpu>> {
    auto gpu = std::make_unique<PretendedGpu>(options, &clock);
    gpu->computes_in_graphs = true;
    return std::unique_ptr<Gpu>(std::move(gpu));
  };
  const auto libraries = [](Gpu& gpu) { return MakeReferenceLibrary(static_cast<PretendedGpu&>(gpu)); };
  GpuBackend backend(BackendOptions{}, GpuParts{open, libraries, &clock});
  const std::filesystem::path schedule = network_.folder() / "schedule.json";
  std::ofstream(schedule) << FormatReplaySchedule(ReplayNetwork::Schedule());
  NoInterference interference;
  CacheFlusher flusher(Bytes{4 << 20});
  ReplayRequest request{schedule.string(), network_.folder().string()};
  request.budget = std::chrono::milliseconds(2);
  const Result<ReplayResult> result = RunReplay(backend, request, {interference, flusher});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->FirstFault().value_or(""), "");
  EXPECT_NEAR(result->demonstrated().count(), 6 + 2.2 * static_cast<double>(result->parts.size() + 1), 1e-6);
  for (const ReplayPart& part : result->parts) {
    EXPECT_EQ(part.alone, Latency(part.name == "concat" ? 4 : 2)) << part.name;
    EXPECT_EQ(part.in_loop, part.alone) << part.name;
  }
}

TEST_F(GpuReplay, WithoutTensorsTheGraphIsHeldAgainstItsSteps) {
  const Result<std::unique_ptr<PreparedReplay>> replay =
      PrepareGpuReplay(gpu_, *libraries_, ReplayNetwork::Schedule(), nullptr, {7, 1});
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  const Result<ReplayResult> right = (*replay)->Check();
  ASSERT_TRUE(right.ok());
  EXPECT_EQ(right->FirstFault().value_or(""), "");
  ASSERT_EQ(right->outputs.size(), 1u);
  EXPECT_EQ(right->outputs[0].error, 0);
  // A graph that computes nothing leaves nonsense.
  gpu_.computes_in_graphs = false;
  EXPECT_THAT((*replay)->Check()->FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(GpuReplay, NoticesWhatIsWrong) {
  ReplaySchedule schedule = ReplayNetwork::Schedule();
  schedule.steps[6].values[0]["epsilon"] = {1e-5};
  EXPECT_THAT(Checked(schedule).FirstFault().value_or(""), HasSubstr("output 'y'"));
  schedule = ReplayNetwork::Schedule();
  schedule.steps[4].operands = {0, 7};
  EXPECT_THAT(Checked(schedule).FirstFault().value_or(""), HasSubstr("output 'y'"));
  network_.given()["w1"][1000] += 0.25F;
  network_.WriteTensors();
  EXPECT_THAT(Checked(ReplayNetwork::Schedule()).FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(GpuReplay, AGraphThatComputesNothingIsNoticed) {
  const auto replay = Replay(ReplayNetwork::Schedule());
  gpu_.computes_in_graphs = false;
  EXPECT_THAT(replay->Check()->FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(GpuReplay, NamesTheStepThatNothingRuns) {
  ReplaySchedule schedule = ReplayNetwork::Schedule();
  libraries_ = MakeOwnLibrary();
  const auto replay = Prepared(schedule);
  ASSERT_FALSE(replay.ok());
  EXPECT_THAT(replay.error().message, AllOf(HasSubstr("'conv1'"), HasSubstr("unsupported: nothing here runs it")));
}

TEST_F(GpuReplay, LeavesNothingBehind) {
  { EXPECT_TRUE(Replay(ReplayNetwork::Schedule(), 3)->TimeEach().ok()); }
  EXPECT_EQ(gpu_.live_allocations(), 0u);
  EXPECT_EQ(gpu_.live_graphs(), 0u);
}

}  // namespace
}  // namespace infimum::cuda
