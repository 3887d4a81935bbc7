// One repetition of a replay, as a worker runs it: prepare, check the numbers, then time the whole, its parts between
// their neighbours, and its parts alone.
//
//   whole     samples of whole inferences back to back, as any candidate is sampled (sampler.h), in five stretches:
//             before, between and after the parts, so that a clock that wanders is the same for both; a beat around
//             each (base/beat.h)
//   in loop   the clock is read between parts; each part's median over the inferences
//   alone     part by part: the same one again and again, on what its predecessors left; then once more with cold
//   weights
//
// Of a schedule with factors: prepare and check both levels, then run and time whole inferences after its design, in
// the order given, each with its own levels; parts are not timed.
//
// How much of what an inference goes through the caches still hold is asked of the backend, in each repetition anew.
#pragma once

#include <string>
#include <vector>

#include "infimum/graph/replay_schedule.h"
#include "microbench/harness/sampling/trial.h"

namespace infimum {

// What was measured fastest, as what is to run a replay's steps: so that a machine with nothing but a runner can go
// from a campaign to the demonstrated run.
//
//   INFIMUM_RETURN_IF_ERROR(ChooseMeasured({"resnet50-b1-f16.jsonl"}, schedule));
//   schedule.steps[0].candidate   {"cudnn-graph/eng45_k2=5", "acdb", "acdb"}

// Gives each step the candidate of the fastest warm row of its workload and contract; steps without one keep theirs.
// Rows flagged `uncaptured` do not count: what they ran is in no graph.
// An error where a journal cannot be read.
Status ChooseMeasured(const std::vector<std::string>& journals, ReplaySchedule& schedule);

struct ReplayRequest {
  std::string schedule;  // the file's path
  std::string tensors;   // the folder's; empty: random ones
  // Journals whose fastest warm rows name what runs the steps, in place of the schedule's own candidates.
  std::vector<std::string> results = {};
  bool check_numbers = true;
  // Sampling time of a candidate: each stretch of the whole gets four times as much, a part alone
  // a tenth, or a dozen launches.
  Clock::Duration budget = std::chrono::milliseconds(200);
  // Of all inferences of a design.
  Clock::Duration design_budget = std::chrono::minutes(1);

  friend bool operator==(const ReplayRequest&, const ReplayRequest&) = default;
};

// An error names the file, and the place in it where it is no schedule.
Result<ReplaySchedule> ReadSchedule(const std::string& path);

// One repetition in the result. Where the numbers were not asked for, parts have no errors and there are no outputs.
Result<ReplayResult> RunReplay(Backend& backend, const ReplayRequest& request, TrialTools tools);

}  // namespace infimum
