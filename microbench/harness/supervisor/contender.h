// A candidate of a workload in one cache state, on its way through the rounds of a campaign; and the
// workload that they contend for. Between rounds a contender is on the shelf (resumed_rows.h), and what is left of it
// here is what tells whether it gets another turn.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infimum/measurement/measurement.h"
#include "microbench/harness/sampling/trial.h"

namespace infimum {

struct Contender {
  Measurement row;
  bool has_row = false;   // in this campaign or an earlier one
  bool finished = false;  // gets no more repetitions

  std::optional<Latency> point() const;
  // Takes a repetition's outcome into the row. A candidate that was measured once and then fails keeps
  // what was measured, flagged `unstable`.
  void Take(const Trial& trial);
};

struct WaitingContender {
  std::int64_t place = 0;  // on the shelf
  Latency point{0};
  std::size_t repetitions = 0;
  CacheState cache = CacheState::kWarm;
  bool library_choice = false;
};

struct ContestedWorkload {
  WorkloadKey workload;
  NumericContract contract = NumericContract::kStrictF32;
  double share = 0;
  bool visited = false;                   // has a row
  std::vector<Contender> contenders;      // in round 1; in a small plan's summary again (kShownContests)
  std::vector<WaitingContender> waiting;  // for later rounds

  // The best point value so far in a cache state.
  std::optional<Latency> Best(CacheState cache) const { return best[static_cast<std::size_t>(cache)]; }
  bool measured() const;
  void Note(const Contender& contender);
  // Whether more repetitions could matter: measured, and within `ratio` of the best or the library's
  // own choice (the algorithm regret needs that one as exactly as the best).
  bool InContention(Latency point, CacheState cache, bool library_choice, double ratio) const;

  std::array<std::optional<Latency>, 3> best;  // by CacheState
};

}  // namespace infimum
