#include "infimum/measurement/verdict.h"

#include <algorithm>
#include <cmath>

#include "infimum/base/enum_names.h"

namespace infimum {
namespace {

// Below this a single repetition's order statistics do not reach 95 % (see MedianInterval).
constexpr std::size_t kLeastSamples = 6;

struct LogInterval {
  double low = 0;
  double high = 0;
};

// Trimmed mean and variance of that mean, of the repetitions' medians on a logarithmic scale, where a relative
// difference is a distance and noise that multiplies is symmetric. With fewer than eight nothing is trimmed.
struct LogMean {
  double mean = 0;
  double variance = 0;  // of the mean
  double degrees = 0;
};

LogMean MeanOfLogMedians(std::span<const Repetition> repetitions) {
  std::vector<double> logs;
  for (const Repetition& repetition : repetitions) logs.push_back(std::log(repetition.median.count()));
  std::ranges::sort(logs);
  const std::size_t cut = TrimmedAtEachEnd(logs.size());
  const double count = static_cast<double>(logs.size());
  const double kept = static_cast<double>(logs.size() - 2 * cut);
  LogMean result;
  for (std::size_t i = cut; i < logs.size() - cut; ++i) result.mean += logs[i] / kept;
  // What is cut counts as the outermost that is kept does: Winsorized.
  for (double& log : logs) log = std::clamp(log, logs[cut], logs[logs.size() - 1 - cut]);
  double mean = 0;
  for (const double log : logs) mean += log / count;
  for (const double log : logs) result.variance += (log - mean) * (log - mean) / (kept * (kept - 1));
  result.degrees = kept - 1;
  return result;
}

// One side alone, for the comparison in which a side has a single repetition.
std::optional<LogInterval> IntervalOf(std::span<const Repetition> repetitions, double confidence) {
  if (repetitions.size() == 1) {
    const std::vector<Latency>& samples = repetitions.front().samples;
    if (samples.size() < kLeastSamples) return std::nullopt;
    const Interval interval = MedianInterval(samples);
    if (!(interval.low.count() > 0)) return std::nullopt;
    return LogInterval{std::log(interval.low.count()), std::log(interval.high.count())};
  }
  const LogMean side = MeanOfLogMedians(repetitions);
  const double half = StudentTQuantile((1 + confidence) / 2, side.degrees) * std::sqrt(side.variance);
  return LogInterval{side.mean - half, side.mean + half};
}

// Yuen, Biometrika 61, 1974: Welch's interval of trimmed means.
LogInterval YuenInterval(std::span<const Repetition> subject, std::span<const Repetition> reference,
                         double confidence) {
  const LogMean a = MeanOfLogMedians(subject);
  const LogMean b = MeanOfLogMedians(reference);
  const double variance = a.variance + b.variance;
  const double difference = a.mean - b.mean;
  if (!(variance > 0)) return {difference, difference};  // exact times, as a fake backend has them
  // Welch and Satterthwaite's degrees of freedom, by shares: squared variances could underflow.
  const double share = a.variance / variance;
  const double degrees = 1 / (share * share / a.degrees + (1 - share) * (1 - share) / b.degrees);
  const double half = StudentTQuantile((1 + confidence) / 2, degrees) * std::sqrt(variance);
  return {difference - half, difference + half};
}

bool HasPositiveMedians(std::span<const Repetition> repetitions) {
  for (const Repetition& repetition : repetitions) {
    if (!(repetition.median.count() > 0) || !std::isfinite(repetition.median.count())) return false;
  }
  return !repetitions.empty();
}

// Of log(subject / reference); nullopt where there is too little to make one.
std::optional<LogInterval> IntervalOfRatio(std::span<const Repetition> subject, std::span<const Repetition> reference,
                                           double confidence) {
  if (!HasPositiveMedians(subject) || !HasPositiveMedians(reference)) return std::nullopt;
  if (subject.size() > 1 && reference.size() > 1) return YuenInterval(subject, reference, confidence);
  const std::optional<LogInterval> a = IntervalOf(subject, confidence);
  const std::optional<LogInterval> b = IntervalOf(reference, confidence);
  if (!a || !b) return std::nullopt;
  // Both at their worst: wider than 95 %, which suits samples that saw only one process.
  return LogInterval{a->low - b->high, a->high - b->low};
}

}  // namespace

std::string_view Name(Verdict verdict) {
  constexpr EnumNames<Verdict::kUndecided> kNames = {"same", "faster", "slower", "undecided"};
  return kNames[verdict];
}

std::optional<RatioInterval> RatioOf(std::span<const Repetition> subject, std::span<const Repetition> reference,
                                     double confidence) {
  const std::optional<LogInterval> ratio = IntervalOfRatio(subject, reference, confidence);
  if (!ratio) return std::nullopt;
  return RatioInterval{std::exp(ratio->low), std::exp(ratio->high)};
}

std::optional<Interval> TypicalInterval(std::span<const Repetition> repetitions) {
  if (!HasPositiveMedians(repetitions)) return std::nullopt;
  const std::optional<LogInterval> interval = IntervalOf(repetitions, kUsualConfidence);
  if (!interval) return std::nullopt;
  // Rounding must not put the point outside, nor samples that were not kept.
  const Latency point = PointValue(repetitions);
  return Interval{std::min(Latency(std::exp(interval->low)), point),
                  std::max(Latency(std::exp(interval->high)), point)};
}

Verdict Compare(std::span<const Repetition> subject, std::span<const Repetition> reference, double threshold) {
  const std::optional<RatioInterval> ratio = RatioOf(subject, reference);
  return ratio ? VerdictOf(*ratio, threshold) : Verdict::kUndecided;
}

Verdict VerdictOf(const RatioInterval& ratio, double threshold) {
  const double most = 1 + threshold;
  if (ratio.high < 1 / most) return Verdict::kFaster;
  if (ratio.low > most) return Verdict::kSlower;
  return ratio.low >= 1 / most && ratio.high <= most ? Verdict::kSame : Verdict::kUndecided;
}

}  // namespace infimum
