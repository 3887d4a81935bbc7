// A candidate of a workload in one cache state during the rounds of a campaign, and the workload with its candidates.
// Between rounds a candidate's row is on disk (journal/resumed_rows.h); WaitingCandidate keeps what decides whether it
// gets another repetition.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "infimum/measurement/measurement.h"
#include "microbench/harness/sampling/trial.h"

namespace infimum {

struct ActiveCandidate {
  Measurement row;
  bool has_row = false;   // in this campaign or an earlier one
  bool finished = false;  // gets no more repetitions

  std::optional<Latency> point() const;
  // Takes a repetition's outcome into the row. A candidate that was measured once and then fails keeps
  // what was measured, flagged `unstable`.
  void Take(const Trial& trial);
};

struct WaitingCandidate {
  std::int64_t place = 0;  // in SpilledRows
  Latency point{0};
  std::size_t repetitions = 0;
  CacheState cache = CacheState::kWarm;
  bool library_choice = false;
};

struct CampaignWorkload {
  WorkloadKey workload;
  NumericContract contract = NumericContract::kStrictF32;
  double share = 0;
  bool visited = false;                     // has a row
  std::vector<ActiveCandidate> candidates;  // in round 1; in a small plan's summary again (kShownWorkloads)
  std::vector<WaitingCandidate> waiting;    // for later rounds

  // The best point value so far in a cache state.
  std::optional<Latency> Best(CacheState cache) const { return best[static_cast<std::size_t>(cache)]; }
  bool measured() const;
  void Note(const ActiveCandidate& active);
  // Whether more repetitions could change the result: measured, and within `ratio` of the best or the library's own
  // choice (the algorithm regret needs that one as exactly as the best).
  bool MayDecide(Latency point, CacheState cache, bool library_choice, double ratio) const;

  std::array<std::optional<Latency>, 3> best;  // by CacheState
};

}  // namespace infimum
