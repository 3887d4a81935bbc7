// What `infimum inspect` prints of a model: for people, as CSV, and as JSON under the schema infimum.inspect/1.
#pragma once

#include <cstddef>
#include <string>

#include "infimum/graph/model_graph.h"
#include "reports/text/json_values.h"

namespace infimum {

// What a table shows of the layers.
struct InspectView {
  bool with_free = false;   // also those that cost nothing
  bool by_family = false;   // sums over families of layers in place of layers
  std::size_t largest = 0;  // so many with the most bytes, most first; 0: all, in the model's order
};

// Layers, then totals, caches, what only a run decides, reasons of unknown layers, rewrites, how many regions may be
// fused. `width` 0: as wide as needed.
std::string InspectTable(const ModelGraph& graph, std::size_t width, const InspectView& view = {});

// Regions that may be fused: the rule that found each, its layers, its workload.
std::string RegionsTable(const ModelGraph& graph, std::size_t width);

// One line a layer; layers of bodies follow theirs, with names like "Loop_3/body/Add_0".
std::string InspectCsv(const ModelGraph& graph);

// Layers of If, Loop and Scan bodies stand under "bodies" of their layer, in the same form; the totals count the layers
// of `graph` itself.
std::string InspectJson(const ModelGraph& graph);

void to_json(OrderedJson& json, const RewritePass& pass);

}  // namespace infimum
