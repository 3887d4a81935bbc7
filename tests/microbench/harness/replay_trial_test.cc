#include "microbench/harness/sampling/replay_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "microbench/harness/supervisor/replay_session.h"
#include "microbench/harness/worker/worker_message.h"
#include "src/core/results/replay_schedule_text.h"
#include "tests/core/graph/replay_example.h"
#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;
using ::testing::HasSubstr;

// Two parts of 300 and 500 us, of which the second takes 200 us more when the first ran before it, and 150 us more
// with cold weights.
class FakeReplay : public PreparedReplay {
 public:
  // `refusal`: what is answered where copies of constants are asked for; empty where they can be had.
  FakeReplay(FakeClock& clock, std::string refusal) : clock_(clock), refusal_(std::move(refusal)) {
    for (const char* const name : {"first", "second"}) {
      ReplayPart part;
      part.name = name;
      part.candidate = "fake/part";
      parts_.push_back(part);
    }
  }
  const std::vector<ReplayPart>& parts() const override { return parts_; }
  Status Run(std::size_t part) override {
    clock_.Advance(part == 0 ? microseconds(300) : microseconds((last_ == 0 ? 700 : 500) + (copies_ > 1 ? 150 : 0)));
    last_ = part;
    return {};
  }
  Bytes constants(std::size_t part) const override { return Bytes{part == 0 ? 0 : 1 << 20}; }
  Status RotateConstants(std::size_t part, std::size_t copies) override {
    EXPECT_EQ(part, 1U);
    if (!refusal_.empty()) return Error{refusal_};
    copies_ = copies;
    return {};
  }
  Result<ReplayResult> Check() override {
    ReplayResult result;
    result.parts = parts_;
    result.outputs = {{"y", 0, 0}};
    return result;
  }
  Bytes weights() const override { return Bytes{10}; }
  Bytes arena() const override { return Bytes{20}; }

 private:
  FakeClock& clock_;
  std::string refusal_;
  std::vector<ReplayPart> parts_;
  std::size_t last_ = 1;
  std::size_t copies_ = 1;
};

// The parts of ExampleWithFactors(): 100 us each, 130 of the product at level 1, 150 of the sum.
class FakeChoices : public PreparedReplay {
 public:
  explicit FakeChoices(FakeClock& clock) : clock_(clock) {
    for (const std::size_t step : {1, 2, 3, 4, 5, 6}) {
      ReplayPart part;
      part.step = step;
      parts_.push_back(part);
    }
  }
  const std::vector<ReplayPart>& parts() const override { return parts_; }
  Status Run(std::size_t part) override {
    clock_.Advance(microseconds(part == 1 ? 130 : part == 5 ? 150 : 100));
    return {};
  }
  Bytes constants(std::size_t part) const override { return Bytes{part == 0 || part == 1 ? 1 << 20 : 0}; }
  Result<ReplayResult> Check() override {
    ReplayResult result;
    result.parts = parts_;
    result.outputs = {{"y", 0, 0}, {"y", 0, 0}};
    return result;
  }
  Bytes weights() const override { return Bytes{10}; }
  Bytes arena() const override { return Bytes{20}; }

 private:
  FakeClock& clock_;
  std::vector<ReplayPart> parts_;
};

class FakeReplayBackend : public Backend {
 public:
  std::string_view name() const override { return "fake"; }
  Result<Device> DescribeDevice() override { return Error{"none"}; }
  Result<Environment> DescribeEnvironment() override { return Error{"none"}; }
  Result<std::vector<Candidate>> Candidates(const Workload&, NumericContract, CandidateTier) override {
    return std::vector<Candidate>();
  }
  Result<std::unique_ptr<PreparedRun>> Prepare(const Workload&, const Candidate&, NumericContract) override {
    return Error{"none"};
  }
  std::vector<std::string> PeakProbes(PeakDetail) override { return {}; }
  Result<std::vector<PeakRate>> MeasurePeaks(std::string_view) override { return std::vector<PeakRate>(); }
  Result<std::unique_ptr<PreparedReplay>> PrepareReplay(const ReplaySchedule& schedule, const TensorFolder*) override {
    if (refuses) return Error{"step 'fc': nothing runs it"};
    if (!schedule.factors.empty()) {
      EXPECT_EQ(schedule, ExampleWithFactors());
      return std::unique_ptr<PreparedReplay>(std::make_unique<FakeChoices>(fake_clock));
    }
    EXPECT_EQ(schedule, ExampleSchedule());
    return std::unique_ptr<PreparedReplay>(std::make_unique<FakeReplay>(fake_clock, refusal));
  }
  Result<std::optional<double>> ResidentShare(Bytes working_set, Clock::Duration) override {
    EXPECT_EQ(working_set, (Bytes{(1 << 20) + 20}));
    return resident;
  }
  const Clock& clock() const override { return fake_clock; }

