#include "microbench/harness/worker/worker_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "microbench/fake/fake_machine.h"
#include "microbench/harness/worker/worker.h"

namespace infimum {
namespace {

TrialRequest FullRequest() {
  TrialRequest request;
  request.workload = "pointwise kind=relu dtype=f32:-:f32 in=8";
  request.candidate = {"onednn", "jit:\"avx2\"", "nhwc", "any", true};
  request.contract = NumericContract::kBf16;
  request.cache = CacheState::kCold;
  request.check_numbers = false;
  request.best = Latency(0.1);
  request.skip_above = Latency(1e-3);
  request.sampler.budget = std::chrono::nanoseconds(123456789);
  request.sampler.give_up_above = Latency(1.0 / 3);
  return request;
}

TEST(WorkerRequest, ParsingAFormattedOneGivesItBack) {
  for (const WorkerRequest& request :
       {WorkerRequest(DescribeRequest{}), WorkerRequest(PeakProbesRequest{}), WorkerRequest(PeakProbesRequest{false}),
        WorkerRequest(PeaksRequest{"s8 tiles"}), WorkerRequest(FullRequest()), WorkerRequest(TrialRequest{}),
        WorkerRequest(CandidatesRequest{"matmul", NumericContract::kInt8, CandidateTier::kExhaustive})}) {
    const std::string line = FormatRequest(request);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Result<WorkerRequest> parsed = ParseRequest(line);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(*parsed, request);
  }
}

TEST(WorkerAnswer, ParsingAFormattedOneGivesItBack) {
  Trial trial;
  trial.outcome = Outcome::kMeasured;
  trial.reason = "two\nlines";
  trial.numeric_error = 2e-7;
  trial.constants = Bytes{std::int64_t{1} << 40};
  trial.flags = {"noisy"};
  trial.sampling = std::chrono::nanoseconds(77);
  trial.repetition = Repetition{
      3, Latency(0.1), Latency(1.0 / 3), Latency(7), {Latency(0.1), Latency(1.0 / 3)}, ClockRange{1200.5, 3601}};
  Environment environment;
  environment.libraries = {{"onednn", "3.2"}};
  for (const WorkerAnswer& answer :
       {WorkerAnswer(trial), WorkerAnswer(Trial{}), WorkerAnswer(Error{"no \"device\""}), WorkerAnswer(FakePeaks(2)),
        WorkerAnswer(std::vector<PeakRate>{}), WorkerAnswer(std::vector<std::string>{"memory", "f32 vectors"}),
        WorkerAnswer(std::vector<Candidate>{}), WorkerAnswer(std::vector<Candidate>{FullRequest().candidate}),
        WorkerAnswer(ResultsHeader{FakeDevice(1), environment, "onednn"})}) {
    const std::string line = FormatAnswer(answer);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Result<WorkerAnswer> parsed = ParseAnswer(line);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_TRUE(*parsed == answer) << line;
  }
}

TEST(WorkerAnswer, ANumericErrorOfNanBecomesTheLargestNumber) {
  for (const double error : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Trial trial;
    trial.numeric_error = error;
    const Result<WorkerAnswer> parsed = ParseAnswer(FormatAnswer(trial));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(std::get<Trial>(*parsed).numeric_error, std::numeric_limits<double>::max());
  }
}

TEST(WorkerMessages, AnythingElseIsAnError) {
  for (const char* line : {"", "hello", "{}", "[]", "{\"do\":\"dance\"}", "{\"trial\":{}}", "{\"candidates\":[1]}",
                           "{\"records\":[\"x\"]}", "{\"trial\":{\"outcome\":\"splendid\"}}", "\xff"}) {
    EXPECT_FALSE(ParseRequest(line).ok()) << line;
    EXPECT_FALSE(ParseAnswer(line).ok()) << line;
  }
}

TEST(WorkerSetup, ParsingAFormattedOneGivesItBack) {
  WorkerSetup setup;
  setup.backend.threads = 2;
  setup.backend.cores = {3, 5};
  setup.backend.seed = ~std::uint64_t{0};
  setup.backend.process = 4;
  setup.backend.settings = {{"crash", "gemm"}};
  setup.most_memory = Bytes{1 << 30};
  EXPECT_EQ(*ParseSetup(FormatSetup(setup)), setup);
  EXPECT_FALSE(ParseSetup("{}").ok());
}

}  // namespace
}  // namespace infimum
