#include "infimum/measurement/statistics.h"

#include <algorithm>
#include <cmath>

#include "infimum/base/check.h"

namespace infimum {
namespace {

std::vector<Latency> Sorted(std::span<const Latency> samples) {
  std::vector<Latency> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
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

// The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), evaluated by
// the modified Lentz method (Press et al., Numerical Recipes, 6.4). Converges fast for
// x < (a + 1) / (a + b + 2).
double BetaContinuedFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto nonzero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    const double step = d * c;
    fraction *= step;
    if (std::abs(step - 1) < 1e-15) break;
  }
  return fraction;
}

// The regularised incomplete beta function I_x(a, b).
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * BetaContinuedFraction(a, b, x) / a;
  return 1 - front * BetaContinuedFraction(b, a, 1 - x) / b;
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

namespace {

std::vector<Latency> SortedMedians(std::span<const Repetition> repetitions) {
  std::vector<Latency> medians;
  for (const Repetition& repetition : repetitions) medians.push_back(repetition.median);
  std::ranges::sort(medians);
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

Latency PointValue(std::span<const Repetition> repetitions) {
  INFIMUM_CHECK(!repetitions.empty(), "a measured row has repetitions");
  std::vector<Latency> medians;
  for (const Repetition& repetition : repetitions) {
    if (!(repetition.median > Latency(0))) return Latency(0);  // as a file may say
    medians.push_back(repetition.median);
  }
  const std::size_t cut = TrimmedAtEachEnd(medians.size());
  if (cut > 0) std::ranges::sort(medians);
  const auto kept = std::span(medians).subspan(cut, medians.size() - 2 * cut);
  // Relative to the first, so that what is the same each time, or was timed once, keeps its digits.
  const Latency first = kept.front();
  double sum = 0;
  for (const Latency median : kept)
    if (median != first) sum += std::log(median / first);
  return sum != 0 ? first * std::exp(sum / static_cast<double>(kept.size())) : first;
}

Latency BestSeen(std::span<const Repetition> repetitions) {
  INFIMUM_CHECK(!repetitions.empty(), "a measured row has repetitions");
  // Nearly every row has no more: nothing need be sorted for them.
  if (repetitions.size() > kPointRepetitions) return SmallestOfThree(SortedMedians(repetitions));
  Latency least = repetitions.front().median;
  for (const Repetition& repetition : repetitions) least = std::min(least, repetition.median);
  return least;
}

Interval MedianInterval(std::span<const Latency> samples) {
  INFIMUM_CHECK(!samples.empty(), "an interval needs samples");
  const std::vector<Latency> sorted = Sorted(samples);
  // Between the k-th smallest and the k-th largest; below six samples no k >= 1 reaches 95 %.
  const std::size_t cut = ConfidentCut(sorted.size());
  const std::size_t first = cut == 0 ? 0 : cut - 1;
  return {sorted[first], sorted[sorted.size() - 1 - first]};
}

Interval BestSeenInterval(std::span<const Repetition> repetitions) {
  INFIMUM_CHECK(!repetitions.empty(), "a measured row has repetitions");
  Interval interval{repetitions.front().minimum, repetitions.front().p95};
  for (const Repetition& repetition : repetitions) interval.low = std::min(interval.low, repetition.minimum);
  const std::vector<Latency> medians = SortedMedians(repetitions);
  if (medians.size() > kPointRepetitions) {
    // Three are all above a quantile q with the chance (1 - q)^3.
    interval.high = std::max(Quantile(medians, 1 - std::cbrt(0.025)), SmallestOfThree(medians));
  } else if (medians.size() > 1) {
    interval.high = medians[1];
  }
  return interval;
}

double StudentTProbability(double t, double degrees) {
  INFIMUM_CHECK(degrees > 0, "Student's t needs positive degrees of freedom");
  const double tail = 0.5 * IncompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t > 0 ? 1 - tail : tail;
}

double StudentTQuantile(double probability, double degrees) {
  INFIMUM_CHECK(probability > 0 && probability < 1, "a probability lies strictly between 0 and 1");
  // By symmetry the upper half suffices; the distribution is monotone, so doubling finds a bracket and
  // halving it ends at neighbouring doubles.
  if (probability < 0.5) return -StudentTQuantile(1 - probability, degrees);
  double low = 0;
  double high = 1;
  while (StudentTProbability(high, degrees) < probability && high < 1e300) high *= 2;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (StudentTProbability(middle, degrees) < probability ? low : high) = middle;
  }
}

}  // namespace infimum