  FakeClock fake_clock;
  std::optional<double> resident;
  bool refuses = false;
  std::string refusal;
};

class ReplayTrial : public ::testing::Test {
 protected:
  ReplayTrial() {
    request_.schedule = folder_ / "schedule.json";
    request_.tensors = folder_;
    std::ofstream(request_.schedule) << FormatReplaySchedule(ExampleSchedule());
    std::ofstream(folder_ / "index.json") << R"({"schema":"infimum.tensors/1","tensors":[]})";
  }

  Result<ReplayResult> Run() { return RunReplay(backend_, request_, {interference_, flusher_}); }
  Result<ReplayResult> Run(InterferenceProbe& probe) { return RunReplay(backend_, request_, {probe, flusher_}); }

  FakeReplayBackend backend_;
  NoInterference interference_;
  CacheFlusher flusher_{Bytes{2 << 20}};
  ReplayRequest request_;
  const testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(ReplayTrial, TimesTheWholeItsPartsInTheLoopAndItsPartsAlone) {
  const Result<ReplayResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->demonstrated(), Latency(1000));
  ASSERT_EQ(result->parts.size(), 2U);
  EXPECT_EQ(result->parts[0].in_loop, Latency(300));
  EXPECT_EQ(result->parts[1].in_loop, Latency(700));
  EXPECT_EQ(result->parts[0].alone, Latency(300));
  EXPECT_EQ(result->parts[1].alone, Latency(500));
  EXPECT_EQ(result->parts[0].alone_cold_weights, std::nullopt);
  EXPECT_EQ(result->parts[1].alone_cold_weights, Latency(650));
  EXPECT_DOUBLE_EQ(result->composition_error(CacheState::kWarm), 1000.0 / 800.0);
  EXPECT_DOUBLE_EQ(result->composition_error(CacheState::kColdWeights), 1000.0 / 950.0);
  EXPECT_EQ(result->outputs.size(), 1U);
  EXPECT_EQ(result->weights, Bytes{10});
  EXPECT_EQ(result->constants(), Bytes{1 << 20});
  EXPECT_EQ(result->last_level_cache, Bytes{2 << 20});
}

TEST_F(ReplayTrial, APartWhoseConstantsCannotBeCopiedCountsWithItsWarmTime) {
  backend_.refusal = "unsupported: too many copies";
  const Result<ReplayResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->parts[1].alone_cold_weights, std::nullopt);
  EXPECT_DOUBLE_EQ(result->composition_error(CacheState::kColdWeights), 1000.0 / 800.0);
  // Everything else that goes wrong there is an error.
  backend_.refusal = "out of memory";
  EXPECT_FALSE(Run().ok());
}

TEST_F(ReplayTrial, WeightsCountAsNearAsTheCachesKeepThem) {
  EXPECT_DOUBLE_EQ(Run()->composition_error(), 1000.0 / 800.0);  // 1 MiB of weights, 2 MiB of cache
  backend_.resident = 0.4;
  EXPECT_EQ(Run()->cache_of_weights(), CacheState::kColdWeights);
  EXPECT_DOUBLE_EQ(Run()->composition_error(), 1000.0 / (0.4 * 800 + 0.6 * 950));
  backend_.resident = 0.5;
  EXPECT_EQ(Run()->cache_of_weights(), CacheState::kWarm);
  EXPECT_DOUBLE_EQ(Run()->composition_error(), 1000.0 / 875.0);
  backend_.resident.reset();
  flusher_ = CacheFlusher(Bytes{1000});
  EXPECT_EQ(Run()->cache_of_weights(), CacheState::kColdWeights);
  EXPECT_DOUBLE_EQ(Run()->composition_error(), Run()->composition_error(CacheState::kColdWeights));
  flusher_ = CacheFlusher(Bytes{});
  EXPECT_EQ(Run()->cache_of_weights(), CacheState::kWarm);
}

