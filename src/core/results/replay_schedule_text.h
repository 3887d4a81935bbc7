// A replay schedule as a JSON document, for the runner that is a process of its own.
//
//   {"schema":"infimum.replay-schedule/1","model":"resnet50",
//    "tensors":[{"name":"input","kind":"input","dtype":"f32","shape":[1,3,224,224],"output":false}, ...],
//    "steps":[{"name":"conv1","layers":["conv1"],"workload":"convolution ...","candidate":"onednn/jit:avx2",
//              "operands":[0,1,2],"outputs":[3],"values":[{"epsilon":[1e-05]}]}, ...]}
//
// Only where there are any: a tensor has "fill" (the number that all its elements are), a step "value_tensors", one
// object for each of its values: [{"in1_scale":12}]. A schedule that leaves choices open has "factors":["conv1", ...]
// and "design":["0", ...], and a step of a choice "runs_at":{"factor":0,"level":1}.
#pragma once

#include <string>
#include <string_view>

#include "infimum/graph/replay_schedule.h"

namespace infimum {

std::string FormatReplaySchedule(const ReplaySchedule& schedule);

// Checked as Validate() does: what comes back makes no runner crash. Errors start with the place in the text.
Result<ReplaySchedule> ParseReplaySchedule(std::string_view text);

}  // namespace infimum
