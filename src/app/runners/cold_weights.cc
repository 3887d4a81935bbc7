#include "src/app/runners/cold_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "analyzer/floor/residency.h"
#include "src/planner/planner.h"

namespace infimum {
namespace {

class Collector {
 public:
  void Add(const Workload& workload, NumericContract contract, const std::vector<std::string>& candidates,
           std::optional<Latency> time = std::nullopt) {
    if (candidates.empty() || !HasConstants(workload)) return;
    const auto [found, is_new] = entries_.try_emplace(KeyOf(workload));
    if (is_new) {
      found->second.entry.workload = workload;
      found->second.entry.contract = contract;
    }
    if (time) found->second.time = *time;
    found->second.uses += time.has_value();
    names_[found->first].insert(candidates.begin(), candidates.end());
  }

  std::vector<ColdWeightsEntry> Take() const {
    std::vector<ColdWeightsEntry> entries;
    for (const auto& [key, entry] : entries_) {
      const std::set<std::string>& names = names_.at(key);
      entries.push_back({entry.entry, {names.begin(), names.end()}, entry.time, entry.uses});
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
    const auto asked =
        std::ranges::find(plan.entries, key, [](const PlanEntry& entry) { return KeyOf(entry.workload); });
    if (asked == plan.entries.end()) continue;
    for (const std::string& name : one.candidates) {
      auto part = std::ranges::find(parts, name, &std::pair<std::string, Plan>::first);
      if (part == parts.end()) part = parts.insert(part, {name, {}});
      part->second.entries.push_back(*asked);
    }
  }
  return parts;
}

}  // namespace

ColdWeightsPlan PlanColdWeights(const ModelGraph& graph, const Bracket& bracket) {
  Collector chosen, layers;
  const auto contract_of = [&](const Workload& workload) {
    return bracket.selection.contract.value_or(NativeContract(workload));
  };
  const auto add_layer = [&](LayerId layer, Collector& to) {
    const std::optional<Workload>& workload = graph.layer(layer).workload;
    const std::optional<Candidate>& candidate = bracket.layers[layer.index()].candidate;
    if (workload && candidate)
      to.Add(*workload, contract_of(*workload), {candidate->name()}, bracket.layers[layer.index()].latency);
  };
  std::vector<bool> taken(bracket.layers.size(), false);
  for (const RegionLatency& region : bracket.regions) {
    if (!region.region || !region.is_chosen) continue;
    const Workload& workload = region.region->workload;
    chosen.Add(workload, contract_of(workload), {region.candidate.name()}, region.latency);
    for (const LayerId layer : region.layers) taken[layer.index()] = true;
  }
  for (const LayerLatency& layer : bracket.layers) add_layer(layer.layer, taken[layer.layer.index()] ? layers : chosen);
  // What R runs.
  if (bracket.layouts) {
    for (const PlannedNode& unit : bracket.layouts->nodes) {
      if (unit.candidate.algorithm.empty()) continue;
      const std::optional<Workload> workload =
          unit.region ? bracket.regions[*unit.region].region->workload : graph.layer(unit.layers[0]).workload;
      if (workload) chosen.Add(*workload, contract_of(*workload), {unit.candidate.name()});
    }
  }
  return {chosen.Take(), layers.Take()};
}

Result<std::vector<ColdWeightsEntry>> ColdRivals(const std::vector<ColdWeightsEntry>& chosen, MeasurementSource& source,
                                                 const Selection& selection) {
  constexpr double kClearly = 0.97;
  struct Rival {
    Latency gain{0};
    ColdWeightsEntry entry;
  };
  std::vector<Rival> rivals;
  for (const ColdWeightsEntry& one : chosen) {
    const std::vector<WorkloadKey> key{KeyOf(one.entry.workload)};
    Selection state = selection;
    state.contract = one.entry.contract;
    state.cache = CacheState::kColdWeights;
    std::set<std::string> known;
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<Measurement> cold, source.Find(key, state));
    for (const Measurement& row : cold) known.insert(row.candidate.name());
    state.cache = CacheState::kWarm;
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<Measurement> warm, source.Find(key, state));
    const Measurement* best = nullptr;
    for (const Measurement& row : warm) {
      if (row.outcome != Outcome::kMeasured || row.candidate.is_observed() || known.contains(row.candidate.name()))
        continue;
      if (best == nullptr || PointValue(row.repetitions) < PointValue(best->repetitions)) best = &row;
    }
    if (best == nullptr || PointValue(best->repetitions) > kClearly * one.time) continue;
    const Latency gain = static_cast<double>(one.uses) * (one.time - PointValue(best->repetitions));
    rivals.push_back({gain, {one.entry, {best->candidate.name()}, one.time, one.uses}});
  }
  std::ranges::stable_sort(rivals, std::ranges::greater(), &Rival::gain);
  std::vector<ColdWeightsEntry> entries;
  for (Rival& rival : rivals) entries.push_back(std::move(rival.entry));
  return entries;
}

