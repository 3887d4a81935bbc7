#include "analyzer/rows/workload_candidates.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/rows/best_time.h"
#include "analyzer/rows/measured_rows.h"

namespace infimum {
namespace {

// What has a time first, by it; among equals the name decides, as it does for the best.
bool IsBefore(const KnownCandidate& a, const KnownCandidate& b) {
  if (a.latency.has_value() != b.latency.has_value()) return a.latency.has_value();
  if (a.latency && *a.latency != *b.latency) return *a.latency < *b.latency;
  const auto rest = [](const KnownCandidate& known) {
    return std::tuple(known.row.outcome, known.row.candidate.name(), known.row.environment.text);
  };
  return rest(a) < rest(b);
}

std::optional<std::size_t> PlaceOf(const Measurement& row, const std::vector<KnownCandidate>& candidates) {
  const auto found = std::ranges::find(candidates, row, &KnownCandidate::row);
  if (found == candidates.end()) return std::nullopt;
  return static_cast<std::size_t>(found - candidates.begin());
}

WorkloadCandidates CandidatesOfWorkload(const WorkloadKey& key, const WorkloadRows& rows,
                                        const std::vector<const Measurement*>& all, const Selection& selection,
                                        const NoiseModel& noise) {
  WorkloadCandidates known{key, selection.contract.value_or(rows.native), {}, {}, {}, {}, false};
  known.candidates.reserve(all.size());
  const auto add = [&](const TimedRow& timed) {
    known.candidates.push_back({*timed.row, timed.time, IntervalOf({noise.Of(timed.row->repetitions), 1, 0})});
  };
  std::ranges::for_each(rows.On(selection.threads), add);
  std::ranges::for_each(rows.observed, add);
  for (const Measurement* row : all)
    if (row->outcome != Outcome::kMeasured) known.candidates.push_back({*row, std::nullopt, std::nullopt});
  std::ranges::sort(known.candidates, IsBefore);
  const std::optional<BestTime> time = BestTimeOf(rows, selection.threads, noise);
  if (!time) return known;
  known.best = PlaceOf(*time->row, known.candidates);
  if (!time->choice) return known;
  known.choice = PlaceOf(*time->choice->row, known.candidates);
  known.regret = time->choice->regret;
  known.regret_is_validated = time->choice->is_validated;
  return known;
}

}  // namespace

Result<CandidatesOfModel> CandidatesOf(const ModelGraph& graph, MeasurementSource& source, const Selection& selection) {
  const RegionSet regions(graph);
  // Of a device whose rates nobody knows, rows are shown as they were measured.
  Result<DeviceModel> device = DeviceModel::Make(source, selection);
  std::optional<Residency> residency;
  if (device) residency.emplace(graph, *std::move(device));
  INFIMUM_ASSIGN_OR_RETURN(const MeasuredRows rows,
                           MeasuredRows::Fetch(graph, regions, source, selection, residency ? &*residency : nullptr));
  CandidatesOfModel found;
  std::unordered_map<const WorkloadRows*, std::vector<const Measurement*>> by_workload;
  for (const Measurement& row : rows.asked()) {
    const WorkloadRows* workload = rows.Counts(row, selection) ? rows.Find(row.workload) : nullptr;
    if (workload == nullptr) continue;
    by_workload[workload].push_back(&row);
    found.newest = std::max(found.newest, row.measured_at);
  }
  for (const auto& [key, entry] : rows.all())
    if (const auto own = by_workload.find(&entry); own != by_workload.end())
      found.workloads.push_back(CandidatesOfWorkload(key, entry, own->second, selection, rows.noise()));
  return found;
}

}  // namespace infimum
