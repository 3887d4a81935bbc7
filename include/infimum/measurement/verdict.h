// Whether one set of repetitions is faster than another, or whether that cannot be decided.
//
//   Compare(a, b, 0.05) with medians a = {10.0, 10.1, 10.2}, b = {12.0, 12.1, 12.2}  ->  kFaster (a is)
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "infimum/measurement/statistics.h"

namespace infimum {

enum class Verdict {
  kSame,    // the difference is surely below the threshold
  kFaster,  // the first is faster by more than the threshold
  kSlower,
  kUndecided,  // the spread is too wide or there are too few repetitions
};
std::string_view Name(Verdict verdict);

// What `subject` takes over what `reference` takes, between these with the confidence asked for: {0.97, 1.02}.
struct RatioInterval {
  double low = 0;
  double high = 0;
};

inline constexpr double kUsualConfidence = 0.95;

// Nothing where no spread is known: a side with neither two repetitions nor six samples in its only one, or a median
// that is no time.
std::optional<RatioInterval> RatioOf(std::span<const Repetition> subject, std::span<const Repetition> reference,
                                     double confidence = kUsualConfidence);

// What the typical repetition takes, between these with 95 %: of the repetitions' medians (as below);
// of a single one by the order statistics of its samples. Holds the point value. Nothing where no spread is known, as
// above.
std::optional<Interval> TypicalInterval(std::span<const Repetition> repetitions);

// Compares `subject` with `reference`. `threshold` is a relative difference that matters, e.g. 0.05.
// By the interval of the ratio of the repetitions' medians (on logarithms, Yuen's, which is Welch's without an eighth
// of the repetitions at either end; with one repetition on either side, by the order-statistics interval of its
// samples).
Verdict Compare(std::span<const Repetition> subject, std::span<const Repetition> reference, double threshold);
Verdict VerdictOf(const RatioInterval& ratio, double threshold);

}  // namespace infimum
