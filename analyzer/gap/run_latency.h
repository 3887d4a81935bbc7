// A run's end-to-end time, as bounds, reports and gates count it.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/rows/pace.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/statistics.h"

namespace infimum {

// Of the end-to-end samples, one for each process that has any; of a noisy run none.
std::vector<Repetition> RepetitionsOf(const RunProfile& run);

// Holds each process to the pace of a bracket's rows by its beat, which it then has no longer; and says so in a warning
// where that changes the time by a hundredth.
void HoldTo(const Pace& pace, RunProfile& run);

// T, the point value of those; absent without.
std::optional<Latency> EndToEndOf(const RunProfile& run);

}  // namespace infimum
