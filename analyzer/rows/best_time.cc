#include "analyzer/rows/best_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace infimum {
namespace {

bool IsTime(Latency time) { return std::isfinite(time.count()) && time >= Latency(0); }

// `Counts` says which rows take part; nullptr where none does.
template <class Counts>
const TimedRow* FindLeast(std::span<const TimedRow> rows, Counts counts) {
  const TimedRow* best = nullptr;
  for (const TimedRow& row : rows) {
    if (!IsTime(row.time) || !counts(row)) continue;
    // Among equals the name decides, so that the answer does not depend on the rows' order.
    const bool is_better = best == nullptr || row.time < best->time ||
                           (row.time == best->time && row.row->candidate.name() < best->row->candidate.name());
    if (is_better) best = &row;
  }
  return best;
}

const TimedRow* FindBest(std::span<const TimedRow> rows) {
  return FindLeast(rows, [](const TimedRow&) { return true; });
}

// The least median of a row but for one repetition.
Latency LeastWithout(const Measurement& row, std::size_t left_out) {
  Latency least{std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < row.repetitions.size(); ++i)
    if (i != left_out) least = std::min(least, row.repetitions[i].median);
  return least;
}

// See the header; nullopt where no repetition can be left out.
std::optional<Latency> ValidatedRegret(std::span<const TimedRow> rows, const Measurement& choice) {
  if (choice.repetitions.size() < 2) return std::nullopt;
  // A campaign that was cut off may leave the best row with fewer repetitions than the choice has.
  if (FindBest(rows)->row->repetitions.size() < choice.repetitions.size()) return std::nullopt;
  Latency sum{0};
  for (std::size_t left_out = 0; left_out < choice.repetitions.size(); ++left_out) {
    const Measurement* winner = &choice;
    Latency least = LeastWithout(choice, left_out);
    for (const TimedRow& timed : rows) {
      const Measurement& row = *timed.row;
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

std::optional<ChosenTime> FindChoice(std::span<const TimedRow> rows, const BestTime& best, const NoiseModel& noise) {
  const TimedRow* found = FindLeast(rows, [](const TimedRow& row) { return row.is_choice; });
  if (found == nullptr) return std::nullopt;
  const std::optional<Latency> regret = ValidatedRegret(rows, *found->row);
  // The best one's time is of repetitions that did not name it; next to it another may look faster by luck.
  const bool is_best = found->row == best.row;
  ChosenTime choice{found->row, is_best ? best.best : std::max(found->time, best.best), Latency(0), regret.has_value(),
                    is_best ? best.estimate : noise.Of(found->row->repetitions)};
  choice.estimate.center = choice.time.count();
  choice.regret = regret.value_or(choice.time - best.best);
  return choice;
}

}  // namespace

std::optional<BestTime> BestTimeOf(const WorkloadRows& rows, std::int64_t threads, const NoiseModel& noise) {
  const std::span<const TimedRow> own = rows.On(threads);
  const TimedRow* best = FindBest(own);
  if (best == nullptr) return std::nullopt;
  BestTime time;
  time.row = best->row;
  time.weights = best->weights;
  std::vector<const Measurement*> rivals;
  time.estimate = noise.OfBest(own, &rivals);
  time.best = Latency(time.estimate.center);
  time.interval = IntervalOf({time.estimate, 1, 0});
  time.near_best.reserve(rivals.size() + 1);
  time.near_best.push_back(best->row);
  for (const Measurement* rival : rivals)
    if (rival != best->row) time.near_best.push_back(rival);
  time.core_time = time.best * static_cast<double>(threads);
  time.choice = FindChoice(own, time, noise);
  for (const auto& [count, timed] : rows.by_threads)
    if (count != threads && FindBest(timed) != nullptr)
      time.core_time = std::min(time.core_time, Latency(noise.OfBest(timed).center) * static_cast<double>(count));
  return time;
}

}  // namespace infimum
