// What the evidence allows to be said of a measured run.
//
//   T 79.7 ms [79.1, 80.4]; R 71.0 [70.2, 71.6]                   -> kShown: a program of the best kernels was faster
//   T 79.7 ms [79.1, 80.4]; F1 69.4 [68.0, 71.5], R none or 80.4  -> kNotShown: the kernels' times add up to less
//   T 70.1 ms [69.6, 70.9]; F1 69.4 [68.0, 71.5]                  -> kNoGap: the intervals meet
//   T 66.0 ms [65.5, 66.3]; F1 69.4 [68.0, 71.5]                  -> kInversion: the run is faster than what is known
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/bracket/bracket.h"

namespace infimum {

enum class GapVerdict { kShown, kNotShown, kNoGap, kInversion };
std::string_view Name(GapVerdict verdict);  // "shown", "not-shown", "no-gap", "inversion"

// Of a run whose latency has this interval; nullopt where the bracket has neither a bound nor a demonstrated run that
// says anything of it.
std::optional<GapVerdict> VerdictOn(const Interval& measured, const Bracket& bracket);

// Of the fastest framework's run that the bracket is held against.
std::optional<GapVerdict> VerdictOn(const Bracket& bracket);

}  // namespace infimum
