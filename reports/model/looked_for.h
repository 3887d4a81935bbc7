// What the rules behind the findings looked for in a run and did not find, so that silence can be told from not having
// looked.
//
//   a run on one thread under strict-f32, of which one finding is "slower-algorithm":
//     unfused-chain     "layers apart that run faster as one"
//     layout-changes    "reorders, reformats and copies of the engine's own"
//     ...               nothing about Tensor Cores, 8 bits or branches, which cannot be there
#pragma once

#include <string_view>
#include <vector>

#include "reports/model/report_model.h"

namespace infimum {

struct LookedFor {
  std::string_view kind;  // of the finding that it would be
  std::string_view what;
};

// Each is less than a hundredth of the run's time. Empty without a run whose layers are known.
std::vector<LookedFor> LookedForInVain(const ReportModel& report);

}  // namespace infimum
