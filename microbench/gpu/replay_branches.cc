#include "microbench/gpu/replay_branches.h"

#include <algorithm>
#include <optional>
#include <set>

namespace infimum::cuda {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace

BranchPlan PlanBranches(const cpu::ReplayLayout& layout, std::size_t streams) {
  BranchPlan plan;
  std::vector<std::size_t> producer(layout.buffers.size(), kNone);
  std::vector<std::size_t> tail(std::max<std::size_t>(streams, 1), kNone);  // the last operation of each stream
  for (std::size_t i = 0; i < layout.operations.size(); ++i) {
    const cpu::ReplayOperation& operation = layout.operations[i];
    std::set<std::size_t> needed;  // operations
    for (const std::size_t buffer : operation.reads)
      if (producer[buffer] != kNone) needed.insert(producer[buffer]);
    BranchPlan::Place place;
    // The latest result first: what else is needed is likelier to be there already.
    std::optional<std::size_t> chosen;
    for (auto it = needed.rbegin(); it != needed.rend() && !chosen; ++it) {
      const std::size_t stream = plan.operations[*it].stream;
      if (tail[stream] == *it) chosen = stream;
    }
    if (!chosen) {
      const auto age = [&](std::size_t stream) { return tail[stream] == kNone ? 0 : tail[stream] + 1; };
      chosen = 0;
      for (std::size_t stream = 1; stream < tail.size(); ++stream)
        if (age(stream) < age(*chosen)) chosen = stream;
    }
    place.stream = *chosen;
    std::set<std::size_t> follows;
    for (const std::size_t one : needed) follows.insert(plan.operations[one].stream);
    // A branch begins where stream 0 is.
    if (place.stream != 0 && tail[place.stream] == kNone) follows.insert(0);
    follows.erase(place.stream);
    place.follows.assign(follows.begin(), follows.end());
    plan.operations.push_back(std::move(place));
    tail[*chosen] = i;
    for (const std::size_t buffer : operation.writes) producer[buffer] = i;
  }
  for (std::size_t stream = 1; stream < tail.size(); ++stream)
    if (tail[stream] != kNone) plan.last.push_back(stream);
  return plan;
}

}  // namespace infimum::cuda
