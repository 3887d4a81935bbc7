// A place where a backend runs apart from the campaign, so that its loss costs one row: a child process
// (worker_process.h), or in tests the same backend in this process.
#pragma once

#include <algorithm>
#include <string>
#include <variant>

#include "infimum/base/clock.h"
#include "microbench/harness/worker/worker_message.h"

namespace infimum {

// The worker is gone, or was ended because it did not answer.
struct WorkerLoss {
  // kStuck: it gave no sign of life.
  enum class Cause { kDied, kTimeLimit, kStuck, kMemoryLimit, kInterrupted };
  Cause cause = Cause::kDied;
  std::string reason;  // "killed by signal 11 (segmentation fault)"
};

using WorkerReply = std::variant<WorkerAnswer, WorkerLoss>;

// How long an answer may take.
struct TimeLimit {
  template <class Rep, class Period>
  TimeLimit(std::chrono::duration<Rep, Period> limit) : answer(limit), whole(limit) {}  // NOLINT: a time alone is one
  TimeLimit(Clock::Duration limit, Clock::Duration with_preparation)
      : answer(std::min(limit, with_preparation)), whole(with_preparation) {}

  // Once the worker has prepared what it is to run. Before that so long without any processor time: a library that
  // compiles kernels takes the time that it takes, and one that hangs takes none.
  Clock::Duration answer;
  Clock::Duration whole;  // in any case
};

class Worker {
 public:
  virtual ~Worker() = default;
  // A fresh one, whatever became of the last. `process` counts them within a campaign, from 0.
  virtual Status Start(std::int64_t process) = 0;
  // One answer, or the worker's loss: afterwards it must be started again.
  virtual WorkerReply Ask(const WorkerRequest& request, TimeLimit limit) = 0;
};

}  // namespace infimum
