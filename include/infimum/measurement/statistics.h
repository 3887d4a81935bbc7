// How samples become numbers, defined once.
//
// A *sample* is one timed batch, divided by its launches; a *repetition* is one process (CPU) or round
// (GPU). A row keeps for each repetition count, minimum, median, 95th percentile and up to 64 samples.
// The point value of what was repeated is the mean of its repetitions' medians, on a logarithmic scale, as the noise
// is: in the middle of its interval, and not lower for being repeated more often, or beside more rivals. The best seen
// is for tables of rows alone: the smallest median of three repetitions; where there are more, what the smallest of
// three of them is in the mean.
//
//   repetitions with medians 10.2, 10.0 and 11.9 us        ->  PointValue = 10.7 us, BestSeen = 10.0 us
//   medians 10, 11, 12 and 13 us: of the four triples 10 is the smallest three times, 11 once  ->  BestSeen 10.25 us
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "infimum/base/beat.h"
#include "infimum/base/units.h"

namespace infimum {

inline constexpr std::size_t kMaxKeptSamples = 64;
inline constexpr std::size_t kPointRepetitions = 3;

// Readings of the device's clock (of a GPU its multiprocessors'), in MHz.
struct ClockRange {
  double low_mhz = 0;
  double high_mhz = 0;

  friend bool operator==(const ClockRange&, const ClockRange&) = default;
};

struct Repetition {
  std::int64_t count = 0;  // samples taken, also those not kept
  Latency minimum{0};
  Latency median{0};
  Latency p95{0};
  std::vector<Latency> samples;  // at most kMaxKeptSamples, evenly spaced in the order they were taken
  // Read before and after it; absent where the system does not report them.
  std::optional<ClockRange> clocks = std::nullopt;
  // The mean of those before and after it; absent where nothing was taken.
  std::optional<Beat> beat = std::nullopt;

  friend bool operator==(const Repetition&, const Repetition&) = default;
};

// `samples` must not be empty.
Repetition Summarize(std::span<const Latency> samples);

// Linear interpolation between closest ranks (Hyndman and Fan's type 7, NumPy's default);
// `quantile` in [0, 1], `samples` not empty, any order.
Latency Quantile(std::span<const Latency> samples, double quantile);

// What bounds, runs and replays are told by: of the best of several candidates the point value of the repetitions that
// did not name it (analyzer/rows/uncertainty.h), of one alone PointValue.
inline constexpr std::string_view kPointStatistic = "cross-fitted";

// How many repetitions at either end make neither points nor intervals: an eighth. A burst of other work may make so
// many as long as it likes; more would cost more of what few repetitions say than bursts are worth.
constexpr std::size_t TrimmedAtEachEnd(std::size_t repetitions) { return repetitions / 8; }

// Of both: `repetitions` must not be empty. The point value is the geometric mean of their medians, trimmed.
Latency PointValue(std::span<const Repetition> repetitions);
Latency BestSeen(std::span<const Repetition> repetitions);

struct Interval {
  Latency low{0};
  Latency high{0};
};

// 95 % interval of the median of all kept samples by order statistics (binomial); with fewer than six
// samples, their range.
Interval MedianInterval(std::span<const Latency> samples);

// Where the best seen would fall if the campaign were repeated: from the smallest repetition minimum
// to the second-smallest repetition median (the only one's p95 where there is one repetition; of more than three
// repetitions what the smallest of three stays below 97.5 % of the time).
Interval BestSeenInterval(std::span<const Repetition> repetitions);

// Student's t distribution, for intervals of a mean over few repetitions: P(T <= t) for `degrees` > 0 degrees of
// freedom, which need not be whole (Welch's are not); and the t with P(T <= t) = `probability`, strictly between 0
// and 1. StudentTQuantile(0.975, 4) == 2.776...
double StudentTProbability(double t, double degrees);
double StudentTQuantile(double probability, double degrees);

}  // namespace infimum
