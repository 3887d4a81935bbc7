// What signals do to the program and to all that it started, at random moments; and that nothing is lost by them.
//
// Each test draws a few moments; with INFIMUM_LONG (scripts/test long) ninety.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "infimum/base/process.h"
#include "infimum/base/text.h"
#include "tests/app/commands/program.h"
#include "tests/support/folders.h"

namespace infimum::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;

// Of three signals each.
int Moments() { return std::getenv("INFIMUM_LONG") != nullptr ? 90 : 9; }

bool IsAlive(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string pid, name, state;
  return (stat >> pid >> name >> state) && state != "Z";
}

// Those that still live `most` later.
std::vector<pid_t> LeftAfter(milliseconds most, std::vector<pid_t> processes) {
  const auto end = steady_clock::now() + most;
  while (!processes.empty() && steady_clock::now() < end) {
    std::erase_if(processes, [](pid_t process) { return !IsAlive(process); });
    std::this_thread::sleep_for(milliseconds(10));
  }
  return processes;
}

class Signals : public ::testing::Test {
 protected:
  Signals() {
    std::string plan = "# infimum plan 1\n";
    for (int i = 1; i <= 40; ++i)
      plan += "uses=1 share=0.01 contract=strict-f32 matmul dtype=f32:f32:f32 a=1x" + std::to_string(8 * i) +
              "x64 b=1x64x64 bias=no weights=const\n";
    program_.Write("p.plan", plan);
  }

  // Until it says so, and then a little longer than rows wait to be saved.
  void WaitUntilItMeasures(pid_t program) const {
    while (IsAlive(program) && program_.Read(".stderr").find("measuring") == std::string::npos)
      std::this_thread::sleep_for(milliseconds(5));
    std::this_thread::sleep_for(milliseconds(700));
  }

  std::int64_t RowsInStore() const {
    const std::string output =
        program_.Run({"query", "--sql", "SELECT count(*) AS n FROM measurements", "--format", "csv"});
    const std::vector<std::string_view> lines = Split(TrimSpace(output), '\n');
    return lines.size() == 2 ? ParseInteger(lines[1]).value_or(-1) : -1;
  }

  // "infimum: measuring 37/480": at least what had been reported half a second before.
  void ExpectClean(const std::string& what) const {
    if (!std::filesystem::exists(program_.folder() / "infimum.db")) return;  // it was killed before it made one
    const Ended check = program_.Infimum({"db", "check"});
    EXPECT_EQ(check.exit_code, 0) << what << ": " << check.output << check.errors;
  }

  ProgramTest program_;
};

TEST_F(Signals, AtAnyMomentOfBenchLeaveNoProcessAndACleanStore) {
  std::mt19937 random(24);
  std::int64_t before = 0;
  for (int moment = 0; moment < Moments(); ++moment) {
    const int signal = std::array{SIGKILL, SIGHUP, SIGTERM}[static_cast<std::size_t>(moment % 3)];
    const auto wait = milliseconds(random() % 1500);
    const std::string what = std::string(strsignal(signal)) + " after " + std::to_string(wait.count()) + " ms";
    const pid_t bench = program_.Start({"bench", "p.plan", "--backend", "fake", "--backend-option", "pace=1ms"});
    std::this_thread::sleep_for(wait);
    const std::vector<pid_t> descendants = DescendantsOf(bench);
    kill(bench, signal);
    const auto killed = steady_clock::now();
    const Ended ended = program_.Finish(bench);
    EXPECT_LT(steady_clock::now() - killed, seconds(5)) << what;
    // 0 where it was done before; 1 where it wrote what it knew, 128 + signal where there was nothing to write yet.
    EXPECT_THAT(ended.exit_code, AnyOf(Eq(0), Eq(1), Eq(128 + signal))) << what << ended.errors;
    EXPECT_THAT(LeftAfter(seconds(5), descendants), ::testing::IsEmpty()) << what;
    ExpectClean(what);
    // What was there stays there.
    const std::int64_t rows = std::filesystem::exists(program_.folder() / "infimum.db") ? RowsInStore() : 0;
    EXPECT_GE(rows, before) << what;
    before = rows;
  }
  EXPECT_GT(before, 0);
}

