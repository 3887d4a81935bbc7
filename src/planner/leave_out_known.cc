#include <algorithm>
#include <map>
#include <set>

#include "infimum/planner/planner.h"

namespace infimum {
namespace {

using RowsByWorkload = std::map<WorkloadKey, std::vector<Measurement>>;

// The repetitions of each measured candidate, over all its rows.
std::map<std::string, std::vector<Repetition>> RepetitionsByCandidate(std::span<const Measurement> rows) {
  std::map<std::string, std::vector<Repetition>> repetitions;
  for (const Measurement& row : rows) {
    if (row.outcome != Outcome::kMeasured || row.repetitions.empty()) continue;
    std::vector<Repetition>& all = repetitions[row.candidate.name()];
    all.insert(all.end(), row.repetitions.begin(), row.repetitions.end());
  }
  return repetitions;
}

bool EveryContenderHas(std::int64_t wanted, const std::map<std::string, std::vector<Repetition>>& candidates) {
  if (candidates.empty()) return true;
  Latency best = Latency::max();
  for (const auto& [name, repetitions] : candidates) best = std::min(best, PointValue(repetitions));
  return std::all_of(candidates.begin(), candidates.end(), [&](const auto& candidate) {
    if (static_cast<std::int64_t>(candidate.second.size()) >= wanted) return true;
    return Fold(candidate.second, SampleStatistic::kMinimum) > kClearlySlower * best;
  });
}

Result<RowsByWorkload> FindRows(const Plan& plan, NumericContract contract, MeasurementSource& source,
                                Selection selection) {
  std::vector<WorkloadKey> keys;
  for (const PlanEntry& entry : plan.entries) {
    if (entry.contract == contract) keys.push_back(KeyOf(entry.workload));
  }
  selection.contract = contract;
  INFIMUM_ASSIGN_OR_RETURN(std::vector<Measurement> rows, source.Find(keys, selection));
  RowsByWorkload by_workload;
  for (Measurement& row : rows) {
    std::vector<Measurement>& same = by_workload[row.workload];
    same.push_back(std::move(row));
  }
  return by_workload;
}

}  // namespace

bool IsSettled(const PlanEntry& entry, std::span<const Measurement> rows, const SettledRule& rule) {
  const auto skipped = [](const Measurement& row) { return row.outcome == Outcome::kSkipped; };
  if (std::all_of(rows.begin(), rows.end(), skipped)) return false;  // also where there are none
  if (rule.candidates) {
    std::set<std::string> seen;
    for (const Measurement& row : rows) seen.insert(row.candidate.name());
    for (const std::string& name : rule.candidates(entry)) {
      if (!seen.contains(name)) return false;
    }
  }
  return EveryContenderHas(rule.repetitions, RepetitionsByCandidate(rows));
}

Result<Plan> LeaveOutKnown(Plan plan, MeasurementSource& source, const Selection& selection, const SettledRule& rule) {
  std::set<NumericContract> contracts;
  for (const PlanEntry& entry : plan.entries) contracts.insert(entry.contract);
  std::map<NumericContract, RowsByWorkload> rows;
  for (NumericContract contract : contracts) {
    INFIMUM_ASSIGN_OR_RETURN(rows[contract], FindRows(plan, contract, source, selection));
  }
  const std::size_t before = plan.entries.size();
  std::erase_if(plan.entries, [&](const PlanEntry& entry) {
    return IsSettled(entry, rows[entry.contract][KeyOf(entry.workload)], rule);
  });
  if (plan.entries.size() < before) {
    plan.comments.push_back("left out " + std::to_string(before - plan.entries.size()) + " of " +
                            std::to_string(before) + " workloads, measured before");
  }
  return plan;
}

}  // namespace infimum
