// What `infimum inspect` prints of a model: for people, as CSV, and as JSON under the schema infimum.inspect/1.
#pragma once

#include <cstddef>
#include <string>

#include "infimum/graph/model_graph.h"
#include "reports/text/json_values.h"

namespace infimum {

// Layers, then totals, rewrites, how many regions may be fused. `width` 0: as wide as needed.
std::string InspectTable(const ModelGraph& graph, std::size_t width);

// Regions that may be fused: the rule that found each, its layers, its workload.
std::string RegionsTable(const ModelGraph& graph, std::size_t width);

// One line a layer; layers of bodies follow theirs, with names like "Loop_3/body/Add_0".
std::string InspectCsv(const ModelGraph& graph);

// Layers of If, Loop and Scan bodies stand under "bodies" of their layer, in the same form; the totals count the layers
// of `graph` itself.
std::string InspectJson(const ModelGraph& graph);

void to_json(Json& json, const RewritePass& pass);

}  // namespace infimum
