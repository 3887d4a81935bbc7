// Where the host's threads spent their time: each operator's own, without what it called.
//
//   aten::linear 100 us, in it aten::addmm 80 us, in that cudaLaunchKernel 10 us
//     -> own time: linear 20, addmm 70, cudaLaunchKernel 10
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/graph/timeline.h"

namespace infimum {

struct HostTotal {
  NameId name = kNoName;
  HostCallKind kind = HostCallKind::kOperator;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;  // with what it called; a call within one of the same name counts again
  std::int64_t own_ns = 0;
};

// Operators and calls of the runtime; the most own time first. Calls of one thread that overlap without one being
// within the other count what they share to the one that began later.
std::vector<HostTotal> HostTotals(const Timeline& timeline);

}  // namespace infimum
