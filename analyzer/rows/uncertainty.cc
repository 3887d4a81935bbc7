#include "analyzer/rows/uncertainty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

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

// Of rounds beyond those whose effect is known it is none.
double At(std::span<const double> effects, std::size_t round) { return round < effects.size() ? effects[round] : 0; }

// Around their mean, less the rounds' effects.
double SquaresOf(std::span<const double> values, std::span<const double> effects) {
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) mean += values[i] - At(effects, i);
  mean /= static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double apart = values[i] - At(effects, i) - mean;
    squares += apart * apart;
  }
  return squares;
}

void Center(std::span<double> effects) {
  if (effects.empty()) return;
  const double mean = Mean(effects);
  for (double& effect : effects) effect -= mean;
}

// What was repeated without any difference, or not at all, keeps the digits of `median`.
Latency CenterOf(std::span<const double> logs, Latency median) {
  const double first = logs.front();
  const bool is_same = std::ranges::all_of(logs, [&](double log) { return log == first; });
  // It is not theirs where they were drawn to one place.
  const double apart = std::abs(std::log(std::max(median.count(), 1e-12)) - first);
  return is_same && apart <= 1e-12 * (1 + std::abs(first)) ? median : Latency(std::exp(Mean(logs)));
}

// Draws values that lie further than `most` from the middle back to there; of many to the middle itself, since what is
// left at the edge adds up.
void DrawIn(std::span<double> values, double middle, double most) {
  for (double& value : values) {
    const double kept = std::clamp(value, middle - most, middle + most);
    value = kept == value || values.size() < kManyRounds ? kept : middle;
  }
}

// How much less the mean of rounds is worth for lying close to its neighbours, as where a clock wanders slowly: of an
// autoregressive process (1 + r) / (1 - r). Few rounds do not say.
double InflationOf(std::span<const double> effects) {
  if (effects.size() < kManyRounds) return 1;
  const double mean = Mean(effects);
  double squares = 0, products = 0;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    squares += (effects[i] - mean) * (effects[i] - mean);
    if (i > 0) products += (effects[i] - mean) * (effects[i - 1] - mean);
  }
  if (!(squares > 0)) return 1;
  // The fitted mean makes it too low by about one over their number.
  const double correlation = std::clamp(products / squares + 1 / static_cast<double>(effects.size()), 0.0, 0.8);
  return (1 + correlation) / (1 - correlation);
}

// Rounds that ran beside other work lie far from the middle, by the median distance to it; of few that cannot be told.
std::vector<double> WithoutOutliers(const std::vector<double>& effects) {
  if (effects.size() < kManyRounds) return effects;
  std::vector<double> kept = effects, distances;
  const double middle = MedianOf(kept);
  for (const double effect : effects) distances.push_back(std::abs(effect - middle));
  kept = effects;
  // The median of |N(0, 1)| is 0.6745 deviations.
  DrawIn(kept, middle, kRoundClip * MedianOf(distances) / 0.6745);
  return kept;
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
  FindRounds(rows);
  Pool(rows);
}

// By medians over the rows: what the typical deviation is read off, and what DrawBack takes as common.
void NoiseModel::FindRounds(std::span<const std::span<const double>> rows) {
  std::size_t rounds = 0;
  for (const std::span<const double> row : rows) rounds = std::max(rounds, row.size());
  std::vector<double> differences, distances;
  for (std::size_t round = 1; round < rounds; ++round) {
    differences.clear();
    for (const std::span<const double> row : rows)
      if (row.size() > round) differences.push_back(row[round] - row[round - 1]);
    // A single row's noise cannot be told apart from its round's.
    const bool is_common = differences.size() > 1;
    const double count = static_cast<double>(differences.size());
    const double middle = is_common ? MedianOf(differences) : 0;
    // The median takes its part of the noise with it.
    const double kept = is_common ? std::sqrt(count / (count - 1)) : 1;
    for (const double difference : differences) distances.push_back(std::abs(difference - middle) * kept);
    if (!is_common) continue;
    if (effects_.empty()) effects_.push_back(0);
    effects_.push_back(effects_.back() + middle);
  }
  // The median of |N(0, 2)| is 0.9539 deviations.
  if (!distances.empty()) typical_ = MedianOf(distances) / 0.9539;
  Center(effects_);
  kept_ = effects_;
}

