#include "analyzer/uncertainty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "infimum/measurement/student_t.h"

namespace infimum {
namespace {

constexpr std::size_t kMostFolds = 3;
// Rows whose means lie further apart than so many deviations of their difference are no rivals.
constexpr double kRivalry = 4;

double LogOf(const Repetition& repetition) { return std::log(std::max(repetition.median.count(), 1e-12)); }

double MeanLog(std::span<const Repetition> repetitions) {
  double sum = 0;
  for (const Repetition& repetition : repetitions) sum += LogOf(repetition);
  return sum / static_cast<double>(repetitions.size());
}

// Means within a fold, or of all but that fold; repetition i belongs to fold i modulo `folds`.
double FoldMean(std::span<const Repetition> repetitions, std::size_t fold, std::size_t folds, bool inside) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < repetitions.size(); ++i) {
    if ((i % folds == fold) != inside) continue;
    sum += LogOf(repetitions[i]);
    ++count;
  }
  return sum / count;
}

// 97.5 % of Student's t by whole degrees of freedom, rounded down: wide rather than narrow. Of models with thousands of
// layers each has an interval, so they are worked out once.
double HalfWidth(double freedom) {
  constexpr std::size_t kMost = 200;
  static const std::array<double, kMost + 1> kQuantiles = [] {
    std::array<double, kMost + 1> quantiles{};
    for (std::size_t degrees = 1; degrees <= kMost; ++degrees)
      quantiles[degrees] = StudentTQuantile(0.975, static_cast<double>(degrees));
    return quantiles;
  }();
  // Rounding must not turn eight degrees into seven.
  const double whole = std::floor(freedom * (1 + 1e-12));
  return kQuantiles[static_cast<std::size_t>(std::clamp(whole, 1.0, static_cast<double>(kMost)))];
}

double NormalTail(double deviations) { return 0.5 * std::erfc(deviations / std::sqrt(2.0)); }

}  // namespace

void NoiseModel::Observe(std::span<const Repetition> repetitions) {
  if (repetitions.size() < 2) return;
  const double mean = MeanLog(repetitions);
  for (const Repetition& repetition : repetitions) squares_ += (LogOf(repetition) - mean) * (LogOf(repetition) - mean);
  freedom_ += static_cast<double>(repetitions.size() - 1);
}

std::optional<double> NoiseModel::deviation() const {
  return freedom_ > 0 ? std::optional<double>(std::sqrt(squares_ / freedom_)) : std::nullopt;
}

// The moderated variance of one repetition of a row, on logarithms.
double NoiseModel::VarianceOf(std::span<const Repetition> repetitions) const {
  const double prior = std::min(kPriorRepetitions, freedom_);
  const double mean = MeanLog(repetitions);
  double squares = 0;
  for (const Repetition& repetition : repetitions) squares += (LogOf(repetition) - mean) * (LogOf(repetition) - mean);
  const double own = static_cast<double>(repetitions.size() - 1);
  return prior + own > 0 ? (prior * squares_ / std::max(freedom_, 1.0) + squares) / (prior + own) : 0;
}

TimeEstimate NoiseModel::Of(std::span<const Repetition> repetitions) const {
  const double count = static_cast<double>(repetitions.size());
  TimeEstimate estimate;
  estimate.center = std::exp(MeanLog(repetitions));
  estimate.freedom = std::min(kPriorRepetitions, freedom_) + count - 1;
  if (estimate.freedom > 0) {
    estimate.variance = estimate.center * estimate.center * VarianceOf(repetitions) / count;
    return estimate;
  }
  const Interval samples = PointInterval(repetitions);
  estimate.below = std::max(estimate.center - samples.low.count(), 0.0);
  estimate.above = std::max(samples.high.count() - estimate.center, 0.0);
  return estimate;
}

TimeEstimate NoiseModel::OfBest(std::span<const Measurement> rows) const {
  const Measurement* best = &rows.front();
  for (const Measurement& row : rows)
    if (MeanLog(row.repetitions) < MeanLog(best->repetitions)) best = &row;
  if (best->repetitions.size() < 2) return Of(best->repetitions);
  const double variance = VarianceOf(best->repetitions);
  const double least = MeanLog(best->repetitions);
  std::vector<const Measurement*> rivals = {best};
  std::size_t folds = std::min(kMostFolds, best->repetitions.size());
  for (const Measurement& row : rows) {
    // A row of one repetition was given up after it.
    if (&row == best || row.repetitions.size() < 2) continue;
    const double apart = std::sqrt(variance * (1.0 / static_cast<double>(row.repetitions.size()) +
                                               1.0 / static_cast<double>(best->repetitions.size())));
    if (MeanLog(row.repetitions) - least > kRivalry * apart) continue;
    rivals.push_back(&row);
    folds = std::min(folds, row.repetitions.size());
  }
  TimeEstimate estimate = Of(best->repetitions);
  if (rivals.size() == 1) return estimate;
  double sum = 0;
  std::size_t fewest = best->repetitions.size();
  for (const Measurement* rival : rivals) fewest = std::min(fewest, rival->repetitions.size());
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const Measurement* winner = best;
    double winning = FoldMean(best->repetitions, fold, folds, false);
    for (const Measurement* rival : rivals) {
      const double mean = FoldMean(rival->repetitions, fold, folds, false);
      if (mean < winning || (mean == winning && rival->candidate.name() < winner->candidate.name())) {
        winner = rival;
        winning = mean;
      }
    }
    sum += FoldMean(winner->repetitions, fold, folds, true);
  }
  estimate.center = std::exp(sum / static_cast<double>(folds));
  const double count = static_cast<double>(fewest);
  estimate.variance = estimate.center * estimate.center * variance / count;
  const double used = count * static_cast<double>(folds - 1) / static_cast<double>(folds);
  estimate.below = estimate.center * MostLoss(rivals.size() - 1) * std::sqrt(2 * variance / used);
  return estimate;
}

double MostLoss(std::size_t rivals) {
  constexpr std::size_t kMost = 64;
  static const std::array<double, kMost + 1> kLosses = [] {
    std::array<double, kMost + 1> losses{};
    for (std::size_t count = 1; count <= kMost; ++count)
      for (double d = 0; d < 6; d += 0.01)
        losses[count] = std::max(losses[count], d * std::min(1.0, static_cast<double>(count) * NormalTail(d)));
    return losses;
  }();
  return kLosses[std::min(rivals, kMost)];
}

Interval IntervalOfSum(std::span<const Term> terms) {
  double center = 0, below = 0, above = 0;
  std::map<std::size_t, std::pair<double, const TimeEstimate*>> by_workload;
  for (const Term& term : terms) {
    center += term.weight * term.estimate.center;
    below += term.weight * term.estimate.below;
    above += term.weight * term.estimate.above;
    auto& [weight, estimate] = by_workload[term.workload];
    weight += term.weight;
    estimate = &term.estimate;
  }
  double variance = 0, by_freedom = 0;
  for (const auto& [workload, entry] : by_workload) {
    const double part = entry.first * entry.first * entry.second->variance;
    if (!(part > 0) || !(entry.second->freedom > 0)) continue;
    variance += part;
    by_freedom += part * part / entry.second->freedom;
  }
  double half = 0;
  if (variance > 0) half = HalfWidth(variance * variance / by_freedom) * std::sqrt(variance);
  return {Latency(std::max(center - half - below, 0.0)), Latency(center + half + above)};
}

}  // namespace infimum
