#include <algorithm>

#include "analyzer/findings/engine_layers.h"
#include "analyzer/findings/graph_optimization.h"
#include "analyzer/findings/rules.h"
#include "analyzer/findings/run_rows.h"
#include "infimum/base/quantity_text.h"
#include "src/core/graph/framework_names.h"

namespace infimum::findings {
namespace {

std::string ActionFor(const RunProfile& run) {
  if (run.framework == framework::kOnnxRuntime) {
    const std::optional<GraphOptimization> reported = ReportedOptimization(run);
    if (reported == GraphOptimization::kDisabled)
      return "set graph_optimization_level to ORT_ENABLE_ALL (it was disabled): from basic on constants are computed "
             "once, and Identity, Dropout and what a convolution can absorb are taken out";
    const std::string level = OptimizationOf(run) ? "what graph_optimization_level left is "
                                                  : "graph_optimization_level basic or higher takes "
                                                    "out what it has a rule for; the rest is ";
    return level +
           "for the model's author: constants computed by operators in the graph (onnxsim folds them), and "
           "Reshape, Transpose or Cast that change nothing";
  }
  if (run.framework == framework::kPyTorch)
    return "torch.compile folds constants and makes views free; eager mode pays a call for each";
  return "fold constants before the run, and write views so that the engine sees that nothing is moved";
}

}  // namespace

std::vector<Finding> NeedlessLayers(const RunFacts& facts, const LayerClaims& claims) {
  std::vector<std::size_t> rows;
  TimeBy operators;
  Finding finding;
  finding.kind = kNeedlessLayers;
  for (std::size_t r = 0; r < facts.waterfall.rows.size(); ++r) {
    const ComparedRow& row = facts.waterfall.rows[r];
    if (!row.measured || row.measured->count() <= 0 || !NeedsNoWork(facts, row) || claims.AnyTaken(row.engine_layers))
      continue;
    finding.gain += *row.measured;
    operators.Add(facts.graph.layer(MainLayer(facts.graph, row.layers)).op, *row.measured);
    rows.push_back(r);
  }
  if (!IsWorthReporting(facts, finding.gain)) return {};
  SortByTime(facts, rows);
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 5); ++i)
    finding.layers.push_back(RowName(facts, facts.waterfall.rows[rows[i]]));
  const ComparedRow& largest = facts.waterfall.rows[rows.front()];
  const Layer& layer = facts.graph.layer(MainLayer(facts.graph, largest.layers));
  finding.evidence = std::to_string(rows.size()) + (rows.size() == 1 ? " layer that needs" : " layers that need") +
                     " no work in each inference (constants, views, what another layer can absorb) take" +
                     (rows.size() == 1 ? "s " : " ") + FormatLatency(finding.gain) + ": " + operators.Frequencies(4) +
                     "; " + finding.layers.front() + " takes " + FormatLatency(*largest.measured);
  if (!layer.reason.empty()) finding.evidence += " (" + layer.reason + ")";
  finding.action = ActionFor(facts.run);
  return {std::move(finding)};
}

}  // namespace infimum::findings
