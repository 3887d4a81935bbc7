#include <algorithm>
#include <map>

#include "analyzer/findings/run_rules.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"

namespace infimum::findings {
namespace {

std::string ActionFor(const RunFacts& facts) {
  const std::string& framework = facts.run.framework;
  const auto level = facts.run.settings.find("graph_optimization_level");
  if (framework == "onnxruntime") {
    if (level != facts.run.settings.end() && level->second != "all")
      return "set graph_optimization_level to ORT_ENABLE_ALL (it was " + level->second + ")";
    return "the graph optimiser has no rule for these chains as they are written: let the exporter write the operator "
           "in place of its formula, or add a fusion (transformers.optimizer for BERT-like models)";
  }
  if (framework == "pytorch") return "let torch.compile fuse them, or call the fused operator";
  if (framework == "tensorrt")
    return "look for what keeps the builder from fusing: outputs marked on values inside, different types on both "
           "sides, "
           "layers that are forced to a precision";
  return "run them as one kernel";
}

}  // namespace

std::optional<Finding> UnfusedChains(const RunFacts& facts) {
  const GapStep* step = facts.waterfall.Find(GapCause::kMissedFusion);
  if (step == nullptr) return std::nullopt;
  Finding finding;
  finding.kind = "unfused-chain";
  std::size_t chains = 0, rows = 0;
  for (const GapPart& part : step->parts) {
    if (part.latency.count() <= 0) continue;
    finding.gain += part.latency;
    ++chains;
    rows += part.rows.size();
    if (finding.layers.size() < 5) finding.layers.push_back(part.name);
  }
  if (!IsWorthTelling(facts, finding.gain)) return std::nullopt;
  // The regions that would run the largest groups.
  for (const GapPart& part : step->parts) {
    if (finding.cases.size() >= 5 || part.latency.count() <= 0) continue;
    std::vector<LayerId> layers;
    for (const std::size_t row : part.rows)
      layers.insert(layers.end(), facts.waterfall.rows[row].layers.begin(), facts.waterfall.rows[row].layers.end());
    std::ranges::sort(layers);
    for (const RegionLatency& region : facts.bracket.regions) {
      if (!region.is_chosen || !region.region || finding.cases.size() >= 5) continue;
      if (!std::ranges::binary_search(layers, region.layers.front())) continue;
      FindingCase one;
      Latency apart{0};
      std::vector<std::string> names;
      bool is_one_row = false;
      for (const std::size_t r : part.rows) {
        const ComparedRow& row = facts.waterfall.rows[r];
        const auto of_region = std::ranges::count_if(
            row.layers, [&region](LayerId layer) { return std::ranges::binary_search(region.layers, layer); });
        if (of_region == 0) continue;
        is_one_row |= of_region == static_cast<std::ptrdiff_t>(region.layers.size());
        apart += row.measured.value_or(Latency(0));
        names.push_back(RowName(facts, row));
      }
      if (is_one_row || names.size() < 2) continue;
      one.layer = Join(names, " + ");
      one.measured = apart;
      one.best = region.latency * facts.waterfall.in_context;
      one.candidate = region.candidate.name();
      one.workload = Format(region.region->workload);
      finding.cases.push_back(std::move(one));
    }
  }
  finding.evidence = std::to_string(rows) + " rows in " + std::to_string(chains) +
                     (chains == 1 ? " chain would" : " chains would") + " be " + FormatLatency(finding.gain) +
                     " faster as regions that were measured as one";
  if (!finding.cases.empty()) finding.evidence += "; " + CaseText(finding.cases.front());
  finding.action = ActionFor(facts);
  return finding;
}

}  // namespace infimum::findings
