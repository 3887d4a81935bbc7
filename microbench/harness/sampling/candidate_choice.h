// What was measured fastest, as what is to run a replay's steps: so that a machine with nothing but a runner can go
// from a campaign to the demonstrated run.
//
//   INFIMUM_RETURN_IF_ERROR(ChooseMeasured({"resnet50-b1-f16.jsonl"}, schedule));
//   schedule.steps[0].candidate   {"cudnn-graph/eng45_k2=5", "acdb", "acdb"}
#pragma once

#include <string>
#include <vector>

#include "infimum/graph/replay_schedule.h"

namespace infimum {

// Of each step the candidate of the fastest warm row of its workload under its contract; steps without one keep theirs.
// Rows flagged `uncaptured` do not count: what they ran is in no graph.
// An error where a journal cannot be read.
Status ChooseMeasured(const std::vector<std::string>& journals, ReplaySchedule& schedule);

}  // namespace infimum
