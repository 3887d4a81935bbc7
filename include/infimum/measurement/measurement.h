// One row: a workload run by a candidate on a device in an environment, and what came of it. That a
// candidate does not support a workload, failed or was skipped is a row with a reason, not a missing row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/layer/workload.h"
#include "infimum/measurement/candidate.h"
#include "infimum/measurement/contract.h"
#include "infimum/measurement/device.h"
#include "infimum/measurement/statistics.h"

namespace infimum {

enum class Outcome { kMeasured, kUnsupported, kSkipped, kFailed };
std::string_view Name(Outcome outcome);
std::optional<Outcome> FindOutcome(std::string_view name);

// What the caches hold when a run begins. A model whose weights together exceed them meets each layer with its own
// weights gone and its input there, since the layer before has just written it: cold-weights.
//
//   convolution with 9 MiB of weights   warm 980 us   cold-weights 1,650 us   cold 1,720 us
enum class CacheState {
  kWarm,         // everything: the same buffers each time
  kCold,         // nothing: caches flushed
  kColdWeights,  // everything but constant operands, which come from memory
};
std::string_view Name(CacheState state);  // "warm", "cold", "cold-weights"
std::optional<CacheState> FindCacheState(std::string_view name);
// The same, and "in-context" of none: constants as near as an inference of the whole model leaves them.
inline constexpr std::string_view kInContext = "in-context";
inline std::string_view Name(const std::optional<CacheState>& state) { return state ? Name(*state) : kInContext; }
std::span<const std::string_view> CacheStateNames();

// The state whose rows give a workload's time in `state`: without constant operands nothing distinguishes cold-weights
// from warm, and only warm is measured.
CacheState StateOfRows(CacheState state, const Workload& workload);
// How many different ones of these.
std::size_t CountStatesOfRows(std::span<const CacheState> states, const Workload& workload);

struct Measurement {
  WorkloadKey workload;
  Candidate candidate;
  NumericContract contract = NumericContract::kStrictF32;
  CacheState cache = CacheState::kWarm;
  DeviceKey device;
  EnvironmentKey environment;
  EvidenceText evidence;    // of the environment's: where this row was measured
  std::string measured_at;  // UTC, "2026-11-21T10:47:44Z"

  Outcome outcome = Outcome::kMeasured;
  std::string reason;                   // of every outcome but measured
  std::vector<Repetition> repetitions;  // of measured only
  std::optional<double> numeric_error;  // in the contract's measure; absent where not checked
  std::vector<std::string> flags;       // "unconverged", "noisy", "launch_bound"
  std::optional<Bytes> constants;       // operands as the candidate packed them, where that is known

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

// What makes two rows of one journal the same row, of which the one with more repetitions counts: workload, contract,
// cache state and candidate with its layouts.
std::string RowKey(const Measurement& row);

}  // namespace infimum
