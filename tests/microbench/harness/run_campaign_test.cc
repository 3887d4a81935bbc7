#include "microbench/harness/supervisor/run_campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "microbench/fake/fake_backend.h"
#include "microbench/fake/fake_machine.h"
#include "microbench/harness/supervisor/campaign_summary.h"
#include "microbench/harness/worker/worker_main.h"

namespace infimum {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

const char* const kPlan =
    "# infimum plan 1\n"
    "uses=1 share=0.2 contract=strict-f32 pointwise kind=relu dtype=f32:-:f32 in=802816\n"
    "uses=1 share=0.5 contract=strict-f32 matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x768 bias=no weights=const\n"
    "uses=1 share=0.3 contract=strict-f32 convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 "
    "stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 bias=no weights=const\n";

Plan PlanOf(const std::string& text) {
  Result<Plan> plan = ParsePlan(text, "test");
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().message);
  return *std::move(plan);
}

// A worker in this process, on the campaign's own clock, whose answers a test may replace.
class InProcessWorker : public Worker {
 public:
  InProcessWorker(FakeClock& clock, BackendOptions options) : clock_(clock), options_(std::move(options)) {}

  Status Start(std::int64_t process) override {
    ++starts;
    options_.process = process;
    handler_ = std::make_unique<RequestHandler>(options_, make_backend_);
    return {};
  }

  WorkerReply Ask(const WorkerRequest& request, TimeLimit limit) override {
    clock_.Advance(cost_of_asking);
    if (const auto* trial = std::get_if<TrialRequest>(&request)) {
      trials.push_back(*trial);
      if (lose) {
        if (std::optional<WorkerLoss> loss = lose(*trial)) return *loss;
      }
      if (hang_on == trial->candidate.algorithm) {
        clock_.Advance(limit.answer);
        return WorkerLoss{WorkerLoss::Cause::kTimeLimit, "no answer within the limit"};
      }
    }
    return handler_->Handle(request);
  }

  std::vector<std::string> Order() const {
    std::vector<std::string> order;
    for (const TrialRequest& trial : trials) order.push_back(trial.candidate.algorithm + " " + trial.workload);
    return order;
  }

  std::int64_t starts = 0;
  std::vector<TrialRequest> trials;
  Clock::Duration cost_of_asking{0};
  std::function<std::optional<WorkerLoss>(const TrialRequest&)> lose;
  std::string hang_on;

 private:
  FakeClock& clock_;
  BackendOptions options_;
  BackendFactory make_backend_ = [this](const BackendOptions& options) {
    return std::make_unique<FakeBackend>(options, clock_);
  };
  std::unique_ptr<RequestHandler> handler_;
};

class MemoryOutput : public ResultsOutput {
 public:
  Result<EarlierResults> Begin(const ResultsHeader&) override { return EarlierResults{}; }
  Status Write(const ResultsRecord& record) override {
    if (const auto* row = std::get_if<Measurement>(&record)) rows.push_back(*row);
    if (const auto* peak = std::get_if<PeakRate>(&record)) peaks.push_back(*peak);
    if (fail_after >= 0 && static_cast<std::int64_t>(rows.size()) > fail_after) return Error{"disk full"};
    return {};
  }
  Status Finish() override { return {}; }

  // The row that counts for each key: the last one.
  std::map<std::string, Measurement> Counting() const {
    std::map<std::string, Measurement> counting;
    for (const Measurement& row : rows) counting[RowKey(row)] = row;
    return counting;
  }
  EarlierResults AsEarlier() const {
    EarlierResults earlier;
    for (const Measurement& row : rows) EXPECT_TRUE(earlier.rows.Keep(row).ok());
    return earlier;
  }

  std::vector<Measurement> rows;
  std::vector<PeakRate> peaks;
  std::int64_t fail_after = -1;
};

std::string UtcNow() { return "2026-11-21T10:47:44Z"; }

