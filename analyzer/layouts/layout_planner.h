// The cheapest way to run a graph with the layouts that candidates declare: asks for the times of the reorders, lets
// ChooseLayouts decide, and returns the result in the graph's terms.
#pragma once

#include <optional>
#include <span>

#include "analyzer/bounds/latency_resolution.h"
#include "analyzer/types/device_model.h"
#include "analyzer/types/layout_plan.h"

namespace infimum {

// nullopt where every candidate reads and writes row-major, or says nothing: then `fused-sequential` has no layouts to
// pay for. `environments`: those that the layers' times are of; reorders are taken from the same. Asks
// `source` once for each.
Result<std::optional<LayoutPlan>> PlanLayouts(const ModelGraph& graph, MeasurementSource& source,
                                              const Selection& selection, std::span<const EnvironmentKey> environments,
                                              const DeviceModel& device, const std::vector<ResolvedLayer>& layers,
                                              const std::vector<ResolvedRegion>& regions);

}  // namespace infimum
