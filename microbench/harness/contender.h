// A candidate of a workload in one cache state, on its way through the rounds of a campaign; and the
// workload with all of its contenders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infimum/measurement/measurement.h"
#include "microbench/harness/trial.h"

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

struct ContestedWorkload {
  WorkloadKey workload;
  NumericContract contract = NumericContract::kStrictF32;
  double share = 0;
  bool listed = false;  // its contenders are known
  std::vector<Contender> contenders;

  // The best point value so far in a cache state.
  std::optional<Latency> Best(CacheState cache) const;
  // Whether more repetitions could matter: measured, and within `ratio` of the best or the library's
  // own choice (the algorithm regret needs that one as exactly as the best).
  bool InContention(const Contender& contender, double ratio) const;
};

}  // namespace infimum