class CampaignOnFake : public ::testing::Test {
 protected:
  Result<CampaignSummary> TryRun(const std::string& plan = kPlan) {
    CampaignTools tools{.worker = worker, .output = output, .clock = clock, .utc_now = UtcNow};
    tools.interrupted = [this] { return interrupt_after >= 0 && std::ssize(output.rows) >= interrupt_after; };
    tools.progress = [this](const CampaignProgress& progress) { progresses.push_back(progress); };
    return RunCampaign(PlanOf(plan), header, std::move(earlier), options, tools);
  }
  CampaignSummary Run(const std::string& plan = kPlan) {
    Result<CampaignSummary> summary = TryRun(plan);
    EXPECT_TRUE(summary.ok());
    return *std::move(summary);
  }
  Measurement Row(const std::string& algorithm, const std::string& family) const {
    for (const auto& [key, row] : output.Counting())
      if (row.candidate.algorithm == algorithm && row.workload.text.starts_with(family)) return row;
    ADD_FAILURE() << "no row of " << algorithm << " for " << family;
    return {};
  }

  FakeClock clock;
  BackendOptions backend;
  InProcessWorker worker{clock, backend};
  MemoryOutput output;
  ResultsHeader header{FakeDevice(0), Environment{}, "fake"};
  EarlierResults earlier;
  MeasuringOptions options;
  std::int64_t interrupt_after = -1;
  std::vector<CampaignProgress> progresses;
};

TEST_F(CampaignOnFake, EveryCandidateGetsARowAndItsTimeIsExact) {
  Run();
  std::int64_t measured = 0;
  for (const auto& [key, row] : output.Counting()) {
    EXPECT_EQ(row.device, header.device.Key());
    EXPECT_EQ(row.measured_at, "2026-11-21T10:47:44Z");
    if (row.outcome != Outcome::kMeasured) continue;
    ++measured;
    const Clock::Duration expected = *FakeLatency(*ParseWorkload(row.workload.text), row.candidate, 1, 0);
    EXPECT_EQ(BestSeen(row.repetitions), Latency(expected)) << key;
  }
  EXPECT_EQ(output.Counting().size(), 2u + 4u + 5u);
  EXPECT_EQ(measured, 2 + 2 + 3);
  EXPECT_EQ(Row("sparse", "matmul").outcome, Outcome::kUnsupported);
  EXPECT_EQ(Row("ref", "convolution").outcome, Outcome::kSkipped);
  EXPECT_THAT(Row("ref", "convolution").reason, HasSubstr("more than 10 x the best candidate's"));
}

TEST_F(CampaignOnFake, CandidatesNearTheBestGetARepetitionFromEachOfThreeProcesses) {
  Run();
  EXPECT_EQ(worker.starts, 3);
  EXPECT_EQ(Row("direct", "matmul").repetitions.size(), 3u);
  // Each repetition writes the row again, with all that it has.
  std::vector<std::size_t> counts;
  for (const Measurement& row : output.rows)
    if (row.candidate.algorithm == "direct" && row.workload.text.starts_with("matmul"))
      counts.push_back(row.repetitions.size());
  EXPECT_THAT(counts, ::testing::ElementsAre(1, 2, 3));
}

TEST_F(CampaignOnFake, ASlowCandidateKeepsItsQuickLookAsItsOnlyRepetition) {
  options.decisive_ratio = 1.01;
  Run();
  const Measurement scalar = Row("scalar", "pointwise");
  EXPECT_EQ(scalar.outcome, Outcome::kMeasured);
  ASSERT_EQ(scalar.repetitions.size(), 1u);
  EXPECT_EQ(scalar.repetitions[0].count, 5);
  EXPECT_THAT(scalar.flags, ::testing::Contains("pruned"));
  EXPECT_EQ(Row("simd", "pointwise").repetitions.size(), 3u);
}

TEST_F(CampaignOnFake, TheLargestShareComesFirstAndInItTheLibrarysChoice) {
  Run();
  const std::vector<std::string> order = worker.Order();
  EXPECT_THAT(order[0], ::testing::StartsWith("direct matmul"));
  EXPECT_THAT(order[4], ::testing::StartsWith("direct convolution"));
  EXPECT_THAT(order[9], ::testing::StartsWith("simd pointwise"));
}

