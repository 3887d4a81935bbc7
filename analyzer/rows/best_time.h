// What the rows of one workload say about it: its best time, what the library would have chosen, and what that costs.
//
//   candidate        medians of three repetitions
//   brgconv (choice) 10.4 10.2 10.6                best = gemm, 9.97
//   gemm             10.0  9.8 10.1                heuristic = 10.4
//   regret: without the first repetition gemm wins, and the first one says 10.4 - 10.0 = 0.4; likewise 0.4 and 0.5:
//   0.43 in the mean
//
// The least of many noisy times is too low by chance, and what the others lose to it is partly that chance. So regret
// is measured on repetitions that did not choose the winner: each repetition is left out once, the winner is named by
// the others, and the one left out says by how much it wins. Twenty equal candidates then show a regret of zero in the
// mean. With a single repetition nothing is left to choose with: the plain difference is given.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/rows/measured_rows.h"
#include "analyzer/rows/uncertainty.h"

namespace infimum {

// Of the libraries' choices the fastest.
struct ChosenTime {
  const Measurement* row = nullptr;
  Latency time{0};  // the best time where it is the best, and not less where it is not
  Latency regret{0};
  bool is_validated = false;
  TimeEstimate estimate;
};

struct BestTime {
  const Measurement* row = nullptr;
  WeightsFrom weights = WeightsFrom::kAsMeasured;  // of that row
  Latency best{0};                                 // the cross-fitted time of the best, the estimate's center
  TimeEstimate estimate;                           // of the true time of the best candidate
  Interval interval;                               // of that estimate
  // That cannot be distinguished from the best one, which comes first.
  std::vector<const Measurement*> near_best;
  // Cores x time, the least over all counts of cores that the workload was measured on.
  Latency core_time{0};
  std::optional<ChosenTime> choice;  // absent where no row is a library's choice
};

// nullopt where nothing was measured on so many threads. `noise` has seen all rows of the bracket. The rows live
// longer.
std::optional<BestTime> BestTimeOf(const WorkloadRows& rows, std::int64_t threads, const NoiseModel& noise);

}  // namespace infimum