TEST_F(Signals, WhatBenchReportedAsAddedIsThere) {
  const pid_t bench = program_.Start({"bench", "p.plan", "--backend", "fake", "--backend-option", "pace=20ms"});
  WaitUntilItMeasures(bench);
  kill(bench, SIGTERM);
  const Ended ended = program_.Finish(bench);
  EXPECT_EQ(ended.exit_code, 1) << ended.errors;
  const std::size_t at = ended.errors.find(" rows added");
  ASSERT_NE(at, std::string::npos) << ended.errors;
  const std::size_t begin = ended.errors.rfind(' ', at - 1) + 1;
  EXPECT_GE(RowsInStore(), *ParseInteger(std::string_view(ended.errors).substr(begin, at - begin)));
}

TEST_F(Signals, AStoppedRunnerEndsWithinTenSecondsOfTheBudgetAndLosesNothing) {
  const pid_t bench =
      program_.Start({"bench", "p.plan", "--backend", "fake", "--backend-option", "pace=5ms", "--budget", "2s"});
  WaitUntilItMeasures(bench);
  const auto start = steady_clock::now();
  // Of the watcher's children: the runner. Its worker is one step further down.
  pid_t runner = 0;
  for (const pid_t process : DescendantsOf(bench)) {
    std::ifstream name("/proc/" + std::to_string(process) + "/comm");
    std::string text;
    if (std::getline(name, text) && text.starts_with("infimum-microbe") && runner == 0) runner = process;
  }
  ASSERT_NE(runner, 0);
  kill(runner, SIGSTOP);
  const Ended ended = program_.Finish(bench);
  EXPECT_LT(steady_clock::now() - start, seconds(12));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("the fake runner gave no sign of life for"));
  EXPECT_GT(RowsInStore(), 0);
  EXPECT_THAT(ended.output, HasSubstr("measured"));  // what it has is shown
  EXPECT_FALSE(IsAlive(runner));
}

TEST_F(Signals, AStoppedWorkerIsReportedAndLosesNothing) {
  const pid_t bench =
      program_.Start({"bench", "p.plan", "--backend", "fake", "--backend-option", "pace=20ms", "--budget", "3s"});
  WaitUntilItMeasures(bench);
  // What the runner started. Its own name is "exe".
  std::map<pid_t, pid_t> parents;
  std::set<pid_t> runners;
  for (const pid_t process : DescendantsOf(bench)) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string pid, name, state;
    if (!(stat >> pid >> name >> state >> parents[process])) continue;
    if (name.starts_with("(infimum-microbe")) runners.insert(process);
  }
  pid_t worker = 0;
  for (const auto& [process, parent] : parents)
    if (runners.contains(parent)) worker = process;
  ASSERT_NE(worker, 0);
  kill(worker, SIGSTOP);
  const Ended ended = program_.Finish(bench);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("1 worker stopped responding"));
  EXPECT_GT(RowsInStore(), 0);
  EXPECT_FALSE(IsAlive(worker));
}

TEST_F(Signals, AFunctionThatComputesForLongEndsWithItsTimeLimit) {
  program_.Run({"db", "init"});
  const auto start = steady_clock::now();
  const Ended ended =
      program_.Infimum({"query", "--timeout", "1", "--sql",
                        "select instr(printf('%.*c', 16000000, 'a'), printf('%.*c', 8000000, 'a') || 'b')"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("stopped after 1 s"));
  EXPECT_LT(steady_clock::now() - start, seconds(6));
  EXPECT_EQ(program_.Infimum({"query", "--timeout", "nan", "--sql", "select 1"}).exit_code, 2);
}

TEST_F(Signals, AKilledRunnerIsSaidToBeKilled) {
  const pid_t bench = program_.Start({"bench", "p.plan", "--backend", "fake", "--backend-option", "pace=5ms"});
  WaitUntilItMeasures(bench);
  for (const pid_t process : DescendantsOf(bench)) {
    std::ifstream name("/proc/" + std::to_string(process) + "/comm");
    std::string text;
    if (std::getline(name, text) && text.starts_with("infimum-microbe")) kill(process, SIGKILL);
  }
  const Ended ended = program_.Finish(bench);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("the fake runner was killed by signal 9 (killed)"));
  EXPECT_THAT(ended.errors, ::testing::Not(HasSubstr("error: {\"event\"")));
}

