// Results of programs that `infimum emit` wrote become rows of the very candidates that they name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "src/readers/read_results.h"

namespace infimum::emitted_layers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kRelu = "pointwise kind=relu dtype=f32:-:f32 in=64";
const std::string kContext =
    R"("infimum_schema":"infimum.emit/1","infimum_libraries":"onednn=3.2.0 omp","infimum_threads":"2",)"
    R"("infimum_affinity":"pinned:2,3")";
const std::string kTimes =
    R"("min_us":9.5,"median_us":10.0,"p95_us":12.0,"samples":40,"library_choice":1,"disturbed":0)";

std::string Entry(const std::string& candidate, const std::string& layouts, const std::string& more) {
  return R"({"name":")" + kRelu + "/" + candidate + R"(/iterations:1/manual_time","run_type":"iteration","label":")" +
         candidate + layouts + R"(","iterations":1,"real_time":10.0,"cpu_time":99.0,"time_unit":"us","threads":1,)" +
         more + "}";
}

std::string File(const std::string& context, const std::string& entries) {
  return R"({"context":{"date":"2026-11-22T19:11:23+00:00","executable":"./onednn_benchmarks",)" + context +
         "},\n\"benchmarks\":[\n" + entries + "\n]}\n";
}

struct Taken {
  std::vector<Measurement> rows;
  Environment environment;
};

Status Read(const std::string& text, Taken& taken) {
  ResultsTaker taker;
  taker.rows = [&](const Device&, const Environment& environment, std::span<const Measurement> rows,
                   std::span<const PeakRate>) {
    taken.rows.insert(taken.rows.end(), rows.begin(), rows.end());
    taken.environment = environment;
    return Status();
  };
  std::istringstream input(text);
  return ReadResults(input, "results.json", taker);
}

std::string ErrorOf(const std::string& text) {
  Taken taken;
  const Status status = Read(text, taken);
  EXPECT_THAT(taken.rows, IsEmpty());  // all or nothing
  return status.ok() ? "" : status.error().message;
}

TEST(EmittedLayers, AnEntryIsARepetitionOfItsCandidate) {
  Taken taken;
  const Status status = Read(File(kContext, Entry("onednn/jit:avx2", " a->a", kTimes)), taken);
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(taken.rows.size(), 1U);
  const Measurement& row = taken.rows[0];
  EXPECT_EQ(row.workload.text, kRelu);
  EXPECT_EQ(row.candidate, (Candidate{"onednn", "jit:avx2", "a", "a", true}));
  EXPECT_EQ(row.outcome, Outcome::kMeasured);
  EXPECT_THAT(row.flags, IsEmpty());
  EXPECT_THAT(row.repetitions, ElementsAre(Repetition{40, Latency(9.5), Latency(10), Latency(12), {}}));
  EXPECT_EQ(taken.environment.threads, 2);
  EXPECT_EQ(FactOf(taken.environment.evidence, evidence::kAffinity), "pinned:2,3");
  EXPECT_EQ(taken.environment.libraries.at("onednn"), "3.2.0 omp");
}

TEST(EmittedLayers, LayoutsThatAreNotStatedAreOpaque) {
  Taken taken;
  ASSERT_TRUE(Read(File(kContext, Entry("onednn/a/b", "", kTimes)), taken).ok());
  ASSERT_EQ(taken.rows.size(), 1U);
  EXPECT_EQ(taken.rows[0].candidate, (Candidate{"onednn", "a/b", "opaque", "opaque", true}));
}

TEST(EmittedLayers, ALabelContainsTheContractAndTheFlagUncaptured) {
  Taken taken;
  const std::string candidate = "cudnn-graph/eng1_k2=5/acc=f16";
  ASSERT_TRUE(Read(File(kContext, Entry(candidate, " a->a contract=tf32 uncaptured", kTimes) + "," +
                                      Entry(candidate, " a->a", kTimes)),
                   taken)
                  .ok());
  ASSERT_EQ(taken.rows.size(), 2U);
  EXPECT_EQ(taken.rows[0].candidate, (Candidate{"cudnn-graph", "eng1_k2=5/acc=f16", "a", "a", true}));
  EXPECT_EQ(taken.rows[0].contract, NumericContract::kTf32);
  EXPECT_THAT(taken.rows[0].flags, ElementsAre("uncaptured"));
  EXPECT_EQ(taken.rows[1].contract, NumericContract::kStrictF32);
  EXPECT_THAT(taken.rows[1].flags, IsEmpty());
}

TEST(EmittedLayers, EntriesThatDidNotRunHaveTheReason) {
  const auto failed = [](const std::string& message) {
    return R"("error_occurred":true,"error_message":")" + message + '"';
  };
  Taken taken;
  ASSERT_TRUE(Read(File(kContext, Entry("onednn/a", "", failed("unsupported: not offered")) + "," +
                                      Entry("onednn/b", "", failed("memory ran out"))),
                   taken)
                  .ok());
  ASSERT_EQ(taken.rows.size(), 2U);
  EXPECT_EQ(taken.rows[0].outcome, Outcome::kUnsupported);
  EXPECT_EQ(taken.rows[0].reason, "not offered");
  EXPECT_EQ(taken.rows[1].outcome, Outcome::kFailed);
  EXPECT_EQ(taken.rows[1].reason, "memory ran out");
}

TEST(EmittedLayers, ImpossibleCountersAreRefused) {
  const std::string good = Entry("onednn/a", "", kTimes);
  EXPECT_THAT(ErrorOf(File(R"("infimum_schema":"infimum.emit/2")", good)), HasSubstr("update infimum"));
  EXPECT_THAT(ErrorOf(File(R"("infimum_schema":"infimum.emit/1","infimum_libraries":"x","infimum_threads":"1")", good)),
              HasSubstr("expected NAME=VERSION"));
  EXPECT_THAT(
      ErrorOf(File(R"("infimum_schema":"infimum.emit/1","infimum_libraries":"a=1","infimum_threads":"-1")", good)),
      HasSubstr("expected a number of threads"));
  const auto times = [](const std::string& text) { return File(kContext, Entry("onednn/a", "", text)); };
  EXPECT_THAT(ErrorOf(times(R"("min_us":1,"median_us":2,"p95_us":3)")), HasSubstr("has no counter 'samples'"));
  EXPECT_THAT(ErrorOf(times(R"("min_us":2,"median_us":1,"p95_us":3,"samples":4)")), HasSubstr("do not ascend"));
  EXPECT_THAT(ErrorOf(times(R"("min_us":-2,"median_us":1,"p95_us":3,"samples":4)")), HasSubstr("'min_us' is -2"));
  EXPECT_THAT(ErrorOf(times(R"("min_us":1,"median_us":1,"p95_us":3,"samples":4.5)")), HasSubstr("'samples' is 4.5"));
}

}  // namespace
}  // namespace infimum::emitted_layers_test