TEST_F(CampaignOnFake, TheOrderFollowsFromTheSeedAlone) {
  Run();
  FakeClock other_clock;
  InProcessWorker same(other_clock, backend);
  InProcessWorker other(other_clock, backend);
  MemoryOutput sink;
  CampaignTools tools{.worker = same, .output = sink, .clock = other_clock, .utc_now = UtcNow};
  ASSERT_TRUE(RunCampaign(PlanOf(kPlan), header, {}, options, tools).ok());
  EXPECT_EQ(same.Order(), worker.Order());
  CampaignTools other_tools{.worker = other, .output = sink, .clock = other_clock, .utc_now = UtcNow};
  options.seed = 2;
  ASSERT_TRUE(RunCampaign(PlanOf(kPlan), header, {}, options, other_tools).ok());
  EXPECT_NE(other.Order(), worker.Order());
}

TEST_F(CampaignOnFake, LaterRoundsMixWorkloads) {
  Run();
  // Of the seven candidates in round 2, neighbours are not always of one workload.
  const std::vector<TrialRequest> round_two(worker.trials.begin() + 11, worker.trials.begin() + 18);
  std::int64_t changes = 0;
  for (std::size_t i = 1; i < round_two.size(); ++i) changes += round_two[i].workload != round_two[i - 1].workload;
  EXPECT_GT(changes, 2);
}

TEST_F(CampaignOnFake, NumbersAreCheckedOncePerCandidate) {
  Run();
  std::map<std::string, std::int64_t> checks;
  for (const TrialRequest& trial : worker.trials)
    checks[trial.candidate.name() + trial.workload] += trial.check_numbers;
  for (const auto& [candidate, count] : checks) EXPECT_EQ(count, 1) << candidate;
}

TEST_F(CampaignOnFake, OnlyTheFirstRepetitionMayBeCutShort) {
  Run();
  std::map<std::string, int> seen;
  for (const TrialRequest& trial : worker.trials) {
    if (seen[trial.candidate.name() + trial.workload]++ == 0) continue;
    EXPECT_FALSE(trial.skip_above);
    EXPECT_FALSE(trial.sampler.give_up_above);
  }
}

TEST_F(CampaignOnFake, ALostWorkerCostsOneRowAndIsReplaced) {
  worker.lose = [](const TrialRequest& trial) -> std::optional<WorkerLoss> {
    if (trial.candidate.algorithm != "gemm") return std::nullopt;
    return WorkerLoss{WorkerLoss::Cause::kDied, "killed by signal 11 (segmentation fault)"};
  };
  const CampaignSummary summary = Run();
  EXPECT_EQ(Row("gemm", "matmul").outcome, Outcome::kFailed);
  EXPECT_EQ(Row("gemm", "matmul").reason, "killed by signal 11 (segmentation fault)");
  EXPECT_EQ(Row("direct", "matmul").repetitions.size(), 3u);
  EXPECT_EQ(worker.starts, 3 + 2);  // two workloads have a gemm
  EXPECT_THAT(FormatSummary(summary, "-"),
              HasSubstr("failed: fake/gemm: killed by signal 11 (segmentation fault) (2 rows)"));
}

TEST_F(CampaignOnFake, ACandidateThatFailsLaterKeepsWhatWasMeasured) {
  worker.lose = [this](const TrialRequest& trial) -> std::optional<WorkerLoss> {
    if (trial.candidate.algorithm != "gemm" || worker.starts < 2) return std::nullopt;
    return WorkerLoss{WorkerLoss::Cause::kDied, "killed by signal 6 (aborted)"};
  };
  Run();
  const Measurement row = Row("gemm", "convolution");
  EXPECT_EQ(row.outcome, Outcome::kMeasured);
  EXPECT_EQ(row.repetitions.size(), 1u);
  EXPECT_THAT(row.flags, ::testing::Contains("unstable"));
}

