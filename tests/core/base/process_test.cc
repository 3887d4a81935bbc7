#include "infimum/base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace infimum {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A child that does nothing until it is killed.
pid_t Idle() {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  return child;
}

int End(pid_t child, int signal) {
  kill(child, signal);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Exit, IsDescribedInWords) {
  const OutOfMemoryKills kills;
  EXPECT_EQ(DescribeExit(3 << 8, kills), "exited with code 3");
  EXPECT_EQ(DescribeExit(End(Idle(), SIGTERM), kills), "killed by signal 15 (terminated)");
}

TEST(Exit, OfAKillWithoutTraceSaysWhetherMemoryRanOut) {
  const OutOfMemoryKills kills;
  // On a machine that runs out of memory while this test runs it is the other sentence.
  const std::optional<std::int64_t> ended = kills.since();
  EXPECT_THAT(DescribeExit(End(Idle(), SIGKILL), kills),
              AnyOf(HasSubstr("by another program: the kernel ended no process"),
                    HasSubstr(ended ? "the kernel ended a process for lack of memory" : "perhaps by the kernel")));
}

TEST(Descendants, AreChildrenAndTheirChildren) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = Idle();
    static_cast<void>(!write(ends[1], &grandchild, sizeof grandchild));
    while (true) pause();
  }
  pid_t grandchild = 0;
  ASSERT_EQ(read(ends[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  EXPECT_THAT(DescendantsOf(getpid()), AllOf(Contains(child), Contains(grandchild)));
  EXPECT_THAT(DescendantsOf(child), ElementsAre(grandchild));
  End(grandchild, SIGKILL);
  End(child, SIGKILL);
  EXPECT_THAT(DescendantsOf(getpid()), Not(Contains(child)));
  close(ends[0]);
  close(ends[1]);
}

TEST(ProcessorTime, GrowsWithWorkAndIsUnknownOfWhatIsGone) {
  const Clock::Duration before = *ProcessorTimeOf(getpid());
  const Clock::Duration start = SteadyClock().Now();
  volatile double work = 1;
  while (*ProcessorTimeOf(getpid()) - before < milliseconds(50) && SteadyClock().Now() - start < seconds(20))
    for (int i = 0; i < 100'000; ++i) work = work * 1.0000001;
  EXPECT_GE(*ProcessorTimeOf(getpid()) - before, milliseconds(50));
  const pid_t child = Idle();
  EXPECT_TRUE(ProcessorTimeOf(child));
  End(child, SIGKILL);
  EXPECT_FALSE(ProcessorTimeOf(child));
}

class Signs : public ::testing::Test {
 protected:
  // As a loop that looks five times a second.
  Clock::Duration After(Clock::Duration time) {
    Clock::Duration silence = signs.Silence();
    for (Clock::Duration passed{0}; passed < time; passed += milliseconds(200)) {
      clock.Advance(milliseconds(200));
      used += busy ? milliseconds(200) : milliseconds(0);
      silence = signs.Silence();
    }
    return silence;
  }

  FakeClock clock;
  bool busy = false;
  Clock::Duration used{0};
  LifeSigns signs{clock, [this] { return std::optional(used); }};
};

TEST_F(Signs, SilenceGrowsWhereNothingIsSaidAndNoTimeUsed) { EXPECT_EQ(After(seconds(30)), seconds(30)); }

TEST_F(Signs, AWordEndsIt) {
  After(seconds(20));
  signs.Note();
  EXPECT_EQ(After(seconds(4)), seconds(4));
}

TEST_F(Signs, ProcessorTimeIsASignOfLife) {
  busy = true;
  EXPECT_LE(After(seconds(100)), seconds(2));
  busy = false;
  EXPECT_GE(After(seconds(30)), seconds(28));
}

TEST_F(Signs, OnesOwnStopIsNoSilenceOfTheOther) {
  After(seconds(20));
  clock.Advance(std::chrono::hours(8));  // the lid was closed
  EXPECT_EQ(signs.Silence(), seconds(0));
  EXPECT_EQ(After(seconds(10)), seconds(10));
}

}  // namespace
}  // namespace infimum
