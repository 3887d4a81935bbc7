#include "src/readers/read_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "infimum/db/store.h"
#include "infimum/results/results_journal.h"
#include "src/readers/profiles/run_file.h"
#include "tests/support/temporary_folder.h"

namespace infimum::read_results_test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

ResultsHeader MakeHeader(const std::string& model = "1") {
  ResultsHeader header;
  header.device.vendor = "Test";
  header.device.identity = {{"model", model}};
  header.environment.libraries = {{"onednn", "3.2.0"}};
  header.backend = "fake";
  return header;
}

Measurement MakeRow(std::int64_t elements) {
  Measurement row;
  row.workload = {"pointwise kind=relu dtype=f32:-:f32 in=" + std::to_string(elements)};
  row.candidate.library = "onednn";
  row.candidate.algorithm = "eltwise";
  row.measured_at = "2026-11-21T10:47:44Z";
  row.repetitions = {{3, Latency(1), Latency(2), Latency(3), {Latency(2)}}};
  return row;
}

PeakRate MakePeak() {
  PeakRate peak;
  peak.working_set = {4096};
  peak.per_second = 1e9;
  peak.source = "measured";
  return peak;
}

std::string Journal(std::int64_t rows) {
  std::string text = FormatRecord(MakeHeader()) + "\n" + FormatRecord(MakePeak()) + "\n";
  for (std::int64_t i = 1; i <= rows; ++i) text += FormatRecord(MakeRow(i)) + "\n";
  return text;
}

struct Taken {
  std::vector<std::size_t> batches;
  std::size_t rows = 0, peaks = 0, runs = 0;
  std::vector<std::string> devices;
};

Status Read(const std::string& text, Taken& taken) {
  ResultsTaker taker;
  taker.rows = [&](const Device& device, const Environment&, std::span<const Measurement> rows,
                   std::span<const PeakRate> peaks) {
    taken.batches.push_back(rows.size() + peaks.size());
    taken.rows += rows.size();
    taken.peaks += peaks.size();
    taken.devices.push_back(device.Key().text);
    return Status();
  };
  taker.run = [&](const RunProfile&) {
    ++taken.runs;
    return Status();
  };
  std::istringstream input(text);
  return ReadResults(input, "results.jsonl", taker);
}

TEST(ReadResults, AJournalIsHandedOnInBoundedBatches) {
  Taken taken;
  ASSERT_TRUE(Read(Journal(1234), taken).ok());
  EXPECT_EQ(taken.rows, 1234u);
  EXPECT_EQ(taken.peaks, 1u);
  EXPECT_GT(taken.batches.size(), 1u);
  EXPECT_THAT(taken.batches, Each(Le(kRowsOfABatch)));
}

TEST(ReadResults, RowsBelongToTheLatestHeader) {
  Taken taken;
  ASSERT_TRUE(Read(Journal(2) + FormatRecord(MakeHeader("2")) + "\n" + FormatRecord(MakeRow(9)) + "\n", taken).ok());
  EXPECT_THAT(taken.devices, ::testing::ElementsAre(MakeHeader().device.Key().text, MakeHeader("2").device.Key().text));
  EXPECT_EQ(taken.rows, 3u);
}

TEST(ReadResults, ATraceIsRefusedAsResults) {
  std::istringstream input(std::string("SQLite format 3\0", 16) + std::string(4096, '\0'));
  const Status read = ReadResults(input, "trace.sqlite", {});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(
      read.error().message,
      "trace.sqlite: a SQLite database, perhaps an export of Nsight Systems: infimum compare --run shows its content");
}

TEST(ReadResults, ATornLastLineIsIgnored) {
  std::string text = Journal(3);
  text.resize(text.size() - 20);
  Taken taken;
  ASSERT_TRUE(Read(text, taken).ok());
  EXPECT_EQ(taken.rows, 2u);
}

TEST(ReadResults, RowsBeforeAnErrorAreKeptAndTheErrorNamesItsLine) {
  Taken taken;
  const Status status = Read(Journal(3) + "{\"kind\":\"nonsense\"}\n" + FormatRecord(MakeRow(9)) + "\n", taken);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("results.jsonl:6"));
  EXPECT_EQ(taken.rows, 3u);
}

TEST(ReadResults, GoogleBenchmarkJsonHoldsTheSameRows) {
  const std::vector<ResultsRecord> records = {MakeHeader(), MakePeak(), MakeRow(1), MakeRow(2)};
  Taken taken;
  const Status status = Read(FormatGoogleBenchmark(records), taken);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(taken.rows, 2u);
}

TEST(ReadResults, ARunIsHandedOnAsARun) {
  RunProfile run;
  run.framework = "onnxruntime";
  run.end_to_end = {{{Latency(5)}}};
  Taken taken;
  ASSERT_TRUE(Read(FormatRun(run), taken).ok());
  EXPECT_EQ(taken.runs, 1u);
}

TEST(ReadResults, AnErrorOfTheTakerEndsTheReading) {
  int calls = 0;
  ResultsTaker taker;
  taker.rows = [&](const auto&, const auto&, auto, auto) -> Status {
    ++calls;
    return Error{"the disk is full"};
  };
  std::istringstream input(Journal(2000));
  const Status status = ReadResults(input, "results.jsonl", taker);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("the disk is full"));
  EXPECT_LE(calls, 2);
}

TEST(ReadResults, AnotherFileIsRefusedWithTheKnownFormats) {
  Taken taken;
  EXPECT_THAT(Read("hello", taken).error().message, AllOf(HasSubstr("results.jsonl"), HasSubstr("infimum.run/1")));
  EXPECT_FALSE(Read("", taken).ok());
  EXPECT_THAT(Read("[{\"count\": 1}]", taken).error().message,
              AllOf(HasSubstr("results.jsonl: a file of a TensorRT engine"), HasSubstr("infimum compare --run")));
}

TEST(ImportFile, PutsAJournalIntoAStoreAndAddsNothingTheSecondTime) {
  const testing::TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
  const std::filesystem::path path = folder / "results.jsonl";
  std::ofstream(path) << Journal(700);
  Result<std::unique_ptr<Store>> store = OpenStore(":memory:", OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok());
  const Result<ImportCount> first = ImportFile(path, **store);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->added, 701);
  const Result<ImportCount> second = ImportFile(path, **store);
  EXPECT_EQ(second->added, 0);
  EXPECT_EQ(second->known, 701);
  EXPECT_THAT(ImportFile(folder, **store).error().message, HasSubstr("folder"));
  EXPECT_THAT(ImportFile(folder / "none", **store).error().message, HasSubstr("none"));
}

}  // namespace
}  // namespace infimum::read_results_test