TEST_F(CampaignOnFake, ACampaignThatIsContinuedMeasuresOnlyWhatIsMissing) {
  Run();
  const std::size_t all = worker.trials.size();
  const std::vector<Measurement> complete = output.rows;
  for (std::int64_t cut = 0; cut <= std::ssize(complete); cut += 3) {
    output.rows.assign(complete.begin(), complete.begin() + cut);
    earlier = output.AsEarlier();
    worker.trials.clear();
    const CampaignSummary summary = Run();
    EXPECT_EQ(worker.trials.size(), all - static_cast<std::size_t>(cut)) << cut;
    EXPECT_EQ(output.Counting().size(), 11u);
    for (const auto& [key, row] : output.Counting()) {
      if (row.outcome != Outcome::kMeasured) continue;
      EXPECT_EQ(row.repetitions.size(), 3u) << key;
    }
  }
}

TEST_F(CampaignOnFake, FailedRowsAreMeasuredAgainOnlyWithRetryFailed) {
  worker.lose = [](const TrialRequest& trial) -> std::optional<WorkerLoss> {
    if (trial.candidate.algorithm != "gemm") return std::nullopt;
    return WorkerLoss{WorkerLoss::Cause::kDied, "killed"};
  };
  Run();
  earlier = output.AsEarlier();
  worker.lose = nullptr;
  worker.trials.clear();
  Run();
  EXPECT_TRUE(worker.trials.empty());
  earlier = output.AsEarlier();
  options.retry_failed = true;
  Run();
  EXPECT_EQ(Row("gemm", "matmul").outcome, Outcome::kMeasured);
  EXPECT_EQ(Row("gemm", "matmul").repetitions.size(), 3u);
}

TEST_F(CampaignOnFake, ABudgetIsKeptAndGivesEveryWorkloadOneRepetitionFirst) {
  worker.cost_of_asking = milliseconds(5);
  options.budget = milliseconds(400);
  const CampaignSummary summary = Run();
  EXPECT_LE(clock.Now(), milliseconds(400) + milliseconds(130));  // one trial more, of which `ref` takes up to 93 ms
  for (const CampaignWorkload& workload : summary.workloads) EXPECT_TRUE(workload.Best(CacheState::kWarm));
  EXPECT_TRUE(summary.budget_spent);
}

TEST_F(CampaignOnFake, ABudgetThatIsTooShortMeasuresTheLargestShare) {
  worker.cost_of_asking = milliseconds(30);
  options.budget = milliseconds(100);
  const CampaignSummary summary = Run();
  EXPECT_TRUE(summary.workloads[0].Best(CacheState::kWarm));
  EXPECT_THAT(summary.workloads[0].workload.text, ::testing::StartsWith("matmul"));
  EXPECT_FALSE(summary.workloads[2].Best(CacheState::kWarm));
  EXPECT_THAT(FormatSummary(summary, "r.jsonl"), HasSubstr("the same command continues from here"));
}

TEST_F(CampaignOnFake, ACandidateThatTheBudgetCutIsNotAFailure) {
  worker.hang_on = "direct";
  options.budget = milliseconds(100);
  const CampaignSummary summary = Run();
  EXPECT_TRUE(summary.budget_spent);
  EXPECT_TRUE(output.rows.empty());
}

TEST_F(CampaignOnFake, ACandidateThatHangsHasFailed) {
  worker.hang_on = "direct";
  Run();
  EXPECT_EQ(Row("direct", "matmul").outcome, Outcome::kFailed);
  EXPECT_EQ(Row("gemm", "matmul").outcome, Outcome::kMeasured);
}

TEST_F(CampaignOnFake, AnInterruptEndsAfterTheRowAtHand) {
  interrupt_after = 4;
  const CampaignSummary summary = Run();
  EXPECT_TRUE(summary.interrupted);
  EXPECT_EQ(output.rows.size(), 4u);
}

TEST_F(CampaignOnFake, AnOutputThatCannotBeWrittenIsAnError) {
  output.fail_after = 2;
  const Result<CampaignSummary> summary = TryRun();
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().message, "disk full");
}