namespace {

// What the store lacks of some entries. True where all of it was measured.
class ColdCampaign {
 public:
  ColdCampaign(const Installation& installation, const RunnerDescription& here, CampaignOptions campaign, Store& store,
               ProgressLog& log)
      : installation_(installation),
        here_(here),
        campaign_(std::move(campaign)),
        store_(store),
        log_(log),
        end_(std::chrono::steady_clock::now() + campaign_.budget) {
    campaign_.cache = CacheState::kColdWeights;
  }

  Result<bool> Measure(const std::vector<ColdWeightsEntry>& entries, Selection selection, std::string_view what) {
    selection.cache = campaign_.cache;
    selection.environment = here_.environment.Key();
    std::map<WorkloadKey, std::vector<std::string>> names;
    std::vector<PlanEntry> plain;
    for (const ColdWeightsEntry& one : entries) {
      names[KeyOf(one.entry.workload)] = one.candidates;
      plain.push_back(one.entry);
    }
    SettledRule rule;
    rule.repetitions = campaign_.rounds;
    rule.candidates = [&](const PlanEntry& entry) { return names[KeyOf(entry.workload)]; };
    INFIMUM_ASSIGN_OR_RETURN(const Plan plan, LeaveOutKnown(EvenPlan(std::move(plain)), store_, selection, rule));
    if (plan.entries.empty()) return true;
    log_.Say(fmt::format("measuring {} of {} configuration{} with weights from memory", what, plan.entries.size(),
                         plan.entries.size() == 1 ? "" : "s"));
    for (const auto& [candidate, part] : ByCandidate(entries, plan)) {
      campaign_.budget = std::chrono::ceil<std::chrono::seconds>(end_ - std::chrono::steady_clock::now());
      bool stopped = campaign_.budget.count() <= 0;
      if (!stopped) {
        campaign_.candidates = {candidate};
        INFIMUM_ASSIGN_OR_RETURN(const CampaignEnd done, RunCampaign(installation_, part, campaign_, store_, log_));
        INFIMUM_RETURN_IF_ERROR(done.failure);
        if (done.interrupted) return false;
        stopped = done.budget_spent;
      }
      if (stopped) {
        log_.Say("the budget of weights from memory is spent; run the same command again to continue");
        return false;
      }
    }
    measured_ = true;
    return true;
  }

  // Whether anything was since the last time that this was asked.
  bool HasMeasured() { return std::exchange(measured_, false); }

 private:
  const Installation& installation_;
  const RunnerDescription& here_;
  CampaignOptions campaign_;
  Store& store_;
  ProgressLog& log_;
  std::chrono::steady_clock::time_point end_;
  bool measured_ = false;
};

}  // namespace

Status MeasureColdWeights(const Installation& installation, const RunnerDescription& here, const ModelGraph& graph,
                          const Selection& selection, const CampaignOptions& campaign, Store& store, ProgressLog& log) {
  constexpr int kMostTurns = 20;
  ColdCampaign cold(installation, here, campaign, store, log);
  // A candidate that was not measured is taken to lose least: where it could be the best it is chosen, and measured in
  // the next turn. The layers' rows may change what regions with the same weights are taken to lose.
  for (int turn = 0; turn < kMostTurns; ++turn) {
    INFIMUM_ASSIGN_OR_RETURN(const Bracket bracket, ComputeBracket(graph, store, selection));
    const ColdWeightsPlan wanted = PlanColdWeights(graph, bracket);
    INFIMUM_ASSIGN_OR_RETURN(bool goes_on, cold.Measure(wanted.chosen, selection, "the best candidates"));
    bool has_measured = cold.HasMeasured();
    if (goes_on && !has_measured) {
      INFIMUM_ASSIGN_OR_RETURN(const std::vector<ColdWeightsEntry> rivals, ColdRivals(wanted.chosen, store, selection));
      INFIMUM_ASSIGN_OR_RETURN(goes_on, cold.Measure(rivals, selection, "rivals"));
      has_measured = cold.HasMeasured();
    }
    if (goes_on && !has_measured) {
      INFIMUM_ASSIGN_OR_RETURN(goes_on, cold.Measure(wanted.layers, selection, "layers that run fused"));
      goes_on = goes_on && cold.HasMeasured();
    }
    if (!goes_on) return {};
  }
  return {};
}

}  // namespace infimum
