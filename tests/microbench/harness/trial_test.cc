#include "microbench/harness/sampling/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "microbench/fake/fake_backend.h"
#include "microbench/fake/fake_machine.h"

namespace infimum {
namespace {

constexpr const char* kRelu = "pointwise kind=relu dtype=f32:-:f32 in=802816";
constexpr const char* kMatMul = "matmul dtype=f32:f32:f32 a=1x128x768 b=1x768x768 bias=no weights=const";

class TrialOfFake : public ::testing::Test {
 protected:
  Trial Run(const char* workload, const char* algorithm) {
    FakeBackend backend(backend_options);
    request.workload = workload;
    request.candidate = {"fake", algorithm, "any", "any", false};
    NoInterference none;
    CacheFlusher flusher{Bytes{4096}};
    return RunTrial(backend, request, {none, flusher});
  }

  BackendOptions backend_options;
  TrialRequest request;
};

TEST_F(TrialOfFake, MeasuresExactlyTheTimesOfTheMachine) {
  const Trial trial = Run(kRelu, "simd");
  ASSERT_EQ(trial.outcome, Outcome::kMeasured) << trial.reason;
  const Clock::Duration expected = *FakeLatency(*ParseWorkload(kRelu), request.candidate, 1, 0);
  EXPECT_EQ(trial.repetition->median, Latency(expected));
  EXPECT_EQ(trial.repetition->minimum, Latency(expected));
  EXPECT_EQ(trial.numeric_error, 0.0);
  EXPECT_THAT(trial.flags, ::testing::IsEmpty());
}

TEST_F(TrialOfFake, KeepsTheClocksThatTheBackendSaw) {
  EXPECT_EQ(Run(kRelu, "simd").repetition->clocks, std::nullopt);
  backend_options.settings = {{"frequency", "1500"}};
  EXPECT_EQ(Run(kRelu, "simd").repetition->clocks, (ClockRange{1500, 1500}));
}

TEST_F(TrialOfFake, KeepsTheBeatThatTheMetronomeHad) {
  EXPECT_EQ(Run(kRelu, "simd").repetition->beat, std::nullopt);
  const Latency usual = Run(kRelu, "simd").repetition->median;
  backend_options.settings = {{"wander", "0.2"}};
  const Repetition slower = *Run(kRelu, "simd").repetition;
  ASSERT_TRUE(slower.beat);
  EXPECT_NE(slower.beat->arithmetic, Latency(100));
  EXPECT_EQ(slower.beat->memory, Latency(200));
  EXPECT_NEAR(slower.median / usual, slower.beat->arithmetic / Latency(100), 1e-4);
}

TEST(Beat, TheMeanIsOfThoseThatWereTaken) {
  const std::optional<Beat> beats[] = {Beat{Latency(100), Latency(300)}, std::nullopt,
                                       Beat{Latency(140), Latency(500)}};
  EXPECT_EQ(MeanOf(beats), (Beat{Latency(120), Latency(400)}));
  EXPECT_EQ(MeanOf(std::span(beats).subspan(1, 1)), std::nullopt);
}

TEST_F(TrialOfFake, AnUnsupportedCandidateHasItsReason) {
  const Trial trial = Run(kMatMul, "sparse");
  EXPECT_EQ(trial.outcome, Outcome::kUnsupported);
  EXPECT_EQ(trial.reason, "fake/sparse needs weights of which most are zero");
}

TEST_F(TrialOfFake, AWrongResultIsAFailureWithItsError) {
  backend_options.settings["wrong"] = "simd";
  const Trial trial = Run(kRelu, "simd");
  EXPECT_EQ(trial.outcome, Outcome::kFailed);
  EXPECT_THAT(trial.reason, ::testing::StartsWith("numeric error 0.3 over tolerance "));
  EXPECT_EQ(trial.numeric_error, 0.3);
  EXPECT_FALSE(trial.repetition);
}

TEST_F(TrialOfFake, NumbersAreCheckedOnlyWhereAsked) {
  backend_options.settings["wrong"] = "simd";
  request.check_numbers = false;
  const Trial trial = Run(kRelu, "simd");
  EXPECT_EQ(trial.outcome, Outcome::kMeasured);
  EXPECT_FALSE(trial.numeric_error);
}

TEST_F(TrialOfFake, ACandidateTenTimesSlowerThanTheBestIsSkipped) {
  request.best = Latency(100);
  request.skip_above = Latency(1000);
  const Trial trial = Run(kMatMul, "ref");
  EXPECT_EQ(trial.outcome, Outcome::kSkipped);
  EXPECT_THAT(trial.reason, ::testing::MatchesRegex("one run took .* ms, more than 10 x the best candidate's 100 µs"));
}

TEST_F(TrialOfFake, AnErrorOfTheBackendIsTheReason) {
  backend_options.settings["fail"] = "simd";
  const Trial trial = Run(kRelu, "simd");
  EXPECT_EQ(trial.outcome, Outcome::kFailed);
  EXPECT_EQ(trial.reason, "this candidate is set to fail");
}

TEST_F(TrialOfFake, AnInvalidWorkloadFails) { EXPECT_EQ(Run("convolushun", "simd").outcome, Outcome::kFailed); }

}  // namespace
}  // namespace infimum
