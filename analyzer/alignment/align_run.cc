#include "analyzer/alignment/align_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analyzer/alignment/align_by_name.h"
#include "analyzer/alignment/match_by_shape.h"
#include "analyzer/alignment/overrides.h"
#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"

namespace infimum {
namespace {

void AddTimes(const RunProfile& run, const ModelGraph& graph, AlignedRow& row) {
  Latency measured{0};
  std::size_t not_free = 0;
  for (LayerId layer : row.layers) not_free += graph.layer(layer).status == LayerStatus::kFree ? 0 : 1;
  row.fused = not_free > 1;
  bool any_sample = false;
  for (std::size_t e : row.engine_layers) {
    if (run.layers[e].samples.empty()) continue;
    any_sample = true;
    measured += Quantile(run.layers[e].samples, 0.5);
  }
  if (any_sample) row.measured = measured;
}

bool IsWhole(double factor) { return factor >= 1 && std::fabs(factor - std::round(factor)) < 1e-6 * factor; }

Alignment AlignWithDeclared(const ModelGraph& graph, const RunProfile& run, const std::vector<DeclaredRow>& declared) {
  Alignment alignment;
  alignment.rows = AlignRows(graph, run, declared);
  std::vector<bool> matched(graph.layers.size(), false);
  for (AlignedRow& row : alignment.rows) {
    AddTimes(run, graph, row);
    for (LayerId layer : row.layers) matched[layer.index()] = true;
    if (!row.measured || row.inside_body) continue;
    alignment.measured += *row.measured;
    if (row.is_unmatched()) alignment.unmatched += *row.measured;
    if (row.is_own()) alignment.own += *row.measured;
  }
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (!matched[i] && graph.layers[i].status != LayerStatus::kFree) alignment.unmatched_layers.push_back(LayerId(i));
  // Of another model's layers the factor is any number: what matched then says more.
  const Latency meant = alignment.measured - alignment.own;
  const bool is_aligned = alignment.unmatched < meant / 2;
  if (const std::optional<double> scale = ScaleOf(graph, run);
      scale && *scale != 1 && (is_aligned || IsWhole(*scale) || IsWhole(1 / *scale))) {
    alignment.scale = scale;
    alignment.remarks.push_back(
        "layers of the run read " + FormatNumber(std::round(*scale * 1e3) / 1e3) +
        " times as much as the model's layers with the same weights; bind the model's batch, or "
        "another dimension, to that of the run with --dim");
  }
  return alignment;
}

}  // namespace

std::string_view Name(AlignmentClue clue) {
  constexpr std::array<std::string_view, 7> kNames = {"none",  "stated",   "value",    "node",
                                                      "order", "neighbor", "unmatched"};
  return kNames[static_cast<std::size_t>(clue)];
}

Alignment AlignRun(const ModelGraph& graph, const RunProfile& run) { return AlignWithDeclared(graph, run, {}); }

Result<Alignment> AlignRun(const ModelGraph& graph, const RunProfile& run,
                           std::span<const AlignmentOverride> overrides) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<DeclaredRow> declared, FindDeclared(graph, run, overrides));
  return AlignWithDeclared(graph, run, declared);
}

std::vector<ObservedNode> ObservedIn(const ModelGraph& graph, const RunProfile& run) {
  const Candidate candidate{"observed", run.framework + "-" + run.framework_version, "any", "any", false};
  std::vector<ObservedNode> nodes;
  for (const AlignedRow& row : AlignRun(graph, run).rows) {
    const bool is_sure =
        row.clue == AlignmentClue::kOverride || row.clue == AlignmentClue::kValue || row.clue == AlignmentClue::kNode;
    if (!row.measured || row.inside_body || !is_sure) continue;
    const bool takes_time =
        std::ranges::any_of(row.layers, [&](LayerId layer) { return graph.layer(layer).status != LayerStatus::kFree; });
    if (!takes_time) continue;
    ObservedNode node{row.layers, *row.measured, {Latency(0), Latency(0)}, candidate};
    for (std::size_t layer : row.engine_layers) {
      if (run.layers[layer].samples.empty()) continue;
      const Interval interval = MedianInterval(run.layers[layer].samples);
      node.interval.low += interval.low;
      node.interval.high += interval.high;
    }
    node.interval = {std::min(node.interval.low, node.latency), std::max(node.interval.high, node.latency)};
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace infimum
