// What `infimum inspect --format json` prints: a model's layers under the schema infimum.inspect/1.
#pragma once

#include <string>

#include "infimum/graph/model_graph.h"
#include "reports/text/json_values.h"

namespace infimum {

// Layers of If, Loop and Scan bodies stand under "bodies" of their layer, in the same form; the totals
// count the layers of `graph` itself.
std::string InspectJson(const ModelGraph& graph);

void to_json(Json& json, const RewritePass& pass);

}  // namespace infimum
