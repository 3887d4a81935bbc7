// Gates for CI: whether a run is near enough to its bound, and whether it is slower than a run of before.
//
//   GapGate(run, 1.3)                  holds where the run takes at most 1.3 times its bound
//   BaselineGate(run, before, 0.05)    does not hold where it is slower by more than 5 %, beyond the spread of both
//
// A gate is only judged where what stands against each other is alike, as far as it is told: a run of another model
// says nothing, however fast it is. What could not be judged is no pass (GateOutcome::kNotJudged).
#pragma once

#include <string>

#include "infimum/graph/run_profile.h"
#include "reports/run/gate.h"
#include "src/app/commands/compare/run_comparison.h"

namespace infimum {

// Not judged: without a bound, or with one that lacks more than a twentieth of the model; where the run differs from
// what the bound is of (ComparedRun::differences), or nobody said on how many threads it ran; where a tenth of its
// layers' time is of no layer of the model, or a tenth of the bound of layers that it does not show; where only times
// of layers are known; where it is faster than the floor, or than the bound beyond the noise of both, which no run of
// this model can be.
Gate GapGate(const ComparedRun& run, double most);

struct JudgedRun {
  std::string name;
  const RunProfile& run;
};

// `threshold`: a relative difference that matters. The verdict is that of infimum/measurement/verdict.h over end-to-end
// samples; where one run has none, over the inferences under the profiler, if both have those. An undecided gate holds,
// and says that more repetitions would decide it.
//
// Not judged: where the two differ in what they both tell of model, dimensions, device, threads or contract; where they
// have no samples in common, or so few that no spread is known.
Gate BaselineGate(const JudgedRun& run, const JudgedRun& baseline, double threshold);

// The same where the model is known: the baseline is held against it too (`before`, of one run), so that what its
// layers show counts as well: its dimensions, its types, and whether it is of this model at all.
Gate BaselineGate(const RunComparison& comparison, const ComparedRun& run, const RunComparison& before,
                  double threshold);

}  // namespace infimum
