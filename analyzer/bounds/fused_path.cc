#include "analyzer/bounds/fused_path.h"

#include <algorithm>

#include "infimum/base/check.h"

namespace infimum {

std::optional<Latency> FusedPath(const std::vector<std::vector<LayerId>>& predecessors,
                                 std::span<const Latency> layer_times, std::span<const FusionCandidate> regions,
                                 std::span<const std::size_t> chosen) {
  const std::size_t count = predecessors.size();
  INFIMUM_CHECK(layer_times.size() == count, "one time for each layer");
  // The nodes are the layers; a region's is its first layer.
  std::vector<std::size_t> node(count);
  for (std::size_t i = 0; i < count; ++i) node[i] = i;
  std::vector<Latency> times(layer_times.begin(), layer_times.end());
  for (std::size_t region : chosen) {
    const std::vector<std::size_t>& layers = regions[region].layers;
    for (std::size_t layer : layers) {
      INFIMUM_CHECK(node[layer] == layer, "chosen regions share no layer");
      node[layer] = layers.front();
    }
    times[layers.front()] = regions[region].cost;
  }
  std::vector<std::size_t> waits_for(count, 0);
  std::vector<std::vector<std::size_t>> successors(count);
  for (std::size_t layer = 0; layer < count; ++layer) {
    for (LayerId before : predecessors[layer]) {
      if (node[before.index()] == node[layer]) continue;
      successors[node[before.index()]].push_back(node[layer]);
      ++waits_for[node[layer]];
    }
  }
  std::vector<std::size_t> ready;
  std::vector<Latency> start(count, Latency(0));
  std::size_t nodes = 0, done = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (node[i] != i) continue;
    ++nodes;
    if (waits_for[i] == 0) ready.push_back(i);
  }
  Latency longest{0};
  while (!ready.empty()) {
    const std::size_t i = ready.back();
    ready.pop_back();
    ++done;
    const Latency finish = start[i] + times[i];
    longest = std::max(longest, finish);
    for (std::size_t next : successors[i]) {
      start[next] = std::max(start[next], finish);
      if (--waits_for[next] == 0) ready.push_back(next);
    }
  }
  return done == nodes ? std::optional<Latency>(longest) : std::nullopt;
}

}  // namespace infimum
