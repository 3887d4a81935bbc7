// The cheapest way to run a graph with the layouts that candidates declare: asks for the times of the reorders, lets
// ChooseLayouts decide, and returns the result in the graph's terms.
//
//   LayoutPlanner planner(graph, selection, layers, regions);
//   planner.free_movements()               matmul -> transpose -> conv, which takes channels last: the transpose
//   planner.Plan(source, selection, environments, device)
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/bounds/latency_resolution.h"
#include "analyzer/types/device_model.h"
#include "analyzer/types/layout_plan.h"

namespace infimum {

class LayoutGraph;

class LayoutPlanner {
 public:
  // `layers` and `regions` as LatencyResolver gives them; what they say is taken now, the rows behind them live longer.
  LayoutPlanner(const ModelGraph& graph, const Selection& selection, const std::vector<ResolvedLayer>& layers,
                const std::vector<ResolvedRegion>& regions);
  ~LayoutPlanner();

  // Transposes, concatenations and splits that need not move anything: layouts that candidates around the operands have
  // are in place, transposed or one behind the other, those of the candidates around the results. Where layouts are
  // free they take no time. None on a GPU, whose replay would copy.
  const std::vector<LayerId>& free_movements() const;

  // nullopt where every candidate reads and writes row-major, or says nothing, and nothing is in place: then
  // `fused-sequential` has no layouts to pay for. `environments`: those that the layers' times are of; reorders are
  // taken from the same. Asks `source` once for each.
  Result<std::optional<LayoutPlan>> Plan(MeasurementSource& source, const Selection& selection,
                                         std::span<const EnvironmentKey> environments, const DeviceModel& device) const;

 private:
  std::unique_ptr<LayoutGraph> question_;
};

}  // namespace infimum
