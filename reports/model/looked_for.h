// The causes that the findings' rules looked for in a report's run and did not find (analyzer/findings/rules.h).
//
//   a run on one thread under strict-f32, one finding of which is "slower-algorithm":
//     unfused-chain     "layers apart that run faster as one"
//     layout-changes    "reorders, reformats and copies of the engine's own"
//     ...               nothing about Tensor Cores, 8 bits or branches, which such a run cannot have
#pragma once

#include <vector>

#include "reports/model/report_model.h"

namespace infimum {

// Empty without a run whose layers are known.
std::vector<AbsentCause> AbsentCausesOf(const ReportModel& report);

}  // namespace infimum
