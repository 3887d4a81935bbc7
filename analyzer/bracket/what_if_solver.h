// Assumptions as an overlay on the layers' times, solved again.
#pragma once

#include <vector>

#include "analyzer/bounds/latency_resolution.h"

namespace infimum {

// `combined` is the solution of `problem` itself, which gains are counted from.
WhatIfOutcome SolveAgain(const BoundsProblem& problem, const CombinedBounds& combined,
                         const std::vector<ResolvedLayer>& layers, const WhatIf& what_if);

}  // namespace infimum
