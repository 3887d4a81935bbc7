#include "analyzer/best_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace infimum {
namespace {

bool IsTime(Latency time) { return std::isfinite(time.count()) && time >= Latency(0); }

// `Counts` says which rows take part.
template <class Counts>
const Measurement* FindLeast(const std::vector<Measurement>& rows, SampleStatistic statistic, Counts counts) {
  const Measurement* best = nullptr;
  Latency least{0};
  for (const Measurement& row : rows) {
    const Latency point = Fold(row.repetitions, statistic);
    if (!IsTime(point) || !counts(row)) continue;
    // Among equals the name decides, so that the answer does not depend on the rows' order.
    const bool is_better =
        best == nullptr || point < least || (point == least && row.candidate.name() < best->candidate.name());
    if (!is_better) continue;
    best = &row;
    least = point;
  }
  return best;
}

const Measurement* FindBest(const std::vector<Measurement>& rows, SampleStatistic statistic) {
  return FindLeast(rows, statistic, [](const Measurement&) { return true; });
}

// The least median of a row but for one repetition.
Latency LeastWithout(const Measurement& row, std::size_t left_out) {
  Latency least{std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < row.repetitions.size(); ++i)
    if (i != left_out) least = std::min(least, row.repetitions[i].median);
  return least;
}

// See the header; nullopt where no repetition can be left out.
std::optional<Latency> ValidatedRegret(const std::vector<Measurement>& rows, const Measurement& choice) {
  if (choice.repetitions.size() < 2) return std::nullopt;
  Latency sum{0};
  for (std::size_t left_out = 0; left_out < choice.repetitions.size(); ++left_out) {
    const Measurement* winner = &choice;
    Latency least = LeastWithout(choice, left_out);
    for (const Measurement& row : rows) {
      // What has fewer repetitions was given up as slower.
      if (row.repetitions.size() < choice.repetitions.size() || !IsTime(row.repetitions[left_out].median)) continue;
      const Latency point = LeastWithout(row, left_out);
      const bool breaks_tie = point == least && winner != &choice && row.candidate.name() < winner->candidate.name();
      if (!(point < least) && !breaks_tie) continue;
      least = point;
      winner = &row;
    }
    sum += choice.repetitions[left_out].median - winner->repetitions[left_out].median;
  }
  return sum / static_cast<double>(choice.repetitions.size());
}

std::optional<ChosenTime> FindChoice(const std::vector<Measurement>& rows, Latency best, SampleStatistic statistic,
                                     const NoiseModel& noise) {
  const Measurement* row =
      FindLeast(rows, statistic, [](const Measurement& other) { return other.candidate.library_choice; });
  if (row == nullptr) return std::nullopt;
  LibraryChoice choice{row->candidate, Fold(row->repetitions, statistic), Latency(0), false};
  const std::optional<Latency> regret = ValidatedRegret(rows, *row);
  choice.is_validated = regret.has_value();
  choice.regret = regret.value_or(choice.latency - best);
  return ChosenTime{std::move(choice), noise.Of(row->repetitions)};
}

}  // namespace

NoiseModel NoiseOf(const MeasuredRows& rows) {
  std::vector<std::span<const Repetition>> all;
  for (const auto& [key, entry] : rows.all())
    for (const auto& [threads, measurements] : entry.by_threads)
      for (const Measurement& row : measurements) all.emplace_back(row.repetitions);
  return NoiseModel(all);
}

std::optional<BestTime> BestTimeOf(const WorkloadRows& rows, const Selection& selection, const NoiseModel& noise) {
  const auto own = rows.by_threads.find(selection.threads);
  if (own == rows.by_threads.end()) return std::nullopt;
  const Measurement* best = FindBest(own->second, selection.statistic);
  if (best == nullptr) return std::nullopt;
  BestTime time;
  time.best = Fold(best->repetitions, selection.statistic);
  std::vector<const Measurement*> rivals;
  time.estimate = noise.OfBest(own->second, &rivals);
  time.contenders = {best->candidate.name()};
  for (const Measurement* rival : rivals)
    if (rival != best) time.contenders.push_back(rival->candidate.name());
  time.candidate = best->candidate;
  time.core_time = time.best * static_cast<double>(selection.threads);
  time.choice = FindChoice(own->second, time.best, selection.statistic, noise);
  for (const auto& [threads, fewer] : rows.by_threads) {
    if (const Measurement* row = FindBest(fewer, selection.statistic))
      time.core_time =
          std::min(time.core_time, Fold(row->repetitions, selection.statistic) * static_cast<double>(threads));
  }
  return time;
}

}  // namespace infimum
