#include "analyzer/bracket/marginal_gain.h"

#include <algorithm>

namespace infimum {

void SetMarginalGains(const BoundsProblem& problem, Latency parallel, std::vector<ResolvedLayer>& layers) {
  const DagView dag(problem.predecessors);
  std::vector<Latency> times, floors, busy(problem.resources.size(), Latency(0));
  Latency sequential{0};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const UnitTimes& unit = problem.layers[i];
    times.push_back(unit.best);
    floors.push_back(std::min(layers[i].known.floor, unit.best));
    sequential += unit.best;
    for (std::size_t k = 0; k < busy.size(); ++k) busy[k] += unit.occupancy[k];
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

}  // namespace infimum
