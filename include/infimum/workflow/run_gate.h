// Gates for CI: whether a run is near enough to its bound, and whether it is slower than a run of before.
//
//   GapGate(account, 1.3)                 holds where the run takes at most 1.3 times its bound
//   BaselineGate(run, baseline, 0.05)     does not hold where the run is slower by more than 5 %, beyond the spread of
//   both
#pragma once

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/reports/run_account.h"

namespace infimum {

// An error where the run has no bound, or one that lacks more than a twentieth of the model.
Result<Gate> GapGate(const RunAccount& account, const Coverage& coverage, double most);

// `threshold`: a relative difference that matters. The verdict is that of infimum/measurement/verdict.h over end-to-end
// samples; of runs that have none over the inferences under the profiler, if both have those. An error where a run has
// neither. An undecided gate holds, and says that more repetitions would decide it.
Result<Gate> BaselineGate(const RunProfile& run, const RunProfile& baseline, double threshold);

}  // namespace infimum
