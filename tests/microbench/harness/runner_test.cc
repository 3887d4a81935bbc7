// The fake runner from outside: what a user sees, and what survives whatever happens to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "infimum/results/results_journal.h"
#include "microbench/harness/journal/journal_file.h"
#include "tests/support/folders.h"
#include "tests/support/runner_process.h"
#include "tests/support/temporary_folder.h"

namespace infimum {

namespace {

using ::testing::HasSubstr;

RunnerEnd RunFakeRunner(const std::vector<std::string>& arguments, const std::string& folder,
                        const std::string& input = "") {
  return RunRunner(testing::Program("infimum-microbench-fake"), arguments, folder, input);
}

class FakeRunner : public ::testing::Test {
 protected:
  static std::string PlanOf(int workloads) {
    std::string plan = "# infimum plan 1\n";
    for (int i = 1; i <= workloads; ++i)
      plan += "uses=1 share=0.01 contract=strict-f32 matmul dtype=f32:f32:f32 a=1x" + std::to_string(8 * i) +
              "x64 b=1x64x64 bias=no weights=const\n";
    return plan;
  }

  RunnerEnd Run(std::vector<std::string> arguments, const std::string& input = "") const {
    return RunFakeRunner(arguments, folder, input);
  }

  // Rows of a journal by algorithm and workload; the one that counts.
  static std::map<std::string, Measurement> Rows(const std::string& text) {
    std::map<std::string, Measurement> rows;
    std::istringstream input(text);
    const Status read = ReadJournal(input, "journal", [&](ResultsRecord record) -> Status {
      if (auto* row = std::get_if<Measurement>(&record))
        rows[row->candidate.algorithm + " " + row->workload.text] = *row;
      return {};
    });
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
    return rows;
  }
  static Measurement Row(const std::string& text, const std::string& algorithm) {
    for (const auto& [key, row] : Rows(text))
      if (row.candidate.algorithm == algorithm) return row;
    ADD_FAILURE() << "no row of " << algorithm;
    return {};
  }

  const testing::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  const std::string journal = temporary.File("r.jsonl");
};

TEST_F(FakeRunner, MeasuresAPlanFromStandardInputToStandardOutput) {
  const RunnerEnd end = Run({"-", "--quiet"}, PlanOf(3));
  EXPECT_EQ(end.code, 0) << end.errors;
  EXPECT_EQ(end.errors, "");
  const auto rows = Rows(end.output);
  EXPECT_EQ(rows.size(), 12u);
  EXPECT_EQ(Row(end.output, "direct").repetitions.size(), 3u);
}

TEST_F(FakeRunner, AnEmptyPlanDescribesTheDevice) {
  const RunnerEnd end = Run({"-", "--threads", "1"}, "# infimum plan 1\n");
  EXPECT_EQ(end.code, 0) << end.errors;
  std::istringstream input(end.output);
  std::int64_t headers = 0;
  ASSERT_TRUE(ReadJournal(input, "out", [&](ResultsRecord record) -> Status {
                const auto& header = std::get<ResultsHeader>(record);
                EXPECT_EQ(header.backend, "fake");
                EXPECT_EQ(header.environment.threads, 1);
                EXPECT_EQ(FactOf(header.environment.evidence, evidence::kAffinity), "pinned");
                EXPECT_FALSE(FactOf(header.environment.evidence, evidence::kInfimum).empty());
                ++headers;
                return {};
              }).ok());
  EXPECT_EQ(headers, 1);
}

TEST_F(FakeRunner, EveryWayToDieCostsOneRow) {
  const std::map<std::string, std::string> faults{
      {"crash", "killed by signal 11 (segmentation fault)"},
      {"abort", "killed by signal 6 (aborted)"},
      {"exit", "exited with code 3"},
      {"hang", "no answer within 300 ms"},
      {"out-of-memory", "--max-memory"},
      {"leak", "over the limit of 256 MiB, raise --max-memory"},
      {"fail", "this candidate is set to fail"},
      {"wrong", "numeric error 0.3 over tolerance"},
  };
  for (const auto& [fault, reason] : faults) {
    const RunnerEnd end = Run({"-", "--backend-option", fault + "=gemm@a=1x16x", "--time-limit",
                               fault == "hang" ? "300ms" : "10s", "--max-memory", "256M", "--quiet"},
                              PlanOf(3));
    EXPECT_EQ(end.code, 0) << fault << end.errors;
    const auto rows = Rows(end.output);
    EXPECT_EQ(rows.size(), 12u) << fault;
    for (const auto& [key, row] : rows) {
      const bool struck = key.starts_with("gemm") && key.find("a=1x16x") != std::string::npos;
      EXPECT_EQ(row.outcome == Outcome::kFailed, struck) << fault << ": " << key << ": " << row.reason;
      EXPECT_THAT(row.reason, HasSubstr(struck ? reason : "")) << fault;
      EXPECT_EQ(row.repetitions.size(), key.starts_with("direct") ? 3u : row.repetitions.size()) << fault;
    }
  }
}

TEST_F(FakeRunner, ACrashWhileListingCostsThatWorkload) {
  const RunnerEnd end = Run({"-", "--backend-option", "crash-listing=a=1x16x", "--quiet"}, PlanOf(3));
  EXPECT_EQ(end.code, 0);
  const auto rows = Rows(end.output);
  EXPECT_EQ(rows.size(), 9u);
  EXPECT_EQ(Row(end.output, "any").reason, "listing candidates: killed by signal 11 (segmentation fault)");
}

TEST_F(FakeRunner, KilledAtAnyMomentItLosesAtMostOneRowAndGoesOn) {
  const std::string plan = folder + "/p.plan";
  std::ofstream(plan) << PlanOf(12);
  const std::vector<std::string> arguments{plan,       "-o",      journal,         "--backend-option",
                                           "pace=1ms", "--quiet", "--progress-fd", "9"};
  std::mt19937 random(7);
  std::string before;
  for (int kill = 0; kill < 8; ++kill) {
    RunnerProcess runner(testing::Program("infimum-microbench-fake"), arguments, folder);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 120));
    runner.Signal(SIGKILL);
    const RunnerEnd end = runner.Wait();
    const std::string after = ReadFile(journal);
    // What was whole before is still there, to the byte.
    EXPECT_TRUE(after.starts_with(before)) << kill;
    before = after.substr(0, after.rfind('\n') + 1);
    // Rows that were reported as written are in the file.
    std::istringstream progress(ReadFile(folder + "/progress"));
    std::int64_t reported = 0;
    for (std::string line; std::getline(progress, line);) reported = nlohmann::json::parse(line)["rows"];
    EXPECT_GE(std::count(before.begin(), before.end(), '\n'), reported);
    if (!before.empty()) Rows(after);
    if (end.code == 0) break;
  }
  const RunnerEnd end = Run(arguments);
  EXPECT_EQ(end.code, 0) << end.errors;
  const auto rows = Rows(ReadFile(journal));
  EXPECT_EQ(rows.size(), 48u);
  for (const auto& [key, row] : rows) {
    if (row.outcome != Outcome::kMeasured || !row.candidate.library_choice) continue;
    EXPECT_EQ(row.repetitions.size(), 3u) << key;
  }
}

