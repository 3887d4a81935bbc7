#include "analyzer/bracket/what_if_solver.h"

#include <algorithm>

namespace infimum {
namespace {

Latency Changed(const LayerChange& change, Latency now, Latency floor) {
  switch (change.kind) {
    case LayerChange::Kind::kFree:
      return Latency(0);
    case LayerChange::Kind::kFloor:
      return std::min(now, floor);
    case LayerChange::Kind::kScaled:
      return now * change.value;
    case LayerChange::Kind::kFixed:
      return Latency(change.value);
  }
  return now;
}

}  // namespace

WhatIfOutcome SolveAgain(const BoundsProblem& problem, const CombinedBounds& combined,
                         const std::vector<ResolvedLayer>& layers, const WhatIf& what_if) {
  BoundsProblem changed = problem;
  for (const LayerChange& change : what_if.changes) {
    UnitTimes& unit = changed.layers[change.layer.index()];
    const Latency time = Changed(change, unit.best, layers[change.layer.index()].known.floor);
    // How busy the layer keeps each resource shrinks or grows with it; of a layer at its floor, which knows no
    // kernel, only that it is no longer busy than it takes.
    const bool is_scaled = change.kind != LayerChange::Kind::kFloor && unit.best > Latency(0);
    const double share = is_scaled ? time / unit.best : 1;
    for (Latency& occupancy : unit.occupancy)
      occupancy = unit.best > Latency(0) ? std::min(occupancy * share, time) : time;
    unit.best = time;
  }
  const CombinedBounds solved = CombineBounds(changed);
  WhatIfOutcome outcome{what_if.name, what_if.changes.size(), {}};
  const auto add = [&](BoundVariant variant, const CombinedBound& before, const CombinedBound& after) {
    outcome.bounds.push_back({variant, after.latency, before.latency - after.latency});
  };
  add(BoundVariant::kSequential, combined.sequential, solved.sequential);
  add(BoundVariant::kParallel, combined.parallel, solved.parallel);
  add(BoundVariant::kFusedSequential, combined.fused_sequential, solved.fused_sequential);
  add(BoundVariant::kFusedParallel, combined.fused_parallel, solved.fused_parallel);
  return outcome;
}

}  // namespace infimum
