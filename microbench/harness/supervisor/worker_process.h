// The supervisor's side of a runner: a worker as a child process that may crash, hang or eat memory.
//
//   WorkerProcess worker(options);
//   worker.Start(0);
//   WorkerReply reply = worker.Ask(TrialRequest{...}, 30 s);
//   // WorkerLoss{kDied, "killed by signal 11 (segmentation fault)"}; Start again and go on
//
// The child is this very program, started with --worker (worker.h). Its affinity and OpenMP's
// variables are set before it starts, since libraries read them while they load. A second thread of it reports
// every second that it lives; a worker without a report or processor time for 30 seconds is lost.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "infimum/base/process.h"
#include "microbench/harness/worker/worker.h"

namespace infimum {

struct WorkerProcessOptions {
  WorkerSetup setup;  // `backend.process` is set at each start
  std::string executable = "/proc/self/exe";
  std::string name = "infimum-microbench-worker";              // what `ps` shows
  Clock::Duration longest_silence = std::chrono::seconds(30);  // neither a heartbeat nor processor time
  int interrupt_descriptor = -1;                               // readable once the user wants to end; -1: never
  std::function<void()> tick = [] {};                          // called some ten times a second while waiting
  std::function<void(std::string_view)> log = [](std::string_view) {};  // what the worker writes to stderr
};

class WorkerProcess : public Worker {
 public:
  explicit WorkerProcess(WorkerProcessOptions options) : options_(std::move(options)) {}
  ~WorkerProcess() override { Stop(); }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Status Start(std::int64_t process) override;
  WorkerReply Ask(const WorkerRequest& request, TimeLimit limit) override;

  // Ends the child: in an orderly way if it does so within a second.
  void Stop();
  pid_t pid() const { return pid_; }

 private:
  WorkerReply WaitForAnswer(std::string_view request, TimeLimit limit);
  bool Drain(int descriptor, std::string& into);
  bool OverMemoryLimit(Bytes* resident) const;
  WorkerLoss Kill(WorkerLoss::Cause cause, std::string reason);
  WorkerLoss Reap();
  void CloseDescriptors();

  WorkerProcessOptions options_;
  pid_t pid_ = -1;
  int requests_ = -1;  // our ends of the pipes, not blocking
  int answers_ = -1;
  int errors_ = -1;
  std::string answer_text_;
  std::string error_text_;                        // the end of what the child wrote to stderr
  std::optional<OutOfMemoryKills> memory_kills_;  // since the child's start
};

}  // namespace infimum
