// The sides of a comparison of runs: engines, precisions, before and after.
#pragma once

#include "src/app/commands/compare_sides/side_report.h"

namespace infimum {

// Fills sides, comparison, nodes and remarks. The runs may be of other files than the model, with the same layers
// (quantized, say): they are aligned with it as `infimum compare` does.
Status FillFromRuns(const SideReportOptions& options, ComparisonReport& report);

}  // namespace infimum