TEST_F(FakeRunner, ContinuingACompleteJournalMeasuresNothing) {
  const std::string plan = folder + "/p.plan";
  std::ofstream(plan) << PlanOf(3);
  EXPECT_EQ(Run({plan, "-o", journal}).code, 0);
  const std::string first = ReadFile(journal);
  EXPECT_EQ(Run({plan, "-o", journal}).code, 0);
  EXPECT_EQ(ReadFile(journal), first + "{\"kind\":\"end\",\"rows\":0}\n");
}

TEST_F(FakeRunner, AnInterruptIsOneLineAndLosesNothing) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::filesystem::remove(journal);
    RunnerProcess runner(testing::Program("infimum-microbench-fake"),
                         {"-", "-o", journal, "--backend-option", "pace=20ms", "--quiet"}, folder, PlanOf(50));
    while (ReadFile(journal).find("measurement") == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    runner.Signal(signal);
    const RunnerEnd end = runner.Wait();
    EXPECT_EQ(end.code, 1);
    EXPECT_THAT(end.errors, ::testing::MatchesRegex(
                                "infimum: error: interrupted; [0-9]+ rows are written; the same command continues\n"));
    EXPECT_THAT(ReadFile(journal), HasSubstr("{\"kind\":\"end\",\"rows\":"));
  }
}

