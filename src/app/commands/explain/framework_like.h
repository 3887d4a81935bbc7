// How a framework runs a model, in kernels that a replay can run: the other way beside the plan's.
//
//   the run's row                       plan                          framework-like
//   {conv1, relu1} 402 us               conv1 + relu1 by one, 310 us  conv1 + relu1 by the candidate of 395 us
//   {conv2} 200 us, {relu2} 30 us       conv2 + relu2 by one, 150 us  conv2 by the one of 195 us, relu2 by that of 28
//   us
//
// Fused where the run fused: a region runs as one where the run ran all its layers in one row. Of each unit the
// candidate whose measured time is nearest to the row's, in ratio; a row of several units has its time shared among
// them as their best times are. What no row covers runs as the plan has it.
//
// Without a run: layer by layer, each by what its library's own heuristic picks.
#pragma once

#include <vector>

#include "analyzer/rows/workload_candidates.h"
#include "infimum/graph/run_profile.h"
#include "src/app/commands/replay/replay.h"

namespace infimum {

struct FrameworkLike {
  std::vector<ReplayCandidate> candidates;
  std::vector<ReplayRegion> regions;
};

// `run`: null where there is none.
FrameworkLike FrameworkLikeOf(const ReplayPlan& plan, const CandidatesOfModel& known, const RunProfile* run);

// Of no framework, but as near to the plan as it gets: of each of its layers and regions the next best candidate, a
// region's layers one by one where those are better, and regions of what the plan runs apart, if they take at most a
// quarter longer by their rows. Whole inferences may order them otherwise.
FrameworkLike RivalsOf(const ReplayPlan& plan, const CandidatesOfModel& known);

}  // namespace infimum
