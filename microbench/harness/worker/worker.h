// A place where a backend runs apart from the campaign, so that its loss costs one row: a child process
// (worker_process.h), or in tests the same backend in this process.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "infimum/base/clock.h"
#include "infimum/base/result.h"
#include "infimum/microbench/runner_main.h"
#include "microbench/harness/worker/worker_message.h"

namespace infimum {

// What a worker must know before its first request; travels as one argument of its command line.
//
//   infimum-microbench-onednn --worker '{"cores":[7],"threads":1,...}'

inline constexpr std::string_view kWorkerFlag = "--worker";

// File descriptors of a worker: requests come in on the one, answers leave on the other. Its standard
// output goes where its standard error goes, so that a library which prints disturbs nothing.
inline constexpr int kRequestDescriptor = 3;
inline constexpr int kAnswerDescriptor = 4;

struct WorkerSetup {
  BackendOptions backend;
  Bytes most_memory;  // 0: no limit
  // By the kernel too, whose limit counts what was asked for; else by what is resident alone.
  bool limits_address_space = true;

  friend bool operator==(const WorkerSetup&, const WorkerSetup&) = default;
};

std::string FormatSetup(const WorkerSetup& setup);
Result<WorkerSetup> ParseSetup(std::string_view text);

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

// The answer that a request is for, else why there is none.
template <class Answer>
Result<Answer> AnswerOf(WorkerReply reply) {
  if (const auto* loss = std::get_if<WorkerLoss>(&reply)) return Error{loss->reason};
  auto& answer = std::get<WorkerAnswer>(reply);
  if (auto* wanted = std::get_if<Answer>(&answer)) return std::move(*wanted);
  if (auto* error = std::get_if<Error>(&answer)) return std::move(*error);
  return Error{"unexpected answer from the worker"};
}

class Worker {
 public:
  virtual ~Worker() = default;
  // A fresh one, whatever became of the last. `process` counts them within a campaign, from 0.
  virtual Status Start(std::int64_t process) = 0;
  // One answer, or the worker's loss: afterwards it must be started again.
  virtual WorkerReply Ask(const WorkerRequest& request, TimeLimit limit) = 0;
};

}  // namespace infimum
