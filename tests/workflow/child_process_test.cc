#include "infimum/workflow/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ProcessRequest Shell(const std::string& script, std::string input = "") {
  return {.arguments = {"/bin/sh", "-c", script}, .input = std::move(input), .environment = {}};
}

TEST(ChildProcess, HandsOverEachLineOfItsOutputAndItsExitCode) {
  std::vector<std::string> lines;
  const Result<ProcessEnd> end =
      RunProcess(Shell("echo one; echo; printf 'two\\nand a torn line'; exit 3"), [&](std::string_view line) {
        lines.emplace_back(line);
        return Status();
      });
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_THAT(lines, ElementsAre("one", "", "two"));
}

TEST(ChildProcess, FeedsAnInputThatIsLargerThanAPipeHolds) {
  std::string input;
  for (int line = 0; line < 100'000; ++line) input += "line " + std::to_string(line) + "\n";
  std::size_t bytes = 0;
  const Result<ProcessEnd> end = RunProcess(Shell("cat", input), [&](std::string_view line) {
    bytes += line.size() + 1;
    return Status();
  });
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_EQ(bytes, input.size());
}

TEST(ChildProcess, AChildThatDoesNotReadItsInputStillEnds) {
  const Result<ProcessEnd> end =
      RunProcess(Shell("exit 0", std::string(1 << 20, 'x')), [](std::string_view) { return Status(); });
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_code, 0);
}

TEST(ChildProcess, KeepsTheLastLinesOfItsComplaints) {
  const Result<ProcessEnd> end =
      RunProcess(Shell("for i in $(seq 100); do echo $i >&2; done"), [](std::string_view) { return Status(); });
  ASSERT_TRUE(end.ok());
  ASSERT_EQ(end->last_errors.size(), 20u);
  EXPECT_EQ(end->last_errors.back(), "100");
}

TEST(ChildProcess, AnErrorOfTheReaderEndsTheChild) {
  const Result<ProcessEnd> end =
      RunProcess(Shell("echo one; sleep 600"), [](std::string_view) { return Status(Error{"the disk is full"}); });
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "the disk is full");
}

TEST(ChildProcess, ASignalThatEndsTheChildIsItsExitCode) {
  const Result<ProcessEnd> end = RunProcess(Shell("kill -SEGV $$"), [](std::string_view) { return Status(); });
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_code, 128 + 11);
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnErrorWithItsName) {
  const Result<ProcessEnd> end = RunProcess({.arguments = {"/no/such/program"}, .input = {}, .environment = {}},
                                            [](std::string_view) { return Status(); });
  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.error().message, HasSubstr("/no/such/program: cannot be started"));
}

TEST(ChildProcess, GivesTheChildItsEnvironment) {
  ProcessRequest request = Shell("echo $INFIMUM_TEST_VALUE");
  request.environment = {{"INFIMUM_TEST_VALUE", "a b"}};
  std::vector<std::string> lines;
  ASSERT_TRUE(RunProcess(request, [&](std::string_view line) {
                lines.emplace_back(line);
                return Status();
              }).ok());
  EXPECT_THAT(lines, ElementsAre("a b"));
}

}  // namespace
}  // namespace infimum
