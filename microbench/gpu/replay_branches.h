// On which stream each operation of a replay runs, so that independent ones run beside each other.
//
//   operations   0 conv   1 conv (reads 0)   2 conv (reads 0)   3 add (reads 1, 2)
//   2 streams    0        0                  1                  0, once stream 1 is done
#pragma once

#include <vector>

#include "microbench/reference/replay_layout.h"

namespace infimum::cuda {

struct BranchPlan {
  struct Place {
    std::size_t stream = 0;
    std::vector<std::size_t> follows;  // other streams that it waits for, each once
  };
  std::vector<Place> operations;
  std::vector<std::size_t> last;  // other streams than 0 that are in use: 0 waits for them at the end
};

// Greedy, in the order of the operations: behind one of those whose results it reads, if nothing else is behind that
// yet, and else on the stream that has been idle for longest. What an operation waits for includes all that was put
// into that stream before.
BranchPlan PlanBranches(const cpu::ReplayLayout& layout, std::size_t streams);

}  // namespace infimum::cuda
