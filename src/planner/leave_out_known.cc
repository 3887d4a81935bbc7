#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "src/planner/planner.h"

namespace infimum {
namespace {

using RowsByWorkload = std::map<WorkloadKey, std::vector<Measurement>>;

// Each measured candidate's row with the most repetitions: a campaign writes a row again when it has more,
// with the earlier ones in it, so that rows of one candidate do not add up.
std::vector<const Measurement*> FullestRows(std::span<const Measurement> rows) {
  std::map<std::tuple<std::string, std::string, std::string>, const Measurement*> fullest;
  for (const Measurement& row : rows) {
    if (row.outcome != Outcome::kMeasured || row.repetitions.empty()) continue;
    const Measurement*& known =
        fullest[{row.candidate.name(), row.candidate.input_layout, row.candidate.output_layout}];
    if (known == nullptr || known->repetitions.size() < row.repetitions.size()) known = &row;
  }
  std::vector<const Measurement*> result;
  for (const auto& [candidate, row] : fullest) result.push_back(row);
  return result;
}

// Of the candidates that are asked for, or of all; what is in reach the fastest of all decides.
bool EveryCandidateInReachHas(std::int64_t wanted, std::span<const Measurement> rows,
                              const std::optional<std::set<std::string>>& asked) {
  const std::vector<const Measurement*> fullest = FullestRows(rows);
  Latency best = Latency::max();
  for (const Measurement* row : fullest) best = std::min(best, PointValue(row->repetitions));
  return std::ranges::all_of(fullest, [&](const Measurement* row) {
    return (asked && !asked->contains(row->candidate.name())) || PointValue(row->repetitions) > kClearlySlower * best ||
           static_cast<std::int64_t>(row->repetitions.size()) >= wanted;
  });
}

Result<RowsByWorkload> FindRows(const Plan& plan, NumericContract contract, MeasurementSource& source,
                                Selection selection) {
  std::vector<WorkloadKey> keys;
  for (const PlanEntry& entry : plan.entries) {
    if (entry.contract == contract) keys.push_back(KeyOf(entry.workload));
  }
  selection.contract = contract;
  selection.cache = selection.cache.value_or(CacheState::kWarm);  // a campaign measures one state
  INFIMUM_ASSIGN_OR_RETURN(std::vector<Measurement> rows, source.Find(keys, selection));
  RowsByWorkload by_workload;
  for (Measurement& row : rows) {
    if (row.candidate.is_observed()) continue;  // no runner measures that again
    std::vector<Measurement>& same = by_workload[row.workload];
    same.push_back(std::move(row));
  }
  return by_workload;
}

}  // namespace

bool IsSettled(const PlanEntry& entry, std::span<const Measurement> rows, const SettledRule& rule) {
  const auto skipped = [](const Measurement& row) { return row.outcome == Outcome::kSkipped; };
  if (std::ranges::all_of(rows, skipped)) return false;  // also where there are none
  std::optional<std::set<std::string>> asked;
  if (rule.candidates) {
    std::set<std::string> seen;
    for (const Measurement& row : rows) seen.insert(row.candidate.name());
    const std::vector<std::string> names = rule.candidates(entry);
    asked.emplace(names.begin(), names.end());
    if (!std::ranges::includes(seen, *asked)) return false;
  }
  return EveryCandidateInReachHas(rule.repetitions, rows, asked);
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
