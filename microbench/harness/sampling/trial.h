// One repetition of one candidate, as a worker runs it: prepare, look once, check the numbers, sample.
//
//   Trial trial = RunTrial(backend, request, tools);
//   // {kMeasured, "", Repetition{count 30, median 812 us, ...}, numeric_error 2e-7, {}}
//   // {kSkipped, "one run took 812 ms, more than 10 x the best candidate's 1.24 ms"}
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infimum/measurement/measurement.h"
#include "microbench/harness/sampling/sampler.h"

namespace infimum {

struct TrialRequest {
  std::string workload;  // canonical text
  Candidate candidate;
  NumericContract contract = NumericContract::kStrictF32;
  CacheState cache = CacheState::kWarm;
  bool check_numbers = true;
  // A candidate of which one run takes longer is not sampled at all; `best` is for the message.
  std::optional<Latency> skip_above;
  std::optional<Latency> best;
  SamplerOptions sampler;

  friend bool operator==(const TrialRequest&, const TrialRequest&) = default;
};

struct Trial {
  Outcome outcome = Outcome::kFailed;
  std::string reason;                    // of every outcome but measured
  std::optional<Repetition> repetition;  // of measured only
  std::optional<double> numeric_error;
  std::vector<std::string> flags;  // "launch_bound", "noisy", "pruned", "unconverged"
  std::optional<Bytes> constants;  // of measured only
  Clock::Duration sampling{0};     // by the backend's clock; the rest of a trial is preparing and checking

  friend bool operator==(const Trial&, const Trial&) = default;
};

// What a trial borrows from its worker.
struct TrialTools {
  InterferenceProbe& interference;
  CacheFlusher& flusher;
  std::function<void()> prepared = [] {};  // called before the first launch: what follows is bounded by time
};

// Never fails as a whole: whatever goes wrong is the trial's outcome and reason.
Trial RunTrial(Backend& backend, const TrialRequest& request, TrialTools tools);

}  // namespace infimum