TEST_F(Signals, AtAnyMomentOfAnalyzeLeaveNoProcessAndNoFolder) {
  std::mt19937 random(7);
  const std::filesystem::path temporary = program_.folder() / "tmp";
  std::filesystem::create_directory(temporary);
  setenv("TMPDIR", temporary.c_str(), 1);
  for (int moment = 0; moment < Moments(); ++moment) {
    const int signal = std::array{SIGKILL, SIGHUP, SIGTERM}[static_cast<std::size_t>(moment % 3)];
    // Mostly while a framework is measured, whose processes start processes of their own.
    const auto wait = milliseconds(random() % 5000);
    const std::string what = std::string(strsignal(signal)) + " after " + std::to_string(wait.count()) + " ms";
    const pid_t analyze = program_.Start({"analyze", ProgramTest::Light("squeezenet"), "--backend", "fake",
                                          "--measure-again", "--report", "r.html", "--budget", "40s"});
    std::this_thread::sleep_for(wait);
    const std::vector<pid_t> descendants = DescendantsOf(analyze);
    kill(analyze, signal);
    const Ended ended = program_.Finish(analyze);
    EXPECT_THAT(ended.exit_code, AnyOf(Eq(0), Eq(1), Eq(128 + signal))) << what << ended.errors;
    EXPECT_THAT(LeftAfter(seconds(5), descendants), ::testing::IsEmpty()) << what;
    EXPECT_TRUE(std::filesystem::is_empty(temporary)) << what;
    ExpectClean(what);
  }
  unsetenv("TMPDIR");
}

TEST_F(Signals, TheFirstOneEndsACommandThatWaitsForever) {
  // A folder that takes for ever to read from would do as well.
  ASSERT_EQ(mkfifo((program_.folder() / "pipe.json").c_str(), 0600), 0);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const pid_t endless =
        program_.Start({"query", "--db", "infimum.db", "--sql",
                        "with recursive a(x) as (select 1 union all select x+1 from a) select count(*) from a"});
    std::this_thread::sleep_for(milliseconds(300));
    kill(endless, signal);
    const auto killed = steady_clock::now();
    program_.Finish(endless);
    EXPECT_LT(steady_clock::now() - killed, seconds(2));
  }
}

// A shell's redirections: what cannot be printed changes no exit code but that of data that was asked for.
int Shell(const ProgramTest& program, const std::string& command) {
  const std::string line =
      "cd '" + program.folder().string() + "' && B='" + testing::Program("infimum") + "' && " + command;
  const int state = std::system(line.c_str());
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

TEST(Output, WhatCannotBePrintedLeavesTheDocumentedExitCode) {
  const ProgramTest program;
  program.Write("good.jsonl", "");
  EXPECT_EQ(Shell(program, "$B inspect nosuch 2>&-"), 1);
  EXPECT_EQ(Shell(program, "$B inspect nosuch 2>/dev/full"), 1);
  EXPECT_EQ(Shell(program, "$B <&- >&- 2>&-"), 2);
  EXPECT_EQ(Shell(program, "$B inspect 2>/dev/full"), 2);
  EXPECT_EQ(Shell(program, "$B import /nosuch.json /nosuch2.json --db x.db 2>&-"), 1);
  EXPECT_EQ(Shell(program, "$B --help >/dev/full 2>&-"), 1);
  EXPECT_EQ(Shell(program, "$B devices --format json >&- 2>/dev/full"), 1);
  EXPECT_EQ(Shell(program, "$B --version >/dev/null"), 0);
}

TEST(Output, AClosedStreamGetsNoFileOfOurs) {
  // The store must not be opened as descriptor 2, where errors are written to.
  const ProgramTest program;
  EXPECT_EQ(Shell(program, "$B db init --db s.db 2>&- && $B import /nosuch --db s.db 2>&-; $B db check --db s.db"), 0);
}

}  // namespace
}  // namespace infimum::testing
