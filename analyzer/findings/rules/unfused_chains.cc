#include <algorithm>
#include <optional>
#include <set>

#include "analyzer/findings/graph_optimization.h"
#include "analyzer/findings/rules.h"
#include "analyzer/findings/run_rows.h"
#include "infimum/base/quantity_text.h"
#include "src/core/graph/framework_names.h"

namespace infimum::findings {
namespace {

// A convolution and what follows it: the optimizer of ONNX Runtime has rules for these.
bool IsConvolutionWithFollowers(const RunFacts& facts, const GapPart& part) {
  std::size_t convolutions = 0;
  for (const std::size_t row : part.rows) {
    const std::string family = RowFamily(facts, facts.waterfall.rows[row]);
    if (family != "convolution" && family != "element-wise") return false;
    convolutions += family == "convolution" ? 1 : 0;
  }
  return convolutions > 0;
}

std::string ActionOfOnnxRuntime(const RunFacts& facts, const GapPart& largest) {
  const std::optional<GraphOptimization> reported = ReportedOptimization(facts.run);
  if (reported && *reported != GraphOptimization::kAll)
    return "set graph_optimization_level to ORT_ENABLE_ALL (it was " + std::string(Name(*reported)) + ")";
  const std::string unless =
      reported || OptimizationOf(facts.run) == GraphOptimization::kAll
          ? ""
          : "set graph_optimization_level to ORT_ENABLE_ALL, unless it was set already; if it was, ";
  if (IsConvolutionWithFollowers(facts, largest))
    return unless +
           "check what prevents the fusion, since the optimizer has rules for a convolution with an Add and an "
           "activation after it: a value between them that another layer reads too or that is an output, an "
           "activation written as a formula, or a type for which the provider has no fused kernel";
  return unless +
         "the graph optimizer has no rule for these chains as they are written: let the exporter write the operator "
         "in place of its formula, or add a fusion (transformers.optimizer for BERT-like models)";
}

std::string ActionFor(const RunFacts& facts, const GapPart& largest) {
  const std::string& framework = facts.run.framework;
  if (framework == framework::kOnnxRuntime) return ActionOfOnnxRuntime(facts, largest);
  if (framework == framework::kPyTorch) return "let torch.compile fuse them, or call the fused operator";
  if (framework == framework::kTensorRt)
    return "check what keeps the builder from fusing: outputs marked on inner values, different types on both sides, "
           "layers that are forced to a precision";
  return "run them as one kernel";
}

// What the group takes now above what it takes at its best as one, as far as not fusing is the cause: where a row
// is faster already than the best known one, that much less is left.
Latency GainOf(const RunFacts& facts, const GapPart& part) {
  Latency gain = part.latency;
  for (const std::size_t r : part.rows) {
    const ComparedRow& row = facts.waterfall.rows[r];
    if (!row.measured || !row.best) return Latency(0);
    gain += std::min(*row.measured - *row.best * facts.waterfall.in_context, Latency(0));
  }
  return gain;
}

// A chain's rows as they ran, and what the chosen regions need for the same layers.
FindingCase CaseOf(const RunFacts& facts, const GapPart& part) {
  FindingCase one;
  one.layer = part.name;
  one.engine = std::to_string(part.rows.size()) + " rows apart";
  Latency apart{0};
  std::vector<LayerId> layers;
  for (const std::size_t r : part.rows) {
    const ComparedRow& row = facts.waterfall.rows[r];
    one.measured += row.measured.value_or(Latency(0));
    apart += row.best.value_or(Latency(0)) * facts.waterfall.in_context;
    layers.insert(layers.end(), row.layers.begin(), row.layers.end());
  }
  one.best = apart - part.latency;
  std::ranges::sort(layers);
  if (!layers.empty()) one.main_layer = BusyLayerName(facts, layers);
  // The region that runs most of it.
  const RegionLatency* largest = nullptr;
  for (const RegionLatency& region : facts.bracket.regions) {
    if (!region.is_chosen || !region.region || !std::ranges::binary_search(layers, region.layers.front())) continue;
    if (largest == nullptr || region.latency > largest->latency) largest = &region;
  }
  if (largest != nullptr) {
    one.candidate = largest->candidate.name();
    one.workload = Format(largest->region->workload);
  }
  return one;
}

// Of the chains whose fusion was switched in whole inferences, or of the others.
std::optional<Finding> FindChains(const RunFacts& facts, const LayerClaims& claims, const GapStep& step,
                                  bool is_observed) {
  Finding finding;
  finding.kind = kUnfusedChain;
  std::vector<const GapPart*> chains;
  std::size_t rows = 0;
  std::set<std::size_t> effects;
  for (const GapPart& part : step.parts) {
    const std::set<std::size_t> of_part = EffectsOnChain(facts, part);
    if (of_part.empty() == is_observed) continue;
    const bool is_claimed = std::ranges::any_of(
        part.rows, [&](std::size_t r) { return claims.AnyTaken(facts.waterfall.rows[r].engine_layers); });
    if (is_claimed || (!is_observed && GainOf(facts, part).count() <= 0)) continue;
    effects.insert(of_part.begin(), of_part.end());
    finding.gain += GainOf(facts, part);
    chains.push_back(&part);
    rows += part.rows.size();
  }
  if (is_observed) SetObserved(facts, effects, finding);
  std::ranges::stable_sort(
      chains, [&facts](const GapPart* a, const GapPart* b) { return GainOf(facts, *a) > GainOf(facts, *b); });
  for (std::size_t i = 0; i < std::min<std::size_t>(chains.size(), 5); ++i) finding.layers.push_back(chains[i]->name);
  if (!IsWorthReporting(facts, finding.gain)) return std::nullopt;
  for (const GapPart* part : chains) {
    if (finding.cases.size() >= 5) break;
    finding.cases.push_back(CaseOf(facts, *part));
  }
  finding.evidence = std::to_string(rows) + " rows in " + std::to_string(chains.size()) +
                     (chains.size() == 1 ? " chain would" : " chains would") + " be " + FormatLatency(finding.gain) +
                     " faster as regions that were measured as one" + ObservedText(finding);
  if (!finding.cases.empty()) finding.evidence += "; " + CaseText(finding.cases.front());
  finding.action = ActionFor(facts, *chains.front());
  return finding;
}

}  // namespace

std::vector<Finding> UnfusedChains(const RunFacts& facts, const LayerClaims& claims) {
  const GapStep* step = facts.waterfall.Find(GapCause::kMissedFusion);
  std::vector<Finding> found;
  for (const bool is_observed : {true, false})
    if (step != nullptr)
      if (std::optional<Finding> finding = FindChains(facts, claims, *step, is_observed))
        found.push_back(*std::move(finding));
  return found;
}

}  // namespace infimum::findings
