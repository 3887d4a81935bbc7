// What could be changed, what it would win, and how that is known. Each rule stands in a file of its own in
// analyzer/findings and says nothing where its cause is not there.
//
//   host-bound   3.51 ms   the device waits for the host in 47 of its 60 gaps ...   capture the step as a CUDA graph
//   ...
#pragma once

#include <string>
#include <vector>

#include "infimum/analyzer/device_activity.h"
#include "infimum/base/units.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"

namespace infimum {

struct Finding {
  std::string kind;                 // "host-bound"
  Latency gain{0};                  // the most that the change can win: of a whole trace, or of one inference
  std::vector<std::string> layers;  // whom it is about, the largest first; operators where no model is known
  std::string evidence;             // with its numbers
  std::string action;               // what to do
};

// What the rules look at, made once.
struct TimelineFacts {
  const Timeline& timeline;
  const std::vector<WorkOrigin>& origins;  // OriginsOfWork(timeline)
  const ActivityReport& activity;          // ActivityOf(timeline, origins)
};

// All rules about timelines; the largest gain first.
std::vector<Finding> FindingsOf(const TimelineFacts& facts);

// All rules about an engine's layers, by themselves: no model and no bound is needed. The largest gain first.
std::vector<Finding> FindingsOf(const RunProfile& run);

}  // namespace infimum
