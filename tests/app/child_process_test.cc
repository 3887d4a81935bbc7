#include "src/app/processes/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "infimum/base/process.h"
#include "infimum/base/text.h"
#include "src/app/processes/temporary_folder.h"

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

// Whether a process is gone, or a zombie that nobody waits for, within `most`.
bool EndsWithin(pid_t process, std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (std::chrono::steady_clock::now() < end) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string pid, name, state;
    if (!(stat >> pid >> name >> state) || state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(ChildProcess, LeavesNoGrandchildBehind) {
  std::vector<pid_t> grandchildren;
  const auto start = std::chrono::steady_clock::now();
  // In a session of its own, with the child's output open: neither a process group nor an end of file tells of it.
  const Result<ProcessEnd> end = RunProcess(Shell("setsid sleep 600 & echo $!; exit 4"), [&](std::string_view line) {
    grandchildren.push_back(static_cast<pid_t>(ParseInteger(line).value_or(0)));
    return Status();
  });
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_code, 4);
  EXPECT_EQ(end->how, "exited with code 4");
  ASSERT_EQ(grandchildren.size(), 1u);
  EXPECT_TRUE(EndsWithin(grandchildren.front(), std::chrono::milliseconds(1000)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(ChildProcess, AKilledOneIsSaidToBeKilled) {
  const Result<ProcessEnd> end = RunProcess(Shell("kill -KILL $$"), [](std::string_view) { return Status(); });
  ASSERT_TRUE(end.ok());
  EXPECT_THAT(end->how, ::testing::StartsWith("was killed by signal 9 (killed)"));
  EXPECT_FALSE(end->given_up);
}

TEST(ChildProcess, AStoppedOneIsEndedSoonAfterItsBudget) {
  ProcessRequest request = Shell("echo begun; sleep 0.3; kill -STOP $$; echo never");
  request.budget = std::chrono::seconds(1);
  std::vector<std::string> lines;
  const auto start = std::chrono::steady_clock::now();
  const Result<ProcessEnd> end = RunProcess(request, [&](std::string_view line) {
    lines.emplace_back(line);
    return Status();
  });
  ASSERT_TRUE(end.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(11));
  ASSERT_TRUE(end->given_up);
  EXPECT_THAT(end->how, HasSubstr("gave no sign of life"));
  EXPECT_THAT(lines, ElementsAre("begun"));  // what it said before is kept
}

TEST(ChildProcess, OneThatIsBusyBeyondItsBudgetIsEnded) {
  ProcessRequest request = Shell("echo begun; while :; do :; done");
  request.budget = std::chrono::seconds(1);
  request.knows_budget = true;
  const auto start = std::chrono::steady_clock::now();
  const Result<ProcessEnd> end = RunProcess(request, [](std::string_view) { return Status(); });
  ASSERT_TRUE(end.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(11));
  EXPECT_EQ(end->how, "had not ended 8 s after its budget of 1 s and was ended");
}

TEST(ChildProcess, OneThatWasNotToldOfABudgetMayBeBusyBeyondIt) {
  ProcessRequest request =
      Shell("echo begun; end=$(($(date +%s) + 11)); while [ $(date +%s) -lt $end ]; do :; done; exit 6");
  request.budget = std::chrono::seconds(1);
  const Result<ProcessEnd> end = RunProcess(request, [](std::string_view) { return Status(); });
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->how, "exited with code 6");
}

TEST(ChildProcess, AStoppedWatcherIsSetGoing) {
  // Several times: often enough one is stopped before it has told that the program runs.
  for (int i = 0; i < 10; ++i) {
    const Result<ProcessEnd> end =
        RunProcess(Shell("kill -STOP $PPID; sleep 0.1; exit 5"), [](std::string_view) { return Status(); });
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->exit_code, 5);
  }
}

TEST(ChildProcess, WithoutItsWatcherItIsKilled) {
  const auto start = std::chrono::steady_clock::now();
  const Result<ProcessEnd> end =
      RunProcess(Shell("sleep 0.3; kill -KILL $PPID; sleep 600"), [](std::string_view) { return Status(); });
  ASSERT_TRUE(end.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << "though an orphan holds its pipes";
  EXPECT_EQ(end->exit_code, 128 + SIGKILL);
}

TEST(ChildProcess, NothingOutlivesAProcessThatIsKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t killed = fork();
  if (killed == 0) {
    Result<TemporaryFolder> folder = TemporaryFolder::Make();
    if (!folder.ok()) _exit(1);
    std::ofstream(folder->path() / "file") << "text";
    const auto tell = [&](std::string_view line) -> Status {
      const std::string text = std::string(line) + " " + folder->path().string() + "\n";
      static_cast<void>(!write(ends[1], text.data(), text.size()));
      return {};
    };
    // The last to speak: all of them are there.
    static_cast<void>(RunProcess(Shell("setsid sh -c 'trap : TERM; sleep 600; sleep 600' & "
                                       "sleep 600 & echo $$ $!; wait"),
                                 tell));
    _exit(0);
  }
  std::string text(4096, '\0');
  const ssize_t count = read(ends[0], text.data(), text.size());
  ASSERT_GT(count, 0);
  const std::vector<std::string_view> words =
      Split(TrimSpace(std::string_view(text).substr(0, static_cast<std::size_t>(count))), ' ');
  ASSERT_EQ(words.size(), 3u);
  const std::vector<pid_t> descendants = DescendantsOf(killed);
  EXPECT_GE(descendants.size(), 5u);  // watcher, janitor, the shell, its two children
  EXPECT_TRUE(std::filesystem::exists(words[2]));
  kill(killed, SIGKILL);
  waitpid(killed, nullptr, 0);
  for (const pid_t process : descendants) EXPECT_TRUE(EndsWithin(process, std::chrono::seconds(5))) << process;
  EXPECT_FALSE(std::filesystem::exists(words[2])) << words[2];
  close(ends[0]);
  close(ends[1]);
}

TEST(TemporaryFolder, OfAKilledProcessIsRemovedByTheNextOne) {
  const std::filesystem::path parent = std::filesystem::temp_directory_path();
  std::string abandoned = (parent / "infimum-XXXXXX").string();
  ASSERT_NE(mkdtemp(abandoned.data()), nullptr);
  std::ofstream(abandoned + "/file") << "text";
  Result<TemporaryFolder> young = TemporaryFolder::Make();
  EXPECT_TRUE(std::filesystem::exists(abandoned)) << "one that was only just made may not be locked yet";
  std::filesystem::last_write_time(abandoned, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  std::filesystem::last_write_time(young->path(),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  {
    const Result<TemporaryFolder> next = TemporaryFolder::Make();
    ASSERT_TRUE(next.ok());
    EXPECT_FALSE(std::filesystem::exists(abandoned));
    EXPECT_TRUE(std::filesystem::exists(young->path())) << "its owner lives";
  }
}

}  // namespace
}  // namespace infimum