TEST_F(FakeRunner, AnInterruptReachesAHangingCandidateToo) {
  RunnerProcess runner(testing::Program("infimum-microbench-fake"),
                       {"-", "-o", journal, "--backend-option", "hang=gemm", "--quiet"}, folder, PlanOf(1));
  while (ReadFile(journal).find("direct") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  runner.Signal(SIGINT);
  EXPECT_EQ(runner.Wait().code, 1);
}

TEST_F(FakeRunner, ABudgetIsKept) {
  const auto start = std::chrono::steady_clock::now();
  const RunnerEnd end = Run({"-", "-o", journal, "--backend-option", "pace=5ms", "--budget", "500ms"}, PlanOf(2000));
  const auto elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(end.code, 0) << end.errors;
  EXPECT_LT(elapsed, std::chrono::seconds(10));  // of more than a minute
  EXPECT_THAT(end.errors, HasSubstr("the same command continues from here"));
}

TEST_F(FakeRunner, ItsErrorsNameThePlaceAndTheNextStep) {
  EXPECT_EQ(Run({"--budgett", "3m"}).code, 2);
  EXPECT_EQ(
      Run({"/no/such.plan"}).errors,
      "infimum: error: /no/such.plan: cannot be read: No such file or directory; `infimum plan MODEL -o FILE` writes a "
      "plan\n");
  EXPECT_EQ(Run({"/no/such.plan"}).code, 1);
  const RunnerEnd bad_plan = Run({"-"}, "# infimum plan 1\nuses=1 convolushun\n");
  EXPECT_EQ(bad_plan.code, 1);
  EXPECT_THAT(bad_plan.errors, ::testing::StartsWith("infimum: error: standard input:2:"));
  const RunnerEnd full = Run({"-", "-o", "/dev/full"}, PlanOf(1));
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.errors, HasSubstr("No space left on device"));
  const RunnerEnd option = Run({"-", "-o", journal, "--backend-option", "craash=gemm"}, PlanOf(1));
  EXPECT_EQ(option.errors, "infimum: error: fake: --backend-option: unknown option 'craash', did you mean 'crash'?\n");
  EXPECT_EQ(option.code, 2);
  EXPECT_FALSE(std::filesystem::exists(journal));
  const RunnerEnd unopened = Run({"-", "--progress-fd", "77"}, PlanOf(1));
  EXPECT_EQ(unopened.code, 2);
  EXPECT_EQ(unopened.errors, "infimum: error: --progress-fd 77: this file descriptor is not open\n");
  const RunnerEnd replay = Run({"--replay", "/no/such.json"});
  EXPECT_EQ(replay.code, 1);
  EXPECT_EQ(replay.errors, "infimum: error: /no/such.json: cannot be read: No such file or directory\n");
  const RunnerEnd candidate = Run({"-", "--candidate", "diract"}, PlanOf(1));
  EXPECT_EQ(candidate.code, 1);
  EXPECT_EQ(Run({"--worker", "{}"}).code, 2);
}

TEST_F(FakeRunner, IsAMetronomeToOtherPrograms) {
  // The pretended machine has one only where it wanders, which this cannot be told.
  const RunnerEnd none = Run({"--metronome", "1"}, "\n");
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.errors, "infimum: error: this backend has no metronome\n");
  EXPECT_EQ(Run({"--metronome", "no"}).code, 2);
  EXPECT_EQ(Run({"--metronome", "1"}).code, 0);
}

TEST_F(FakeRunner, ListsCandidatesAndPlansWithoutRunning) {
  const RunnerEnd list = Run({"-", "--list", "-o", journal}, PlanOf(1));
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.output, HasSubstr("fake/direct  in=any out=any  the library's choice"));
  const RunnerEnd dry = Run({"-", "--dry-run", "-o", journal, "--budget", "3m"}, PlanOf(1));
  EXPECT_THAT(dry.output, HasSubstr("4 runs in each of 3 rounds, at most 2.4 s of sampling, cut to 3m 0s"));
  EXPECT_FALSE(std::filesystem::exists(journal));
}

TEST_F(FakeRunner, WritesGoogleBenchmarkJson) {
  const std::string path = folder + "/r.json";
  const RunnerEnd end = Run({"-", "-o", path, "--format", "google-benchmark"}, PlanOf(2));
  EXPECT_EQ(end.code, 0) << end.errors;
  const auto json = nlohmann::json::parse(ReadFile(path));
  // Two of four candidates are measured, in three repetitions; the other two are one entry each.
  EXPECT_EQ(json["benchmarks"].size(), 2u * (2 * 3 + 2));
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST_F(FakeRunner, MeasuresPeaksAlone) {
  const RunnerEnd end = Run({"--peaks", "-o", journal});
  EXPECT_EQ(end.code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("68 peak rates of the device measured"));
}

TEST_F(FakeRunner, AProbeOfPeaksThatCrashesCostsItsOwnPeaks) {
  const RunnerEnd end = Run({"--peaks", "-o", journal, "--backend-option", "crash-peaks=arithmetic"});
  EXPECT_EQ(end.code, 0) << end.errors;
  EXPECT_THAT(end.errors, HasSubstr("63 peak rates of the device measured"));
  EXPECT_THAT(end.errors,
              HasSubstr("warning: the device's peaks by arithmetic were not measured: killed by signal 11"));
}

}  // namespace
}  // namespace infimum