void NoiseModel::Pool(std::span<const std::span<const double>> rows) {
  std::vector<double> logs;
  std::vector<std::size_t> sizes;
  for (const std::span<const double> row : rows) {
    if (row.size() < 2) continue;
    logs.insert(logs.end(), row.begin(), row.end());
    sizes.push_back(row.size());
    DrawBack(std::span(logs).last(row.size()));
    freedom_ += static_cast<double>(row.size() - 1);
  }
  const double repeated = freedom_;
  std::vector<double> counts(effects_.size());
  for (const std::size_t size : sizes)
    for (std::size_t round = 0; round < std::min(size, counts.size()); ++round) ++counts[round];
  FitRounds(logs, sizes, counts);
  for (std::size_t first = 0, row = 0; row < sizes.size(); first += sizes[row++])
    squares_ += SquaresOf(std::span(logs).subspan(first, sizes[row]), effects_);
  if (effects_.empty()) return;
  round_.freedom = static_cast<double>(effects_.size() - 1);
  freedom_ = repeated - round_.freedom;
  lost_ = repeated / freedom_;
  kept_ = WithoutOutliers(effects_);
  double noise = 0;  // of a round's mean
  for (const double count : counts) noise += squares_ / freedom_ / count / static_cast<double>(counts.size());
  round_.variance = std::max(SquaresOf(kept_, {}) / round_.freedom - noise, 0.0) * InflationOf(kept_);
}

// Means of a two-way layout by rows and rounds in turns; of rows that were repeated alike the first turn is exact.
void NoiseModel::FitRounds(std::span<const double> logs, std::span<const std::size_t> sizes,
                           std::span<const double> counts) {
  constexpr int kMostTurns = 8;
  constexpr double kPrecision = 1e-3;  // of the typical deviation
  for (int turn = 0; turn < kMostTurns && !effects_.empty(); ++turn) {
    std::vector<double> found(effects_.size(), 0);
    for (std::size_t first = 0, row = 0; row < sizes.size(); first += sizes[row++]) {
      const std::span<const double> own = logs.subspan(first, sizes[row]);
      double mean = 0;
      for (std::size_t round = 0; round < own.size(); ++round) mean += own[round] - At(effects_, round);
      mean /= static_cast<double>(own.size());
      for (std::size_t round = 0; round < std::min(own.size(), found.size()); ++round)
        found[round] += (own[round] - mean) / counts[round];
    }
    Center(found);
    double change = 0;
    for (std::size_t round = 0; round < found.size(); ++round)
      change = std::max(change, std::abs(found[round] - effects_[round]));
    effects_ = std::move(found);
    if (turn > 0 && change <= kPrecision * typical_) return;
  }
}

std::optional<double> NoiseModel::deviation() const {
  return freedom_ > 0 ? std::optional<double>(std::sqrt(squares_ / freedom_)) : std::nullopt;
}

void NoiseModel::DrawBack(std::span<double> logs) const {
  if (logs.size() < 2 || (!(typical_ > 0) && effects_.empty())) return;
  for (std::size_t round = 0; round < logs.size(); ++round) logs[round] -= At(effects_, round);
  if (typical_ > 0 && logs.size() > 2) DrawIn(logs, MiddleOf(logs), kClip * typical_);
  for (std::size_t round = 0; round < logs.size(); ++round) logs[round] += At(kept_, round);
}

