#include "analyzer/alignment/observed.h"

#include <algorithm>

#include "analyzer/alignment/align_run.h"

namespace infimum {

std::vector<ObservedUnit> ObservedIn(const ModelGraph& graph, const RunProfile& run) {
  const Candidate candidate{"observed", run.framework + "-" + run.framework_version, "any", "any", false};
  std::vector<ObservedUnit> units;
  for (const AlignedRow& row : AlignRun(graph, run).rows) {
    const bool is_sure =
        row.clue == AlignmentClue::kStated || row.clue == AlignmentClue::kValue || row.clue == AlignmentClue::kNode;
    if (!row.measured || row.inside_body || !is_sure) continue;
    const bool takes_time =
        std::ranges::any_of(row.layers, [&](LayerId layer) { return graph.layer(layer).status != LayerStatus::kFree; });
    if (!takes_time) continue;
    ObservedUnit unit{row.layers, *row.measured, {Latency(0), Latency(0)}, candidate};
    for (std::size_t layer : row.engine_layers) {
      if (run.layers[layer].samples.empty()) continue;
      const Interval interval = MedianInterval(run.layers[layer].samples);
      unit.interval.low += interval.low;
      unit.interval.high += interval.high;
    }
    unit.interval = {std::min(unit.interval.low, unit.latency), std::max(unit.interval.high, unit.latency)};
    units.push_back(std::move(unit));
  }
  return units;
}

}  // namespace infimum
