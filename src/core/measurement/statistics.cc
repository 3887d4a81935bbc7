#include "infimum/measurement/statistics.h"

#include <algorithm>
#include <cmath>

#include "infimum/base/check.h"

namespace infimum {
namespace {

std::vector<Latency> Sorted(std::span<const Latency> samples) {
  std::vector<Latency> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

Latency QuantileOfSorted(const std::vector<Latency>& sorted, double quantile) {
  const double rank = quantile * static_cast<double>(sorted.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(rank), sorted.size() - 1);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  // std::lerp never leaves [below, above], so minimum <= median <= p95 holds exactly.
  return Latency(std::lerp(sorted[below].count(), sorted[above].count(), rank - static_cast<double>(below)));
}

// How many order statistics may be cut off at each end of n samples so that what is left still covers
// the median with 95 %: the largest k with P(Binomial(n, 1/2) < k) <= 2.5 %.
std::size_t ConfidentCut(std::size_t n) {
  const double count = static_cast<double>(n);
  double log_probability = -count * std::log(2.0);  // of exactly i = 0 successes; logarithms never underflow
  double below = 0;                                 // P(Binomial < i)
  for (std::size_t i = 0; i < n; ++i) {
    below += std::exp(log_probability);
    if (below > 0.025) return i;
    log_probability += std::log((count - static_cast<double>(i)) / (static_cast<double>(i) + 1));
  }
  return 0;
}

}  // namespace

Latency Quantile(std::span<const Latency> samples, double quantile) {
  INFIMUM_CHECK(!samples.empty(), "a quantile needs samples");
  INFIMUM_CHECK(quantile >= 0 && quantile <= 1, "a quantile lies in [0, 1]");
  return QuantileOfSorted(Sorted(samples), quantile);
}

Repetition Summarize(std::span<const Latency> samples) {
  INFIMUM_CHECK(!samples.empty(), "a repetition needs samples");
  const std::vector<Latency> sorted = Sorted(samples);
  Repetition repetition;
  repetition.count = static_cast<std::int64_t>(samples.size());
  repetition.minimum = sorted.front();
  repetition.median = QuantileOfSorted(sorted, 0.5);
  repetition.p95 = QuantileOfSorted(sorted, 0.95);
  if (samples.size() <= kMaxKeptSamples) {
    repetition.samples.assign(samples.begin(), samples.end());
  } else {
    // The first, the last and what lies evenly between them, so that a drift stays visible.
    for (std::size_t i = 0; i < kMaxKeptSamples; ++i) {
      repetition.samples.push_back(samples[i * (samples.size() - 1) / (kMaxKeptSamples - 1)]);
    }
  }
  return repetition;
}

std::string_view Name(SampleStatistic statistic) {
  switch (statistic) {
    case SampleStatistic::kMinimumOfMedians:
      return "min-of-medians";
    case SampleStatistic::kMinimum:
      return "min";
    case SampleStatistic::kMedian:
      return "median";
  }
  return "";
}

namespace {

std::vector<Latency> SortedMedians(std::span<const Repetition> repetitions) {
  std::vector<Latency> medians;
  for (const Repetition& repetition : repetitions) medians.push_back(repetition.median);
  std::sort(medians.begin(), medians.end());
  return medians;
}

// The mean over all triples of their smallest; of up to three the smallest.
Latency SmallestOfThree(const std::vector<Latency>& sorted) {
  static_assert(kPointRepetitions == 3);
  const std::size_t count = sorted.size();
  if (count <= kPointRepetitions) return sorted.front();
  Latency sum{0};
  double triples = 0;
  for (std::size_t i = 0; i + 2 < count; ++i) {
    // As many pairs of larger ones make a triple with it.
    const double larger = static_cast<double>(count - 1 - i);
    const double pairs = larger * (larger - 1) / 2;
    sum += sorted[i] * pairs;
    triples += pairs;
  }
  return sum / triples;
}

}  // namespace

Latency Fold(std::span<const Repetition> repetitions, SampleStatistic statistic) {
  INFIMUM_CHECK(!repetitions.empty(), "a measured row has repetitions");
  switch (statistic) {
    case SampleStatistic::kMinimumOfMedians: {
      // Nearly every row has no more: nothing need be sorted for them.
      if (repetitions.size() > kPointRepetitions) return SmallestOfThree(SortedMedians(repetitions));
      Latency least = repetitions.front().median;
      for (const Repetition& repetition : repetitions) least = std::min(least, repetition.median);
      return least;
    }
    case SampleStatistic::kMinimum:
      return std::min_element(repetitions.begin(), repetitions.end(),
                              [](const Repetition& a, const Repetition& b) { return a.minimum < b.minimum; })
          ->minimum;
    case SampleStatistic::kMedian:
      break;
  }
  return Quantile(SortedMedians(repetitions), 0.5);
}

Interval MedianInterval(std::span<const Latency> samples) {
  INFIMUM_CHECK(!samples.empty(), "an interval needs samples");
  const std::vector<Latency> sorted = Sorted(samples);
  // Between the k-th smallest and the k-th largest; below six samples no k >= 1 reaches 95 %.
  const std::size_t cut = ConfidentCut(sorted.size());
  const std::size_t first = cut == 0 ? 0 : cut - 1;
  return {sorted[first], sorted[sorted.size() - 1 - first]};
}

Interval PointInterval(std::span<const Repetition> repetitions) {
  INFIMUM_CHECK(!repetitions.empty(), "a measured row has repetitions");
  Interval interval{Fold(repetitions, SampleStatistic::kMinimum), repetitions.front().p95};
  const std::vector<Latency> medians = SortedMedians(repetitions);
  if (medians.size() > kPointRepetitions) {
    // Three are all above a quantile q with the chance (1 - q)^3.
    interval.high = std::max(Quantile(medians, 1 - std::cbrt(0.025)), SmallestOfThree(medians));
  } else if (medians.size() > 1) {
    interval.high = medians[1];
  }
  return interval;
}

}  // namespace infimum
