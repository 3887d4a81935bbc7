#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/core/measurement/trials.h"
#include "tests/core/results/records.h"

namespace infimum::google_benchmark_test {
namespace {

using ::testing::StartsWith;

nlohmann::json Document() { return nlohmann::json::parse(FormatGoogleBenchmark(TestRecords())); }

std::string ErrorOf(const std::string& text) { return ErrorOfReading(ReadGoogleBenchmark, text); }

TEST(GoogleBenchmark, HasOneEntryForEachRepetitionWithTheFieldsThatItsToolsRead) {
  const nlohmann::json document = Document();
  const nlohmann::json& benchmarks = document.at("benchmarks");
  ASSERT_EQ(benchmarks.size(), 3U + 3U + 1U + 3U);
  const nlohmann::json& entry = benchmarks[1];
  EXPECT_EQ(entry.at("name"), std::string(kReluText) + " candidate=onednn/jit:avx2 contract=strict-f32 cache=warm");
  EXPECT_EQ(entry.at("run_name"), entry.at("name"));
  EXPECT_EQ(entry.at("run_type"), "iteration");
  EXPECT_EQ(entry.at("repetitions"), 3);
  EXPECT_EQ(entry.at("repetition_index"), 1);
  EXPECT_EQ(entry.at("threads"), 1);
  EXPECT_EQ(entry.at("iterations"), 1);
  EXPECT_EQ(entry.at("real_time"), 10.1);
  EXPECT_EQ(entry.at("cpu_time"), 10.1);
  EXPECT_EQ(entry.at("time_unit"), "us");
  EXPECT_EQ(entry.at("label"), kReluText);
  EXPECT_FALSE(entry.contains("error_occurred"));
  EXPECT_EQ(document.at("context").at("executable"), "infimum-microbench-onednn");
  EXPECT_EQ(document.at("context").at("date"), "2026-05-01T10:00:00Z");
}

TEST(GoogleBenchmark, SaysWhatWasNotMeasured) {
  const nlohmann::json document = Document();
  const nlohmann::json& entry = document.at("benchmarks")[6];
  EXPECT_EQ(entry.at("error_occurred"), true);
  EXPECT_EQ(entry.at("error_message"), "failed: signal 11\nin the worker");
  EXPECT_EQ(entry.at("real_time"), 0);
}

TEST(GoogleBenchmark, NamesDifferWhereverCandidateContractCacheOrLayoutDo) {
  std::vector<ResultsRecord> records = {TestHeader()};
  for (int i = 0; i < 6; ++i) {
    Measurement row = TestRow();
    if (i == 1) row.candidate.algorithm = "another";
    if (i == 2) row.contract = NumericContract::kBf16;
    if (i == 3) row.cache = CacheState::kCold;
    if (i == 4) row.candidate.output_layout = "nhwc";
    if (i == 5) row.cache = CacheState::kColdWeights;
    row.repetitions.resize(1);
    records.push_back(row);
  }
  std::set<std::string> names;
  const nlohmann::json document = nlohmann::json::parse(FormatGoogleBenchmark(records));
  for (const auto& entry : document.at("benchmarks")) names.insert(entry.at("name").get<std::string>());
  EXPECT_EQ(names.size(), 6U);
}

TEST(GoogleBenchmark, ReadGivesBackWhatWasWritten) {
  const std::vector<ResultsRecord> records = TestRecords();
  EXPECT_EQ(ReadAll(ReadGoogleBenchmark, FormatGoogleBenchmark(records)), records);
  EXPECT_EQ(ReadAll(ReadGoogleBenchmark, Document().dump()), records);  // keys sorted, one line
  EXPECT_EQ(ReadAll(ReadGoogleBenchmark, FormatGoogleBenchmark({})), std::vector<ResultsRecord>());
  EXPECT_EQ(ReadAll(ReadGoogleBenchmark, FormatGoogleBenchmark({TestHeader(), TestPeaks()[0]})),
            (std::vector<ResultsRecord>{TestHeader(), TestPeaks()[0]}));
}

TEST(GoogleBenchmark, ReadKeepsTwoRowsOfOneCandidateApart) {
  Measurement again = TestRow();
  again.repetitions.push_back(again.repetitions.front());
  const std::vector<ResultsRecord> records = {TestHeader(), TestRow(), again};
  EXPECT_EQ(ReadAll(ReadGoogleBenchmark, FormatGoogleBenchmark(records)), records);
}

TEST(GoogleBenchmark, OfAnotherProgramIsRefusedInWords) {
  EXPECT_EQ(ErrorOf(R"({"context":{"date":"today"},"benchmarks":[]})"),
            "r.jsonl: has no 'context.infimum': only Google Benchmark JSON that infimum wrote can be read");
  EXPECT_EQ(ErrorOf("7"),
            "r.jsonl: has no 'context.infimum': only Google Benchmark JSON that infimum wrote can be read");
}

TEST(GoogleBenchmark, ErrorsNameThePlace) {
  EXPECT_EQ(ErrorOf("{\n  \"context\": {\n x"), "r.jsonl:3:2: not valid JSON");
  EXPECT_THAT(ErrorOf(""), StartsWith("r.jsonl:1:1: not valid JSON"));
  // Each would cost many times its bytes.
  EXPECT_EQ(ErrorOf("[" + std::string((1 << 24) + 1, ',')), "r.jsonl:1:16777218: more than 16777216 values");
  const auto changed = [](auto change) {
    nlohmann::json document = Document();
    change(document);
    return ErrorOf(document.dump());
  };
  EXPECT_EQ(changed([](auto& d) { d["context"]["infimum"]["schema"] = "infimum.results/9"; }),
            "r.jsonl: these results have version 9, this infimum reads up to 2; use a newer infimum");
  EXPECT_EQ(changed([](auto& d) { d["benchmarks"][2]["infimum"].erase("facts"); }),
            "r.jsonl: benchmarks[2]: 'facts' is missing");
  EXPECT_EQ(changed([](auto& d) { d["benchmarks"][2]["infimum"]["facts"]["cache"] = "cold"; }),
            "r.jsonl: benchmarks[2]: 'facts' differ from those of the row's first repetition");
  EXPECT_EQ(changed([](auto& d) { d["benchmarks"][0]["infimum"]["header"] = 7; }),
            "r.jsonl: benchmarks[0]: 'header' is 7, but there are 2");
  EXPECT_EQ(changed([](auto& d) { d["benchmarks"][0]["infimum"]["repetition"]["p95_us"] = -3; }),
            "r.jsonl: benchmarks[0]: repetition: 'p95_us' is -3, expected a number from 0 to 1e+15");
  EXPECT_EQ(changed([](auto& d) { d["context"]["infimum"]["headers"][0]["peaks"][0]["threads"] = 0; }),
            "r.jsonl: context.infimum.headers[0]: 'threads' is 0, expected a whole number from 1");
}

TEST(GoogleBenchmark, SurvivesTruncationsAndMutations) {
  const std::string text = FormatGoogleBenchmark({TestHeader(), TestPeaks()[0], TestRow()});
  for (std::size_t length = 0; length < text.size(); ++length) {
    ASSERT_THAT(ErrorOf(text.substr(0, length)), StartsWith(length + 1 < text.size() ? "r.jsonl" : "no error"));
  }
  std::mt19937_64 random(6);
  int valid = 0;
  for (int trial = 0; trial < Trials(2000); ++trial) {
    if (ErrorOf(Mutated(text, random)) == "no error") ++valid;
  }
  EXPECT_GT(valid, Trials(20));
}

}  // namespace
}  // namespace infimum::google_benchmark_test
