// The fastest warm row of a workload under its contract names what runs a step; all else leaves the step as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "infimum/results/results_journal.h"
#include "microbench/harness/sampling/replay_trial.h"
#include "tests/support/replay_network.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;
using testing::ReplayNetwork;

class MeasuredChoice : public ::testing::Test {
 protected:
  ~MeasuredChoice() override { fs::remove(path_); }

  Measurement Row(const std::string& algorithm, double microseconds) {
    Measurement row;
    row.measured_at = "2026-01-02T03:04:05Z";
    row.workload = KeyOf(schedule_.steps[0].workload);
    row.candidate = {"cudnn-graph", algorithm, "acdb", "abcd", false};
    Repetition repetition;
    repetition.count = 1;
    repetition.minimum = repetition.median = repetition.p95 = Latency(microseconds);
    repetition.samples = {Latency(microseconds)};
    row.repetitions = {repetition};
    return row;
  }
  void ExpectChosen(const std::vector<Measurement>& rows) {
    std::ofstream file(path_);
    file << FormatRecord(ResultsHeader{}) << "\n";
    for (const Measurement& row : rows) file << FormatRecord(row) << "\n";
    file.close();
    const Status chosen = ChooseMeasured({path_}, schedule_);
    EXPECT_TRUE(chosen.ok()) << (chosen.ok() ? "" : chosen.error().message);
  }

  ReplaySchedule schedule_ = ReplayNetwork::Schedule("here/before");
  std::string path_ = ::testing::TempDir() + "measured-choice-" + std::to_string(getpid()) + ".jsonl";
};

TEST_F(MeasuredChoice, TheFastestRowRunsTheStep) {
  Measurement uncaptured = Row("eng4", 1);
  uncaptured.flags = {"uncaptured"};
  ExpectChosen({Row("eng1", 5), Row("eng2", 3), Row("eng3", 4), uncaptured});
  EXPECT_EQ(schedule_.steps[0].candidate, ReplayCandidate("cudnn-graph/eng2", "acdb", "abcd"));
  EXPECT_EQ(schedule_.steps[1].candidate, ReplayCandidate());
}

TEST_F(MeasuredChoice, ColdRowsFailuresAndOtherContractsDoNotCount) {
  Measurement cold = Row("eng1", 1), other = Row("eng2", 1), failed = Row("eng3", 1);
  cold.cache = CacheState::kCold;
  other.contract = NumericContract::kTf32;
  failed.outcome = Outcome::kFailed;
  failed.reason = "signal 11";
  failed.repetitions.clear();
  ExpectChosen({cold, other, failed});
  EXPECT_EQ(schedule_.steps[0].candidate.name, "here/before");
  schedule_.contract = "tf32";
  ExpectChosen({cold, other, failed});
  EXPECT_EQ(schedule_.steps[0].candidate.name, "cudnn-graph/eng2");
}

TEST_F(MeasuredChoice, AMissingJournalIsNamed) {
  const Status missing = ChooseMeasured({"/nowhere/r.jsonl"}, schedule_);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, ::testing::HasSubstr("/nowhere/r.jsonl"));
}

}  // namespace
}  // namespace infimum
