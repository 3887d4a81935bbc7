#include "analyzer/bounds.h"

#include <algorithm>

namespace infimum {
namespace {

Latency Sum(std::span<const Latency> times) {
  Latency sum{0};
  for (Latency time : times) sum += time;
  return sum;
}

// One end of the interval, or the point: `times` of the layers, and what they take of all cores' time.
Latency Parallel(Latency longest_path, std::span<const Latency> core_times, std::int64_t cores, Latency sequential) {
  // On one core, and wherever layers gain nothing by using fewer cores, the two sums are the same sum;
  // rounding must not tell them apart.
  const Latency shared = std::min(Sum(core_times) / static_cast<double>(std::max<std::int64_t>(cores, 1)), sequential);
  return std::min(std::max(longest_path, shared), sequential);
}

}  // namespace

CombinedBounds CombineBounds(const DagView& dag, std::span<const LayerTimes> layers, std::int64_t cores) {
  std::vector<Latency> best, low, high, core_time, core_low, core_high;
  const double all_cores = static_cast<double>(std::max<std::int64_t>(cores, 1));
  for (const LayerTimes& layer : layers) {
    best.push_back(layer.best);
    low.push_back(layer.interval.low);
    high.push_back(layer.interval.high);
    // On one core a layer's core time is its time.
    const Latency whole = cores <= 1 ? layer.best : std::min(layer.core_time, layer.best * all_cores);
    const double share = layer.best > Latency(0) ? whole / (layer.best * all_cores) : 1.0;
    core_time.push_back(whole);
    core_low.push_back(layer.interval.low * all_cores * share);
    core_high.push_back(layer.interval.high * all_cores * share);
  }
  CombinedBounds bounds;
  bounds.sequential = Sum(best);
  bounds.sequential_interval = {Sum(low), Sum(high)};
  bounds.longest_path = dag.FindLongestPath(best);
  bounds.parallel = Parallel(bounds.longest_path.latency, core_time, cores, bounds.sequential);
  bounds.parallel_interval = {
      Parallel(dag.FindLongestPath(low).latency, core_low, cores, bounds.sequential_interval.low),
      Parallel(dag.FindLongestPath(high).latency, core_high, cores, bounds.sequential_interval.high)};
  bounds.path_decides_parallel = bounds.parallel <= bounds.longest_path.latency;
  return bounds;
}

}  // namespace infimum
