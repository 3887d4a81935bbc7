// How the bounds change with the times of layers: for each layer alone (what a kernel's author can win), and for a set
// of assumed times (what_if.h).
//
//   a(2) -> b(3) -> d(1), a -> c(2.5) -> d      parallel 6, decided by the longest path a, b, d
//   b free: the longest path is a, c, d = 5.5, so b's 3 us are worth 0.5 us; c free: nothing
//
// Exact for each layer, and near-linear for all of them together (DagView::LongestPathsIf).
#pragma once

#include <vector>

#include "analyzer/bounds/latency_resolution.h"
#include "analyzer/bracket/what_if.h"

namespace infimum {

// Sets the parallel gains of `layers`, whose times `problem` holds; `parallel` is its bound.
void SetMarginalGains(const BoundsProblem& problem, Latency parallel, std::vector<ResolvedLayer>& layers);

// Solves the bounds again with the layers' times as assumed; `combined` is the solution of `problem` itself, from which
// gains are counted, `launch` what starting a kernel takes, 0 where that is unknown.
WhatIfOutcome SolveAgain(const BoundsProblem& problem, const CombinedBounds& combined,
                         const std::vector<ResolvedLayer>& layers, const WhatIf& what_if, Latency launch);

}  // namespace infimum
