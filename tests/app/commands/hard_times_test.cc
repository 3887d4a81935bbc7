// What can go wrong around the main job: a full disk, a store that may not be written, an interrupt at any
// moment. One line that says where and what, the documented exit code, and nothing lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing::hard_times_test {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> Analyze(const std::string& report) {
  return {"analyze", ProgramTest::Light("squeezenet"), "--backend", "fake", "--framework", "none", "--report", report};
}

// How many layers have no time. Not their share: a faster candidate of another layer makes that larger.
long Missing(const ProgramTest& program) {
  const nlohmann::json bound =
      program.Json({"bound", ProgramTest::Light("squeezenet"), "--backend", "fake", "--format", "json"});
  return std::count_if(bound.at("layers").begin(), bound.at("layers").end(),
                       [](const nlohmann::json& layer) { return layer.at("status") == "missing"; });
}

// The line that says why it ended, and that it is one line.
std::string ErrorLine(const Ended& ended) {
  const std::string lead = "infimum: error: ";
  const std::size_t at = ended.errors.find(lead);
  if (at == std::string::npos) return "no error line in: " + ended.errors;
  const std::string line = ended.errors.substr(at);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
  return line;
}

TEST(FullDisk, EndsInOneLineAndTheStoreStaysWhole) {
  const ProgramTest program;
  // Too small for the schema, for the rows, and for the report.
  for (const long bytes : {1000L, 20000L, 60000L, 100000L, 200000L}) {
    const Ended ended = program.Infimum(Analyze("report.html"), {.largest_file = bytes});
    if (ended.exit_code == 0) continue;
    EXPECT_EQ(ended.exit_code, 1) << bytes << ": " << ended.errors;
    EXPECT_THAT(ErrorLine(ended), ::testing::AnyOf(HasSubstr("infimum.db"), HasSubstr("report.html"))) << bytes;
  }
  program.Run(Analyze("report.html"));
  EXPECT_EQ(Missing(program), 0);
}

TEST(FullDisk, OfTheReportLeavesTheOldOne) {
  const ProgramTest program;
  program.Run(Analyze("report.html"));
  const std::string before = program.Read("report.html");
  const Ended ended = program.Infimum(
      {"report", ProgramTest::Light("squeezenet"), "--backend", "fake", "-o", "report.html"}, {.largest_file = 50000});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ErrorLine(ended), HasSubstr("report.html: cannot be written"));
  EXPECT_EQ(program.Read("report.html"), before);
  EXPECT_FALSE(std::filesystem::exists(program.folder() / "report.html.part"));
}

TEST(Output, ToADeviceIsWrittenAndNotReplaced) {
  const ProgramTest program;
  program.Run(Analyze("report.html"));
  const std::vector<std::string> report{"report", ProgramTest::Light("squeezenet"), "--backend", "fake", "-o"};
  const auto to = [&](const std::string& path) {
    std::vector<std::string> arguments = report;
    arguments.push_back(path);
    return program.Infimum(arguments);
  };
  EXPECT_EQ(to("/dev/null").exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const Ended full = to("/dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(ErrorLine(full), HasSubstr("/dev/full: cannot be written: No space left on device"));
  EXPECT_THAT(ErrorLine(to(".")), HasSubstr("a folder"));
}

TEST(ReadOnlyStore, IsToldApartFromAMissingOneAndCanBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const ProgramTest program;
  program.Run(Analyze("report.html"));
  std::filesystem::permissions(program.folder() / "infimum.db", std::filesystem::perms::owner_read);
  EXPECT_EQ(Missing(program), 0);
  const Ended ended = program.Infimum(Analyze("report.html"));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ErrorLine(ended), HasSubstr("infimum.db"));
}

TEST(Interrupt, AtAnyMomentLosesNothing) {
  const ProgramTest program;
  std::vector<std::string> arguments = Analyze("report.html");
  arguments.insert(arguments.end(), {"--backend-option", "pace=2ms"});
  long missing = 1000000;
  for (const int after : {1, 5, 20, 40, 80, 120, 180, 250, 400, 700, 1100}) {
    const Ended ended = program.Infimum(arguments, {.interrupt_after_ms = after});
    // 130: before the program could watch for the signal.
    EXPECT_THAT(ended.exit_code, ::testing::AnyOf(0, 1, 130)) << after << ": " << ended.errors;
    if (!std::filesystem::exists(program.folder() / "infimum.db")) continue;
    if (!std::filesystem::exists(program.folder() / "report.html")) continue;
    const long now = Missing(program);
    EXPECT_LE(now, missing) << "after " << after << " ms";
    missing = now;
  }
  program.Run(arguments);
  EXPECT_EQ(Missing(program), 0);
}

}  // namespace
}  // namespace infimum::testing::hard_times_test
