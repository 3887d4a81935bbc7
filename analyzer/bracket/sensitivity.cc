#include "analyzer/bracket/sensitivity.h"

#include <algorithm>

namespace infimum {
namespace {

Latency Changed(const LayerChange& change, Latency now, Latency floor, Latency launch) {
  switch (change.kind) {
    case LayerChange::Kind::kGapless:
      return std::max(std::min(now, floor), now - launch);
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

void SetMarginalGains(const BoundsProblem& problem, Latency parallel, std::vector<ResolvedLayer>& layers) {
  const DagView dag(problem.predecessors);
  std::vector<Latency> times, floors, busy(problem.resources.size(), Latency(0));
  Latency sequential{0};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const NodeTimes& node = problem.layers[i];
    times.push_back(node.best);
    floors.push_back(std::min(layers[i].known.floor, node.best));
    sequential += node.best;
    for (std::size_t k = 0; k < busy.size(); ++k) busy[k] += node.occupancy[k];
  }
  const std::vector<Latency> path_if_free = dag.LongestPathsIf(times, std::vector<Latency>(times.size(), Latency(0)));
  const std::vector<Latency> path_at_floor = dag.LongestPathsIf(times, floors);
  const auto gain = [&](std::size_t i, Latency path, Latency instead) {
    Latency bound = path;
    for (std::size_t k = 0; k < busy.size(); ++k) {
      const Latency occupancy = problem.layers[i].occupancy[k];
      bound = std::max(bound, busy[k] - occupancy + std::min(occupancy, instead));
    }
    bound = std::min(bound, sequential - times[i] + instead);
    return std::max(parallel - bound, Latency(0));
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].known.parallel_gain_if_free = gain(i, path_if_free[i], Latency(0));
    layers[i].known.parallel_gain_at_floor = gain(i, path_at_floor[i], floors[i]);
  }
}

WhatIfOutcome SolveAgain(const BoundsProblem& problem, const CombinedBounds& combined,
                         const std::vector<ResolvedLayer>& layers, const WhatIf& what_if, Latency launch) {
  BoundsProblem changed = problem;
  std::vector<bool> is_gapless(layers.size(), false);
  for (const LayerChange& change : what_if.changes) {
    NodeTimes& node = changed.layers[change.layer.index()];
    is_gapless[change.layer.index()] = change.kind == LayerChange::Kind::kGapless;
    const Latency time = Changed(change, node.best, layers[change.layer.index()].known.floor, launch);
    // How busy the layer keeps each resource shrinks or grows with it; of a layer at its floor, which knows no
    // kernel, only that it is no longer busy than it takes.
    const bool is_scaled = change.kind != LayerChange::Kind::kFloor && node.best > Latency(0);
    const double share = is_scaled ? time / node.best : 1;
    for (Latency& occupancy : node.occupancy)
      occupancy = node.best > Latency(0) ? std::min(occupancy * share, time) : time;
    node.best = time;
  }
  for (RegionTimes& region : changed.regions) {
    const auto has_no_gap = [&](std::size_t layer) {
      return is_gapless[layer] || layers[layer].known.status == LatencyStatus::kFree;
    };
    if (!std::ranges::all_of(region.layers, has_no_gap)) continue;
    // Not below what the largest of its layers takes at its floor.
    Latency floor{0};
    for (const std::size_t layer : region.layers) floor = std::max(floor, layers[layer].known.floor);
    region.times.best = std::max(std::min(region.times.best, floor), region.times.best - launch);
    for (Latency& occupancy : region.times.occupancy) occupancy = std::min(occupancy, region.times.best);
  }
  const CombinedBounds solved = CombineBounds(changed);
  WhatIfOutcome outcome{what_if.name, what_if.changes.size(), {}};
  for (const BoundVariant variant : CombinedVariants()) {
    const Latency after = CombinedOf(variant, solved).latency;
    outcome.bounds.push_back({variant, after, CombinedOf(variant, combined).latency - after});
  }
  return outcome;
}

}  // namespace infimum