TEST_F(CampaignOnFake, PeaksAreMeasuredOnce) {
  options.peaks = PeakDetail::kWhole;
  Run("# infimum plan 1\n");
  EXPECT_EQ(output.peaks, FakePeaks(1));
  earlier.peaks = output.peaks;
  Run("# infimum plan 1\n");
  EXPECT_EQ(output.peaks.size(), FakePeaks(1).size());
}

TEST_F(CampaignOnFake, BothCacheStatesAreRowsOfTheirOwn) {
  options.caches = {CacheState::kWarm, CacheState::kCold};
  options.rounds = 1;
  Run("# infimum plan 1\nuses=1 share=1 contract=strict-f32 pointwise kind=relu dtype=f32:-:f32 in=8\n");
  EXPECT_EQ(output.Counting().size(), 4u);
}

TEST_F(CampaignOnFake, ColdWeightsAreMeasuredForWorkloadsWithConstantsAndOthersAreWarm) {
  options.caches = {CacheState::kColdWeights};
  options.rounds = 1;
  const std::string product = "matmul dtype=f32:f32:f32 a=1x8x64 b=1x64x64 bias=no weights=const";
  const std::string variable = "matmul dtype=f32:f32:f32 a=1x8x64 b=1x64x64 bias=no weights=variable";
  Run("# infimum plan 1\nuses=1 share=0.6 contract=strict-f32 " + product + "\nuses=1 share=0.3 contract=strict-f32 " +
      variable + "\nuses=1 share=0.1 contract=strict-f32 pointwise kind=relu dtype=f32:-:f32 in=8\n");
  for (const auto& [key, row] : output.Counting()) {
    EXPECT_EQ(row.cache, row.workload.text == product ? CacheState::kColdWeights : CacheState::kWarm);
    if (row.workload.text != product || row.candidate.algorithm != "direct") continue;
    // 64 x 64 weights of 4 bytes at 10 GB/s, on top of what it takes warm.
    const Clock::Duration warm = *FakeLatency(*ParseWorkload(product), row.candidate, 1, 0);
    EXPECT_EQ(BestSeen(row.repetitions), Latency(warm + std::chrono::nanoseconds(1639)));
  }
  EXPECT_EQ(output.Counting().size(), 4u + 4u + 2u);
}

TEST_F(CampaignOnFake, WarmAndColdWeightsTogetherMeasureNothingTwice) {
  options.caches = {CacheState::kWarm, CacheState::kColdWeights};
  options.rounds = 1;
  Run("# infimum plan 1\nuses=1 share=1 contract=strict-f32 pointwise kind=relu dtype=f32:-:f32 in=8\n");
  EXPECT_EQ(output.Counting().size(), 2u);
}

TEST_F(CampaignOnFake, AMistypedCandidateIsNamedWithTheNearest) {
  options.candidates = {"fake/diract"};
  const CampaignSummary summary =
      Run("# infimum plan 1\nuses=1 share=1 contract=strict-f32 matmul dtype=f32:f32:f32 a=1x8x8 b=1x8x8 bias=no "
          "weights=const\n");
  ASSERT_EQ(summary.warnings.size(), 1u);
  EXPECT_EQ(summary.warnings[0], "no candidate is named 'fake/diract', did you mean 'fake/direct'?; --list shows all");
}

TEST_F(CampaignOnFake, ProgressNeverDecreasesAndEndsAtTheExpectedTrials) {
  Run();
  for (std::size_t i = 1; i < progresses.size(); ++i) EXPECT_GT(progresses[i].trials, progresses[i - 1].trials);
  EXPECT_EQ(progresses.back().trials + 1, progresses.back().expected_trials);
  EXPECT_TRUE(progresses.back().remaining);
}

TEST(PlanInOrderOfShare, RepeatsAreLeftOut) {
  const std::string line = "uses=1 share=0.5 contract=strict-f32 pointwise kind=relu dtype=f32:-:f32 in=8\n";
  EXPECT_EQ(InOrderOfShare(PlanOf("# infimum plan 1\n" + line + line)).size(), 1u);
}

}  // namespace
}  // namespace infimum
