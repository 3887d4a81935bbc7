// The model as a graph, for the report's page: who reads whom, and where each layer stands in the picture.
#pragma once

#include "reports/model/model_rows.h"
#include "reports/text/json_values.h"

namespace infimum {

// {"edges": [[from, to], ...], "path": [indices of the edges on the critical path], "nodes": [[x, y], ...],
//  "routes": [[edge, x, y, x, y], ...], "size": [width, height], "node": [width, height], "free_node": [width, height]}
Json GraphJson(const ReportModel& report, const std::vector<ModelRow>& rows);

}  // namespace infimum
