// What `infimum inspect` prints for people, and as CSV.
#pragma once

#include <cstddef>
#include <string>

#include "infimum/graph/model_graph.h"

namespace infimum {

// Layers, then totals, rewrites, how many regions may be fused. `width` 0: as wide as needed.
std::string InspectTable(const ModelGraph& graph, std::size_t width);

// Regions that may be fused: the rule that found each, its layers, its workload.
std::string RegionsTable(const ModelGraph& graph, std::size_t width);

// One line a layer; layers of bodies follow theirs, with names like "Loop_3/body/Add_0".
std::string InspectCsv(const ModelGraph& graph);

}  // namespace infimum
