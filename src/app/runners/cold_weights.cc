#include "src/app/runners/cold_weights.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <set>

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

  std::vector<ColdWeightsEntry> Take() {
    std::vector<ColdWeightsEntry> entries;
    for (auto& [key, entry] : entries_) {
      entry.candidates.assign(names_[key].begin(), names_[key].end());
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  std::map<WorkloadKey, ColdWeightsEntry> entries_;
  std::map<WorkloadKey, std::set<std::string>> names_;
};

using Names = std::map<WorkloadKey, std::vector<std::string>>;

// A runner's choice of candidates is one for a whole plan: a plan for each candidate measures no other.
std::map<std::string, Plan> ByCandidate(const Plan& plan, const Names& names) {
  std::map<std::string, Plan> parts;
  for (const PlanEntry& entry : plan.entries)
    for (const std::string& name : names.at(KeyOf(entry.workload))) parts[name].entries.push_back(entry);
  return parts;
}

}  // namespace

std::vector<ColdWeightsEntry> ColdWeightsEntries(const ModelGraph& graph, const Bracket& bracket) {
  Collector collector;
  const auto contract_of = [&](const Workload& workload) {
    return bracket.selection.contract.value_or(NativeContract(workload));
  };
  for (const LayerLatency& layer : bracket.layers) {
    const std::optional<Workload>& workload = graph.layer(layer.layer).workload;
    if (workload && layer.candidate) collector.Add(*workload, contract_of(*workload), {layer.candidate->name()});
  }
  for (const RegionLatency& region : bracket.regions) {
    if (!region.region || !region.is_chosen) continue;
    const Workload& workload = region.region->workload;
    collector.Add(workload, contract_of(workload), {region.candidate.name()});
  }
  // What R runs.
  if (bracket.layouts) {
    for (const PlannedNode& unit : bracket.layouts->nodes) {
      if (unit.candidate.algorithm.empty()) continue;
      const std::optional<Workload> workload =
          unit.region ? bracket.regions[*unit.region].region->workload : graph.layer(unit.layers[0]).workload;
      if (workload) collector.Add(*workload, contract_of(*workload), {unit.candidate.name()});
    }
  }
  for (const Decider& decider : bracket.deciders) {
    // The store's own text; one that nothing can read would not have been a decider.
    const Result<Workload> workload = ParseWorkload(decider.workload.text);
    if (workload.ok()) collector.Add(*workload, decider.contract, decider.candidates);
  }
  return collector.Take();
}

Status MeasureColdWeights(const Installation& installation, const RunnerDescription& here, const ModelGraph& graph,
                          const Bracket& bracket, CampaignOptions campaign, Store& store, Talk& talk) {
  campaign.cache = CacheState::kColdWeights;
  std::vector<PlanEntry> entries;
  Names names;
  for (ColdWeightsEntry& one : ColdWeightsEntries(graph, bracket)) {
    names[KeyOf(one.entry.workload)] = std::move(one.candidates);
    entries.push_back(std::move(one.entry));
  }
  Plan plan = EvenPlan(std::move(entries));
  Selection selection = bracket.selection;
  selection.cache = campaign.cache;
  selection.environment = here.environment.Key();
  SettledRule rule;
  rule.repetitions = campaign.rounds;
  rule.candidates = [&](const PlanEntry& entry) { return names[KeyOf(entry.workload)]; };
  INFIMUM_ASSIGN_OR_RETURN(plan, LeaveOutKnown(std::move(plan), store, selection, rule));
  if (plan.entries.empty()) return {};
  talk.Say(fmt::format("measuring the best candidates of {} configurations with weights from memory, within {} s",
                       plan.entries.size(), campaign.budget.count()));
  const auto end = std::chrono::steady_clock::now() + campaign.budget;
  for (const auto& [candidate, part] : ByCandidate(plan, names)) {
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
      talk.Say("the budget is spent; run the same command again to continue");
      return {};
    }
  }
  return {};
}

}  // namespace infimum
