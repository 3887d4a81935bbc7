// The bounds as they are shown: each variant with its interval and the assumptions that it stands on.
#pragma once

#include <string>
#include <vector>

#include "analyzer/bounds/latency_resolution.h"

namespace infimum {

// Appends every variant to bracket.bounds; bracket.regions and bracket.regret are final. `common`: assumptions of all.
void AddVariants(const ModelGraph& graph, const DeviceModel& device, const std::vector<ResolvedLayer>& layers,
                 const BoundsProblem& problem, const CombinedBounds& combined, const std::vector<std::string>& common,
                 Bracket& bracket);

}  // namespace infimum