TEST_F(ReplayTrial, ChecksOnlyWhereItIsAskedTo) {
  request_.check_numbers = false;
  const Result<ReplayResult> result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->outputs.empty());
  EXPECT_EQ(result->demonstrated(), Latency(1000));
}

// Other programs have the core half of the time, a second at once, or all of it.
class BusyNeighbour : public NoInterference {
 public:
  BusyNeighbour(const Clock& clock, bool always) : clock_(clock), always_(always) {}
  std::int64_t InvoluntarySwitches() override {
    const auto second = std::chrono::duration_cast<std::chrono::seconds>(clock_.Now()).count();
    return always_ || second % 2 == 0 ? ++switches_ : switches_;
  }

 private:
  const Clock& clock_;
  bool always_;
  std::int64_t switches_ = 0;
};

TEST_F(ReplayTrial, BesideOtherWorkOnlyInferencesThatHadTheirCoreCount) {
  BusyNeighbour half(backend_.fake_clock, false), all(backend_.fake_clock, true);
  const Clock::Duration start = backend_.fake_clock.Now();
  const Result<ReplayResult> beside_half = Run(half);
  ASSERT_TRUE(beside_half.ok()) << beside_half.error().message;
  EXPECT_EQ(beside_half->noisy, "");
  EXPECT_GE(beside_half->repetitions[0].samples.size(), 5U);
  const Clock::Duration between = backend_.fake_clock.Now();
  const Result<ReplayResult> beside_all = Run(all);
  ASSERT_TRUE(beside_all.ok()) << beside_all.error().message;
  EXPECT_THAT(beside_all->noisy, HasSubstr("only 0 of "));
  EXPECT_THAT(FormatReplayResult(*beside_all), HasSubstr("other programs ran on them"));
  // Twice the budget at most: four seconds of the whole, 20 ms of each part in each state.
  EXPECT_LE(between - start, std::chrono::milliseconds(8500));
  EXPECT_LE(backend_.fake_clock.Now() - between, std::chrono::milliseconds(8500));
}

// With so short a budget each stretch is one inference.
TEST_F(ReplayTrial, FewInferencesAreNoneTheLessOnes) {
  request_.budget = microseconds(1);
  const Result<ReplayResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->noisy, "");
  EXPECT_EQ(result->repetitions[0].samples.size(), 5U);
}

TEST_F(ReplayTrial, ARefusalOfTheBackendIsTheError) {
  backend_.refuses = true;
  const Result<ReplayResult> result = Run();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "step 'fc': nothing runs it");
}

TEST_F(ReplayTrial, AnInvalidScheduleFileIsNamed) {
  std::ofstream(request_.schedule) << "{}";
  const Result<ReplayResult> result = Run();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("schedule.json"));
}

TEST_F(ReplayTrial, RequestAndAnswerComeBackAsTheyWere) {
  request_.budget = microseconds(1234);
  const Result<WorkerRequest> request = ParseRequest(FormatRequest(request_));
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(std::get<ReplayRequest>(*request), request_);
  const Result<ReplayResult> result = Run();
  const Result<WorkerAnswer> answer = ParseAnswer(FormatAnswer(*result));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(FormatReplayResult(std::get<ReplayResult>(*answer)), FormatReplayResult(*result));
}

// Answers each request by running it here.
class OwnWorker : public Worker {
 public:
  explicit OwnWorker(Backend& backend) : backend_(backend) {}
  Status Start(std::int64_t) override {
    ++starts;
    return {};
  }
  WorkerReply Ask(const WorkerRequest& request, TimeLimit) override {
    const auto& replay = std::get<ReplayRequest>(request);
    checks += replay.check_numbers ? 1 : 0;
    const Result<ReplayResult> result = RunReplay(backend_, replay, {interference_, flusher_});
    if (!result.ok()) return WorkerAnswer(result.error());
    return WorkerAnswer(*result);
  }
  int starts = 0, checks = 0;

