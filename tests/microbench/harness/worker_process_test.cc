#include "microbench/harness/supervisor/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "microbench/harness/supervisor/environment.h"
#include "tests/support/folders.h"

namespace infimum {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ProcessOfFake : public ::testing::Test {
 protected:
  ProcessOfFake() {
    std::signal(SIGPIPE, SIG_IGN);
    options.executable = testing::Program("infimum-microbench-fake");
  }
  static TrialRequest Simd() {
    TrialRequest request;
    request.workload = "pointwise kind=relu dtype=f32:-:f32 in=802816";
    request.candidate = {"fake", "simd", "any", "any", true};
    return request;
  }

  WorkerProcessOptions options;
};

TEST_F(ProcessOfFake, AnswersOneRequestAfterTheOther) {
  WorkerProcess worker(options);
  ASSERT_TRUE(worker.Start(0).ok());
  for (int i = 0; i < 3; ++i) {
    const WorkerReply reply = worker.Ask(Simd(), seconds(10));
    ASSERT_TRUE(std::holds_alternative<WorkerAnswer>(reply)) << std::get<WorkerLoss>(reply).reason;
    EXPECT_EQ(std::get<Trial>(std::get<WorkerAnswer>(reply)).outcome, Outcome::kMeasured);
  }
}

TEST_F(ProcessOfFake, IsPinnedAndItsEnvironmentSetBeforeItStarts) {
  const std::vector<int> cores = *ChooseCores(VisibleCores(), 1);
  options.setup.backend.cores = cores;
  WorkerProcess worker(options);
  ASSERT_TRUE(worker.Start(0).ok());
  ASSERT_TRUE(std::holds_alternative<WorkerAnswer>(worker.Ask(Simd(), seconds(10))));
  const std::string process = "/proc/" + std::to_string(worker.pid());
  std::ifstream status(process + "/status");
  std::string allowed;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Cpus_allowed_list:")) allowed = line;
  EXPECT_EQ(allowed, "Cpus_allowed_list:\t" + FormatCoreList(cores));
  std::ifstream environment(process + "/environ");
  const std::string text{std::istreambuf_iterator<char>(environment), std::istreambuf_iterator<char>()};
  EXPECT_THAT(text, ::testing::HasSubstr(std::string("OMP_NUM_THREADS=1\0", 18)));
  EXPECT_THAT(text, ::testing::HasSubstr("OMP_PLACES={" + FormatCoreList(cores) + "}"));
}

TEST_F(ProcessOfFake, ItsDeathIsALossAndItStartsAgain) {
  options.setup.backend.settings["crash"] = "simd";
  WorkerProcess worker(options);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(worker.Start(i).ok());
    const WorkerReply reply = worker.Ask(Simd(), seconds(10));
    ASSERT_TRUE(std::holds_alternative<WorkerLoss>(reply));
    EXPECT_EQ(std::get<WorkerLoss>(reply).reason, "killed by signal 11 (segmentation fault)");
  }
  EXPECT_EQ(std::get<WorkerLoss>(worker.Ask(Simd(), seconds(10))).reason, "no worker is running");
}

TEST_F(ProcessOfFake, AHangEndsAtTheTimeLimitWhichTicks) {
  options.setup.backend.settings["hang"] = "simd";
  int ticks = 0;
  options.tick = [&] { ++ticks; };
  WorkerProcess worker(options);
  ASSERT_TRUE(worker.Start(0).ok());
  const Clock::Duration start = SteadyClock().Now();
  const WorkerReply reply = worker.Ask(Simd(), milliseconds(350));
  EXPECT_EQ(std::get<WorkerLoss>(reply).cause, WorkerLoss::Cause::kTimeLimit);
  EXPECT_EQ(std::get<WorkerLoss>(reply).reason, "no answer within 350 ms");
  EXPECT_LT(SteadyClock().Now() - start, seconds(3));
  EXPECT_GE(ticks, 1);
}

TEST_F(ProcessOfFake, ACompilationMayTakeLongerThanTheTimeLimitAndAHangMayNot) {
  options.setup.backend.settings["compile"] = "simd";
  {
    WorkerProcess worker(options);
    ASSERT_TRUE(worker.Start(0).ok());
    const WorkerReply reply = worker.Ask(Simd(), TimeLimit(seconds(3), seconds(60)));
    ASSERT_TRUE(std::holds_alternative<WorkerAnswer>(reply)) << std::get<WorkerLoss>(reply).reason;
    EXPECT_EQ(std::get<Trial>(std::get<WorkerAnswer>(reply)).outcome, Outcome::kMeasured);
  }
  options.setup.backend.settings = {{"hang", "simd"}};
  WorkerProcess worker(options);
  ASSERT_TRUE(worker.Start(0).ok());
  const WorkerReply reply = worker.Ask(Simd(), TimeLimit(seconds(3), seconds(60)));
  EXPECT_EQ(std::get<WorkerLoss>(reply).reason, "no answer within 3 s");
}

TEST_F(ProcessOfFake, AWorkerThatIsStoppedIsLostAndOneThatWaitsIsNot) {
  options.setup.backend.settings["hang"] = "simd";
  options.longest_silence = seconds(7);
  {
    // Its second thread goes on.
    WorkerProcess worker(options);
    ASSERT_TRUE(worker.Start(0).ok());
    EXPECT_EQ(std::get<WorkerLoss>(worker.Ask(Simd(), seconds(9))).reason, "no answer within 9 s");
  }
  WorkerProcess worker(options);
  ASSERT_TRUE(worker.Start(0).ok());
  kill(worker.pid(), SIGSTOP);
  const WorkerReply reply = worker.Ask(Simd(), seconds(60));
  EXPECT_EQ(std::get<WorkerLoss>(reply).reason, "no response for 7 s");
}

TEST_F(ProcessOfFake, AProgramThatCannotStartIsALoss) {
  options.executable = "/no/such/program";
  WorkerProcess worker(options);
  ASSERT_TRUE(worker.Start(0).ok());
  EXPECT_EQ(std::get<WorkerLoss>(worker.Ask(Simd(), seconds(10))).reason, "exited with code 127");
}

TEST_F(ProcessOfFake, AProgramWithAWrongAnswerIsALossWithItsOutput) {
  options.executable = "/bin/false";
  WorkerProcess worker(options);
  ASSERT_TRUE(worker.Start(0).ok());
  EXPECT_EQ(std::get<WorkerLoss>(worker.Ask(Simd(), seconds(10))).reason, "exited with code 1");
}

TEST_F(ProcessOfFake, DiesWithItsSupervisor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t supervisor = fork();
  if (supervisor == 0) {
    options.setup.backend.settings["hang"] = "simd";
    WorkerProcess worker(options);
    if (!worker.Start(0).ok()) _exit(1);
    const pid_t pid = worker.pid();
    if (write(ends[1], &pid, sizeof pid) < 0) _exit(1);
    static_cast<void>(worker.Ask(Simd(), seconds(60)));
    _exit(0);
  }
  pid_t worker = 0;
  ASSERT_EQ(read(ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  usleep(100000);
  kill(supervisor, SIGKILL);
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    usleep(10000);
    // Gone, or a zombie that nobody waits for.
    std::ifstream stat("/proc/" + std::to_string(worker) + "/stat");
    std::string pid, name, state;
    gone = !(stat >> pid >> name >> state) || state == "Z";
  }
  EXPECT_TRUE(gone);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace infimum
