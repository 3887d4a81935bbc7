// How much the whole gains if one layer alone did: what a kernel's author can win.
//
//   a(2) -> b(3) -> d(1), a -> c(2.5) -> d      parallel 6, decided by the longest path a, b, d
//   b free: the longest path is a, c, d = 5.5, so b's 3 us are worth 0.5 us; c free: nothing
//
// Exact for each layer, and near-linear for all of them together (DagView::LongestPathsIf).
#pragma once

#include <vector>

#include "analyzer/bounds/latency_resolution.h"

namespace infimum {

// Sets the parallel gains of `layers`, whose times `problem` holds; `parallel` is its bound.
void SetMarginalGains(const BoundsProblem& problem, Latency parallel, std::vector<ResolvedLayer>& layers);

}  // namespace infimum