 private:
  Backend& backend_;
  NoInterference interference_;
  CacheFlusher flusher_{Bytes{2 << 20}};
};

TEST_F(ReplayTrial, ASessionTakesAFreshProcessForEachRepetitionAndChecksOnce) {
  OwnWorker worker(backend_);
  const Result<ReplayResult> result = RunReplaySession({request_.schedule, request_.tensors, {}, 3, request_.budget},
                                                       {worker, [](auto, auto) {}, backend_.fake_clock});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(worker.starts, 3);
  EXPECT_EQ(worker.checks, 1);
  EXPECT_EQ(result->repetitions.size(), 3U);
  EXPECT_EQ(result->FirstFault(), std::nullopt);
  EXPECT_THAT(DescribeReplay(*result), HasSubstr("composition error 1.250"));
}

TEST_F(ReplayTrial, ARepetitionThatWouldNotEndInTimeDoesNotBegin) {
  const auto repetitions = [&](std::optional<Clock::Duration> most) {
    OwnWorker worker(backend_);
    ReplaySession session{request_.schedule, request_.tensors, {}, 3, request_.budget};
    session.most = most;
    const Result<ReplayResult> result = RunReplaySession(session, {worker, [](auto, auto) {}, backend_.fake_clock});
    EXPECT_TRUE(result.ok());
    return result->repetitions.size();
  };
  const Clock::Duration start = backend_.fake_clock.Now();
  EXPECT_EQ(repetitions(std::nullopt), 3U);
  const Clock::Duration each = (backend_.fake_clock.Now() - start) / 3;
  EXPECT_EQ(repetitions(microseconds(1)), 1U);
  EXPECT_EQ(repetitions(each * 25 / 10), 2U);
  EXPECT_EQ(repetitions(each * 4), 3U);
}

class DesignedReplay : public ReplayTrial {
 protected:
  DesignedReplay() { std::ofstream(request_.schedule) << FormatReplaySchedule(ExampleWithFactors()); }
};

TEST_F(DesignedReplay, TimesWholeInferencesEachAtItsOwnLevels) {
  const Result<ReplayResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.error().message;
  // Both levels of a factor stand in the schedule, and one of them runs.
  EXPECT_THAT(result->inferences, ::testing::ElementsAre(Latency(300), Latency(480), Latency(350), Latency(430)));
  EXPECT_EQ(result->demonstrated(), Latency(300));
  EXPECT_EQ(result->constants(), Bytes{1 << 20});  // of level 0 alone
  EXPECT_EQ(result->outputs.size(), 2U);
}

TEST_F(DesignedReplay, BesideOtherWorkItSaysThatItIsNoisy) {
  EXPECT_EQ(Run()->noisy, "");
  BusyNeighbour all(backend_.fake_clock, true);
  const Result<ReplayResult> result = Run(all);
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->noisy, HasSubstr("4 of 4 inferences"));
}

TEST_F(DesignedReplay, WhereWeightsStayNearEachInferenceIsTimedBehindAnotherOfItsLevels) {
  const auto taken = [&] {
    const Clock::Duration before = backend_.fake_clock.Now();
    EXPECT_TRUE(Run().ok());
    return backend_.fake_clock.Now() - before;
  };
  backend_.resident = 0.1;
  const Clock::Duration once = taken();
  backend_.resident = 0.9;
  EXPECT_EQ(taken() - once, microseconds(300 + 480 + 350 + 430));
}

TEST_F(DesignedReplay, StopsWithItsBudgetAndNeedsTheEndThatItCallsR) {
  backend_.resident = 0;
  request_.design_budget = microseconds(600);
  EXPECT_EQ(Run()->inferences.size(), 2U);
  request_.design_budget = microseconds(0);
  const Result<ReplayResult> result = Run();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("raise --budget"));
}

TEST_F(DesignedReplay, ASessionRunsItInOneProcess) {
  OwnWorker worker(backend_);
  const Result<ReplayResult> result = RunReplaySession({request_.schedule, request_.tensors, {}, 3, request_.budget},
                                                       {worker, [](auto, auto) {}, backend_.fake_clock});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(worker.starts, 1);
  EXPECT_THAT(DescribeReplay(*result), HasSubstr("R 300 µs, and 4 inferences after its design"));
}

}  // namespace
}  // namespace infimum
