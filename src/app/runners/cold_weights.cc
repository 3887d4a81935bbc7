#include "src/app/runners/cold_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "analyzer/floor/residency.h"
#include "src/planner/planner.h"

namespace infimum {
namespace {

class Collector {
 public:
  void Add(const Workload& workload, NumericContract contract, const std::vector<std::string>& candidates) {
    if (candidates.empty() || !HasConstants(workload)) return;
    const auto [found, is_new] = entries_.try_emplace(KeyOf(workload));
    if (is_new) {
      found->second.entry.workload = workload;
      found->second.entry.contract = contract;
    }
    names_[found->first].insert(candidates.begin(), candidates.end());
  }

  bool Has(const WorkloadKey& key, const std::string& candidate) const {
    const auto names = names_.find(key);
    return names != names_.end() && names->second.contains(candidate);
  }

  std::vector<ColdWeightsEntry> Take() const {
    std::vector<ColdWeightsEntry> entries;
    for (const auto& [key, entry] : entries_) {
      const std::set<std::string>& names = names_.at(key);
      entries.push_back({entry.entry, {names.begin(), names.end()}});
    }
    std::ranges::stable_sort(entries, std::ranges::greater(),
                             [](const ColdWeightsEntry& one) { return ConstantBytesOf(one.entry.workload); });
    return entries;
  }

 private:
  std::map<WorkloadKey, ColdWeightsEntry> entries_;
  std::map<WorkloadKey, std::set<std::string>> names_;
};

// A runner's choice of candidates is one for a whole plan: a plan for each candidate measures no other. The candidate
// of the most weights comes first.
std::vector<std::pair<std::string, Plan>> ByCandidate(const std::vector<ColdWeightsEntry>& entries, const Plan& plan) {
  std::vector<std::pair<std::string, Plan>> parts;
  for (const ColdWeightsEntry& one : entries) {
    const WorkloadKey key = KeyOf(one.entry.workload);
    const auto asked = std::ranges::find(plan.entries, key, [](const PlanEntry& entry) { return KeyOf(entry.workload); });
    if (asked == plan.entries.end()) continue;
    for (const std::string& name : one.candidates) {
      auto part = std::ranges::find(parts, name, &std::pair<std::string, Plan>::first);
      if (part == parts.end()) part = parts.insert(part, {name, {}});
      part->second.entries.push_back(*asked);
    }
  }
  return parts;
}

Plan PlanOf(const std::vector<ColdWeightsEntry>& entries) {
  std::vector<PlanEntry> plain;
  for (const ColdWeightsEntry& one : entries) plain.push_back(one.entry);
  return EvenPlan(std::move(plain));
}

}  // namespace

ColdWeightsPlan PlanColdWeights(const ModelGraph& graph, const Bracket& bracket) {
  Collector chosen, rivals;
  const auto contract_of = [&](const Workload& workload) {
    return bracket.selection.contract.value_or(NativeContract(workload));
  };
  for (const LayerLatency& layer : bracket.layers) {
    const std::optional<Workload>& workload = graph.layer(layer.layer).workload;
    if (workload && layer.candidate) chosen.Add(*workload, contract_of(*workload), {layer.candidate->name()});
  }
  for (const RegionLatency& region : bracket.regions) {
    if (!region.region || !region.is_chosen) continue;
    const Workload& workload = region.region->workload;
    chosen.Add(workload, contract_of(workload), {region.candidate.name()});
  }
  // What R runs.
  if (bracket.layouts) {
    for (const PlannedNode& unit : bracket.layouts->nodes) {
      if (unit.candidate.algorithm.empty()) continue;
      const std::optional<Workload> workload =
          unit.region ? bracket.regions[*unit.region].region->workload : graph.layer(unit.layers[0]).workload;
      if (workload) chosen.Add(*workload, contract_of(*workload), {unit.candidate.name()});
    }
  }
  for (const Decider& decider : bracket.deciders) {
    // The store's own text; one that nothing can read would not have been a decider.
    const Result<Workload> workload = ParseWorkload(decider.workload.text);
    if (!workload.ok()) continue;
    std::vector<std::string> others = decider.candidates;
    std::erase_if(others, [&](const std::string& name) { return chosen.Has(decider.workload, name); });
    rivals.Add(*workload, decider.contract, others);
  }
  return {chosen.Take(), rivals.Take()};
}

Status MeasureColdWeights(const Installation& installation, const RunnerDescription& here, const ModelGraph& graph,
                          const Bracket& bracket, CampaignOptions campaign, Store& store, Talk& talk) {
  campaign.cache = CacheState::kColdWeights;
  Selection selection = bracket.selection;
  selection.cache = campaign.cache;
  selection.environment = here.environment.Key();
  const auto end = std::chrono::steady_clock::now() + campaign.budget;
  const ColdWeightsPlan wanted = PlanColdWeights(graph, bracket);
  for (const std::vector<ColdWeightsEntry>* entries : {&wanted.chosen, &wanted.rivals}) {
    std::map<WorkloadKey, std::vector<std::string>> names;
    for (const ColdWeightsEntry& one : *entries) names[KeyOf(one.entry.workload)] = one.candidates;
    SettledRule rule;
    rule.repetitions = campaign.rounds;
    rule.candidates = [&](const PlanEntry& entry) { return names[KeyOf(entry.workload)]; };
    INFIMUM_ASSIGN_OR_RETURN(const Plan plan, LeaveOutKnown(PlanOf(*entries), store, selection, rule));
    if (plan.entries.empty()) continue;
    talk.Say(fmt::format("measuring {} of {} configuration{} with weights from memory",
                         entries == &wanted.chosen ? "the best candidates" : "candidates as good as the best",
                         plan.entries.size(), plan.entries.size() == 1 ? "" : "s"));
    for (const auto& [candidate, part] : ByCandidate(*entries, plan)) {
      campaign.budget = std::chrono::ceil<std::chrono::seconds>(end - std::chrono::steady_clock::now());
      bool stopped = campaign.budget.count() <= 0;
      if (!stopped) {
        campaign.candidates = {candidate};
        INFIMUM_ASSIGN_OR_RETURN(const CampaignEnd done, RunCampaign(installation, part, campaign, store, talk));
        INFIMUM_RETURN_IF_ERROR(done.failure);
        if (done.interrupted) return {};
        stopped = done.budget_spent;
      }
      if (stopped) {
        talk.Say("the budget of weights from memory is spent; run the same command again to continue");
        return {};
      }
    }
  }
  return {};
}

}  // namespace infimum