// The moderated variance of one repetition of a row, apart from what its round did to all.
double NoiseModel::VarianceOf(std::span<const double> logs) const {
  const double prior = std::min(kPriorRepetitions, freedom_);
  const double own = static_cast<double>(logs.size() - 1);
  if (!(prior + own > 0)) return 0;
  return (prior * squares_ / std::max(freedom_, 1.0) + lost_ * SquaresOf(logs, kept_)) / (prior + own);
}

TimeEstimate NoiseModel::Of(std::span<const Repetition> repetitions) const {
  std::vector<double> logs;
  logs.reserve(repetitions.size());
  for (const Repetition& repetition : repetitions) logs.push_back(LogOf(repetition));
  DrawBack(logs);
  return Estimate(logs, repetitions.front().median, [&] { return BestSeenInterval(repetitions); });
}

void NoiseModel::SetTimes(std::span<TimedRow> rows) const {
  std::vector<double> logs;
  for (TimedRow& row : rows) {
    logs.assign(row.logs.begin(), row.logs.end());
    DrawBack(logs);
    row.time = CenterOf(logs, row.time);
  }
}

template <class Samples>
TimeEstimate NoiseModel::Estimate(std::span<const double> logs, Latency median, const Samples& samples) const {
  const double count = static_cast<double>(logs.size());
  TimeEstimate estimate;
  estimate.center = CenterOf(logs, median).count();
  estimate.rounds = count;
  const double freedom = std::min(kPriorRepetitions, freedom_) + count - 1;
  // The row is one of those that were pooled.
  estimate.freedom = freedom_ > 0 ? std::min(freedom, freedom_) : freedom;
  if (estimate.freedom > 0) {
    estimate.variance = estimate.center * estimate.center * VarianceOf(logs) / count;
    estimate.round = round_;
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
    Latency time;
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
    candidates.push_back({row.row, row.time, logs, Mean(logs)});
  }
  std::ranges::sort(candidates, [](const CandidateLogs& a, const CandidateLogs& b) {
    return a.mean != b.mean ? a.mean < b.mean : a.row->candidate.name() < b.row->candidate.name();
  });
  const CandidateLogs best = candidates.front();
  // The row itself lies far away in memory.
  TimeEstimate estimate = Estimate(best.logs, best.time, [&] { return BestSeenInterval(best.row->repetitions); });
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
  estimate.rounds = repeated;
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

namespace {

// Of a sum whose parts were repeated in the first rounds: two of them share those of the one with fewer. By number of
// rounds the parts' sums.
double VarianceByRounds(const std::map<double, double>& sums) {
  double variance = 0;
  for (const auto& [rounds, sum] : sums)
    for (const auto& [others, other] : sums) variance += sum * other / std::max(rounds, others);
  return variance;
}

}  // namespace

SumEstimate SumOf(std::span<const Term> terms) {
  double center = 0, below = 0, above = 0;
  std::map<double, double> by_rounds;
  RoundNoise round;
  for (const Term& term : terms) {
    center += term.weight * term.estimate.center;
    below += term.weight * term.estimate.below;
    above += term.weight * term.estimate.above;
    if (!(term.estimate.round.variance > 0)) continue;
    round = term.estimate.round;  // the same of all
    by_rounds[term.estimate.rounds] += term.weight * term.estimate.center;
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
  double squares = 0;
  if (variance > 0) squares = std::pow(HalfWidth(variance * variance / by_freedom), 2) * variance;
  if (!by_rounds.empty())
    squares += std::pow(HalfWidth(round.freedom), 2) * round.variance * VarianceByRounds(by_rounds);
  const double half = std::sqrt(squares);
  return {Latency(center), {Latency(std::max(center - half - below, 0.0)), Latency(center + half + above)}};
}

Interval IntervalAround(Latency point, const SumEstimate& sum) {
  if (!(sum.center > Latency(0))) return {point, point + (sum.interval.high - sum.center)};
  const double scale = point / sum.center;
  return {std::max(point - scale * (sum.center - sum.interval.low), Latency(0)),
          point + scale * (sum.interval.high - sum.center)};
}

}  // namespace infimum
