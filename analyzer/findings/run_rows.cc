#include "analyzer/findings/run_rows.h"

#include <algorithm>
#include <cmath>

#include "analyzer/findings/engine_layers.h"
#include "analyzer/findings/rules.h"
#include "analyzer/gap/precision.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {
namespace {

// Effects are independent: the design is orthogonal.
EstimatedDifference SumOf(const RunFacts& facts, const std::set<std::size_t>& effects) {
  EstimatedDifference sum;
  double squares = 0;
  for (const std::size_t effect : effects) {
    sum.value += facts.effects[effect].effect.value;
    squares += std::pow(facts.effects[effect].effect.half_width.count(), 2);
  }
  sum.half_width = Latency(std::sqrt(squares));
  return sum;
}

}  // namespace

std::string RowName(const RunFacts& facts, const ComparedRow& row) {
  if (row.layers.empty()) return facts.run.layers[row.engine_layers.front()].name;
  const std::string& main = facts.graph.layer(MainLayer(facts.graph, row.layers)).name;
  const auto others =
      std::ranges::count_if(row.layers,
                            [&facts](LayerId layer) { return facts.graph.layer(layer).status != LayerStatus::kFree; }) -
      1;
  return others > 0 ? main + " (+" + std::to_string(others) + ")" : main;
}

std::string BusyLayerName(const RunFacts& facts, const std::vector<LayerId>& layers) {
  const Layer& main = facts.graph.layer(MainLayer(facts.graph, layers));
  return main.status == LayerStatus::kFree ? "" : main.name;
}

std::string EngineName(const RunFacts& facts, const ComparedRow& row) {
  const ProfiledLayer* longest = LongestLayer(facts.run, row.engine_layers);
  return longest == nullptr ? "" : KernelOrName(*longest);
}

Latency LostBy(const RunFacts& facts, const std::vector<std::size_t>& rows) {
  Latency lost{0};
  for (const std::size_t r : rows) {
    const ComparedRow& row = facts.waterfall.rows[r];
    lost += row.measured.value_or(Latency(0)) - facts.waterfall.in_context * row.best.value_or(Latency(0));
  }
  return lost;
}

std::set<std::size_t> EffectsOn(const RunFacts& facts, const std::vector<std::size_t>& rows, Latency lost) {
  std::set<LayerId> left;
  for (const std::size_t row : rows)
    for (const LayerId layer : facts.waterfall.rows[row].layers)
      if (facts.graph.layer(layer).status != LayerStatus::kFree) left.insert(layer);
  std::set<std::size_t> effects;
  for (std::size_t i = 0; i < facts.effects.size(); ++i)
    for (const LayerId layer : facts.effects[i].layers)
      if (left.erase(layer) > 0) effects.insert(i);
  const EstimatedDifference sum = SumOf(facts, effects);
  return left.empty() && sum.half_width <= lost && sum.low() <= lost ? effects : std::set<std::size_t>();
}

std::set<std::size_t> EffectsOnChain(const RunFacts& facts, const GapPart& chain) {
  std::set<std::size_t> effects = EffectsOn(facts, chain.rows, LostBy(facts, chain.rows) + chain.latency);
  if (!AnyIsFusion(facts, effects)) effects.clear();
  return effects;
}

bool AnyIsFusion(const RunFacts& facts, const std::set<std::size_t>& effects) {
  return std::ranges::any_of(effects, [&facts](std::size_t effect) { return facts.effects[effect].is_fusion; });
}

void SetObserved(const RunFacts& facts, const std::set<std::size_t>& effects, Finding& finding) {
  const EstimatedDifference sum = SumOf(facts, effects);
  finding.known = Known::kObserved;
  finding.gain = sum.value;
  finding.gain_interval = Interval{sum.low(), sum.high()};
}

std::string ObservedText(const Finding& finding) {
  if (finding.known != Known::kObserved) return "";
  return ", which `infimum explain` switched in whole inferences, against kernels nearest to the run's: the gain is "
         "what that won";
}

FindingCase CaseOf(const RunFacts& facts, std::size_t index) {
  const ComparedRow& row = facts.waterfall.rows[index];
  FindingCase one;
  one.layer = RowName(facts, row);
  one.engine = EngineName(facts, row);
  one.measured = row.measured.value_or(Latency(0));
  if (!row.layers.empty()) one.main_layer = BusyLayerName(facts, row.layers);
  if (!row.best) return one;
  one.best = *row.best * facts.waterfall.in_context;
  std::vector<LayerId> busy;
  for (const LayerId layer : row.layers)
    if (facts.graph.layer(layer).status != LayerStatus::kFree) busy.push_back(layer);
  const LayerId main = MainLayer(facts.graph, row.layers);
  if (const LayerLatency& latency = facts.bracket.layers[main.index()]; latency.candidate) {
    one.candidate = latency.candidate->name();
    one.workload = Format(*facts.graph.layer(main).workload);
  }
  // Where one region is the whole row at its best, it is what to run.
  for (const RegionLatency& region : facts.bracket.regions) {
    if (busy.size() < 2 || !region.region || region.latency != *row.best) continue;
    const auto in_region = [&region](LayerId layer) { return std::ranges::binary_search(region.layers, layer); };
    if (!std::ranges::all_of(busy, in_region)) continue;
    one.candidate = region.candidate.name();
    one.workload = Format(region.region->workload);
    break;
  }
  return one;
}

std::vector<FindingCase> LargestCases(const RunFacts& facts, const std::vector<std::size_t>& rows, std::size_t count) {
  std::vector<std::size_t> sorted = rows;
  std::ranges::stable_sort(sorted, std::ranges::greater(), [&facts](std::size_t r) { return LostBy(facts, {r}); });
  if (sorted.size() > count) sorted.resize(count);
  std::vector<FindingCase> cases;
  for (const std::size_t row : sorted) cases.push_back(CaseOf(facts, row));
  return cases;
}

void SetCases(const RunFacts& facts, const std::vector<std::size_t>& rows, Finding& finding) {
  finding.cases = LargestCases(facts, rows, 5);
  for (const FindingCase& one : finding.cases) finding.layers.push_back(one.layer);
}

void SortByTime(const RunFacts& facts, std::vector<std::size_t>& rows) {
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [&facts](std::size_t row) { return *facts.waterfall.rows[row].measured; });
}

bool NeedsNoWork(const RunFacts& facts, const ComparedRow& row) {
  return !row.layers.empty() && std::ranges::all_of(row.layers, [&facts](LayerId id) {
    const Layer& layer = facts.graph.layer(id);
    return layer.status == LayerStatus::kFree && layer.bodies.empty();
  });
}

std::string CaseText(const FindingCase& one) {
  std::string text = one.layer + " takes " + FormatLatency(one.measured);
  if (!one.engine.empty() && one.engine != one.layer) text += " (" + one.engine + ")";
  if (one.best) text += ", " + FormatLatency(*one.best) + " at best";
  if (!one.candidate.empty()) text += " (" + one.candidate + ")";
  return text;
}

bool IsWorthReporting(const RunFacts& facts, Latency gain) {
  return gain.count() > 0 && gain >= facts.waterfall.measured * kLeastShare;
}

std::string RowFamily(const RunFacts& facts, const ComparedRow& row) {
  if (row.layers.empty()) return "engine only";
  const Layer& main = facts.graph.layer(MainLayer(facts.graph, row.layers));
  if (!main.workload) return main.op;
  const std::string family(FamilyOf(*main.workload));
  return family == "pointwise" ? "element-wise" : family;
}

}  // namespace infimum::findings
