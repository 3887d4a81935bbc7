#include "microbench/harness/supervisor/active_candidate.h"

#include <algorithm>

namespace infimum {
namespace {

void AddFlag(std::vector<std::string>& flags, const std::string& flag) {
  const auto place = std::ranges::lower_bound(flags, flag);
  if (place == flags.end() || *place != flag) flags.insert(place, flag);
}

}  // namespace

std::optional<Latency> ActiveCandidate::point() const {
  if (row.outcome != Outcome::kMeasured || row.repetitions.empty()) return std::nullopt;
  return BestSeen(row.repetitions);
}

void ActiveCandidate::Take(const Trial& trial) {
  const bool measured_before = has_row && !row.repetitions.empty();
  has_row = true;
  if (trial.outcome == Outcome::kMeasured && trial.repetition) {
    row.outcome = Outcome::kMeasured;
    row.reason.clear();
    row.repetitions.push_back(*trial.repetition);
    for (const std::string& flag : trial.flags) AddFlag(row.flags, flag);
    if (trial.numeric_error) row.numeric_error = trial.numeric_error;
    row.constants = trial.constants;
    return;
  }
  finished = true;
  if (measured_before) {
    AddFlag(row.flags, "unstable");
    return;
  }
  row.outcome = trial.outcome;
  row.reason = trial.reason;
  row.numeric_error = trial.numeric_error;
}

bool CampaignWorkload::measured() const {
  return std::ranges::any_of(best, [](const std::optional<Latency>& time) { return time.has_value(); });
}

void CampaignWorkload::Note(const ActiveCandidate& active) {
  visited = true;
  const std::optional<Latency> point = active.point();
  std::optional<Latency>& least = best[static_cast<std::size_t>(active.row.cache)];
  if (point && (!least || *point < *least)) least = point;
}

bool CampaignWorkload::MayDecide(Latency point, CacheState cache, bool library_choice, double ratio) const {
  return library_choice || point <= *Best(cache) * ratio;
}

}  // namespace infimum
