// The child's side of a runner: makes a backend, answers requests until there are no more.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "infimum/microbench/runner_main.h"
#include "microbench/harness/worker/worker_message.h"

namespace infimum {

using BackendFactory = std::function<std::unique_ptr<Backend>(const BackendOptions&)>;

// Answers requests by one backend, which it makes at the first. Also what tests use in one process.
class RequestHandler {
 public:
  // `prepared` is called when a trial's candidate is prepared.
  RequestHandler(
      BackendOptions options, const BackendFactory& make_backend, std::function<void()> prepared = [] {});
  WorkerAnswer Handle(const WorkerRequest& request);

 private:
  Result<WorkerAnswer> HandleAll(const WorkerRequest& request);

  BackendOptions options_;
  const BackendFactory& make_backend_;
  std::function<void()> prepared_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<InterferenceProbe> interference_;
  std::unique_ptr<CacheFlusher> flusher_;
};

// Runs as worker until the request pipe ends; `setup` is the argument after --worker.
int WorkerMain(std::string_view setup, const BackendFactory& make_backend);

// Runs as metronome of another program, on the cores that it was started on: each line of standard input is answered by
// a beat, "103.2 214.7" (arithmetic and memory, in microseconds, and the cache's where there is one). `threads` is the
// argument after --metronome.
//
//   infimum-microbench-onednn --metronome 1
inline constexpr std::string_view kMetronomeFlag = "--metronome";
int MetronomeMain(std::string_view threads, const BackendFactory& make_backend);

}  // namespace infimum
