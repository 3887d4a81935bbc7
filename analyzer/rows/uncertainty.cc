#include "analyzer/rows/uncertainty.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace infimum {
namespace {

constexpr std::size_t kMostFolds = 3;
// Rows whose means lie further apart than so many deviations of their difference are no rivals.
constexpr double kRivalry = 4;

double Mean(std::span<const double> values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Puts the values into another order.
double MedianOf(std::span<double> values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle] + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle))) / 2;
}

// The same of a row's few logarithms, which stay where they are.
double MiddleOf(std::span<const double> logs) {
  // Nearly every row has three.
  if (logs.size() == 3) return std::max(std::min(logs[0], logs[1]), std::min(std::max(logs[0], logs[1]), logs[2]));
  std::vector<double> copy(logs.begin(), logs.end());
  return MedianOf(copy);
}

double SquaresOf(std::span<const double> values) {
  const double mean = Mean(values);
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

// Means within a fold, or of all but that fold; repetition i belongs to fold i modulo `folds`.
double FoldMean(std::span<const double> logs, std::size_t fold, std::size_t folds, bool inside) {
  double sum = 0, count = 0;
  std::size_t own = 0;  // the fold of the repetition at hand
  for (const double log : logs) {
    if ((own == fold) == inside) {
      sum += log;
      ++count;
    }
    if (++own == folds) own = 0;
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

NoiseModel::NoiseModel(std::span<const std::span<const double>> rows) {
  std::vector<double> differences;
  for (const std::span<const double> row : rows)
    for (std::size_t i = 1; i < row.size(); ++i) differences.push_back(std::abs(row[i] - row[i - 1]));
  if (differences.empty()) return;
  // The median of |N(0, 2)| is 0.9539 deviations.
  typical_ = MedianOf(differences) / 0.9539;
  std::vector<double> logs;
  for (const std::span<const double> row : rows) {
    if (row.size() < 2) continue;
    logs.assign(row.begin(), row.end());
    DrawBack(logs);
    squares_ += SquaresOf(logs);
    freedom_ += static_cast<double>(row.size() - 1);
  }
}

std::optional<double> NoiseModel::deviation() const {
  return freedom_ > 0 ? std::optional<double>(std::sqrt(squares_ / freedom_)) : std::nullopt;
}

void NoiseModel::DrawBack(std::span<double> logs) const {
  if (!(typical_ > 0) || logs.size() < 3) return;
  const double middle = MiddleOf(logs);
  for (double& log : logs) log = std::clamp(log, middle - kClip * typical_, middle + kClip * typical_);
}

// The moderated variance of one repetition of a row.
double NoiseModel::VarianceOf(std::span<const double> logs) const {
  const double prior = std::min(kPriorRepetitions, freedom_);
  const double own = static_cast<double>(logs.size() - 1);
  return prior + own > 0 ? (prior * squares_ / std::max(freedom_, 1.0) + SquaresOf(logs)) / (prior + own) : 0;
}

TimeEstimate NoiseModel::Of(std::span<const Repetition> repetitions) const {
  std::vector<double> logs;
  logs.reserve(repetitions.size());
  for (const Repetition& repetition : repetitions) logs.push_back(LogOf(repetition));
  DrawBack(logs);
  return Estimate(logs, [&] { return PointInterval(repetitions); });
}

template <class Samples>
TimeEstimate NoiseModel::Estimate(std::span<const double> logs, const Samples& samples) const {
  const double count = static_cast<double>(logs.size());
  TimeEstimate estimate;
  estimate.center = std::exp(Mean(logs));
  estimate.freedom = std::min(kPriorRepetitions, freedom_) + count - 1;
  if (estimate.freedom > 0) {
    estimate.variance = estimate.center * estimate.center * VarianceOf(logs) / count;
    return estimate;
  }
  const Interval seen = samples();
  estimate.below = std::max(estimate.center - seen.low.count(), 0.0);
  estimate.above = std::max(seen.high.count() - estimate.center, 0.0);
  return estimate;
}

TimeEstimate NoiseModel::OfBest(std::span<const TimedRow> rows, std::vector<const Measurement*>* rivals) const {
  struct CandidateLogs {
    const Measurement* row;
    std::span<const double> logs;
    double mean;
  };
  std::size_t count = 0;
  for (const TimedRow& row : rows) count += row.logs.size();
  std::vector<double> all_logs(count);
  std::span<double> left = all_logs;
  std::vector<CandidateLogs> candidates;
  candidates.reserve(rows.size());
  for (const TimedRow& row : rows) {
    const std::span<double> logs = left.first(row.logs.size());
    left = left.subspan(logs.size());
    std::ranges::copy(row.logs, logs.begin());
    DrawBack(logs);
    candidates.push_back({row.row, logs, Mean(logs)});
  }
  std::ranges::sort(candidates, [](const CandidateLogs& a, const CandidateLogs& b) {
    return a.mean != b.mean ? a.mean < b.mean : a.row->candidate.name() < b.row->candidate.name();
  });
  const CandidateLogs best = candidates.front();
  // The row itself lies far away in memory.
  TimeEstimate estimate = Estimate(best.logs, [&] { return PointInterval(best.row->repetitions); });
  const double variance = VarianceOf(best.logs);
  std::erase_if(candidates, [&](const CandidateLogs& candidate) {
    if (candidate.row == best.row) return false;
    // A row of one repetition was given up after it.
    if (candidate.logs.size() < 2 || best.logs.size() < 2) return true;
    const double apart = std::sqrt(
        variance * (1.0 / static_cast<double>(candidate.logs.size()) + 1.0 / static_cast<double>(best.logs.size())));
    return candidate.mean - best.mean > kRivalry * apart;
  });
  if (rivals != nullptr) {
    rivals->clear();
    for (const CandidateLogs& candidate : candidates) rivals->push_back(candidate.row);
  }
  if (candidates.size() == 1) return estimate;
  std::size_t fewest = best.logs.size();
  for (const CandidateLogs& candidate : candidates) fewest = std::min(fewest, candidate.logs.size());
  const std::size_t folds = std::min(kMostFolds, fewest);
  double sum = 0;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const CandidateLogs* winner = nullptr;
    double winning = 0;
    for (const CandidateLogs& candidate : candidates) {
      const double mean = FoldMean(candidate.logs, fold, folds, false);
      if (winner != nullptr && mean >= winning) continue;
      winner = &candidate;
      winning = mean;
    }
    sum += FoldMean(winner->logs, fold, folds, true);
  }
  estimate.center = std::exp(sum / static_cast<double>(folds));
  const double repeated = static_cast<double>(fewest);
  estimate.variance = estimate.center * estimate.center * variance / repeated;
  const double used = repeated * static_cast<double>(folds - 1) / static_cast<double>(folds);
  estimate.below = estimate.center * MostLoss(candidates.size() - 1) * std::sqrt(2 * variance / used);
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
  for (const Term& term : terms) {
    center += term.weight * term.estimate.center;
    below += term.weight * term.estimate.below;
    above += term.weight * term.estimate.above;
  }
  // Those of one workload together, which err as one.
  std::vector<const Term*> by_workload;
  by_workload.reserve(terms.size());
  for (const Term& term : terms) by_workload.push_back(&term);
  const auto workload_of = [](const Term* term) { return term->workload; };
  if (!std::ranges::is_sorted(by_workload, {}, workload_of)) std::ranges::stable_sort(by_workload, {}, workload_of);
  double variance = 0, by_freedom = 0;
  for (std::size_t i = 0; i < by_workload.size();) {
    const std::size_t workload = by_workload[i]->workload;
    double weight = 0;
    for (; i < by_workload.size() && by_workload[i]->workload == workload; ++i) weight += by_workload[i]->weight;
    const TimeEstimate& estimate = by_workload[i - 1]->estimate;
    const double part = weight * weight * estimate.variance;
    if (!(part > 0) || !(estimate.freedom > 0)) continue;
    variance += part;
    by_freedom += part * part / estimate.freedom;
  }
  double half = 0;
  if (variance > 0) half = HalfWidth(variance * variance / by_freedom) * std::sqrt(variance);
  return {Latency(std::max(center - half - below, 0.0)), Latency(center + half + above)};
}

}  // namespace infimum
