// The layers of a model as a directed acyclic graph with a time at each of them, and its longest path:
// what takes longest when everything that need not wait runs at once. Boost.Graph stays behind this header.
//
//   a(2) -> b(3) -> d(1)       longest path a, b, d = 6
//   a(2) -> c(1) -> d(1)
//
// Linear in layers and edges; of several longest paths the one through the earliest layers is taken.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "infimum/base/units.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

struct LongestPath {
  Latency latency{0};
  std::vector<std::size_t> layers;  // in order of execution; empty for an empty graph
};

class DagView {
 public:
  // `predecessors[i]` are the layers that layer i waits for (graph's Predecessors()).
  explicit DagView(const std::vector<std::vector<LayerId>>& predecessors);
  ~DagView();

  // `times` holds one time, not negative, for each layer.
  LongestPath FindLongestPath(std::span<const Latency> times) const;

  // Among paths that begin at `first` and end at `last` alone, both included; absent where there is none.
  std::optional<LongestPath> FindLongestPath(std::span<const Latency> times, std::size_t first, std::size_t last) const;
  // For each layer how long the longest path would be if this layer alone took `instead` and all others their times:
  // exact, all layers at once. A path that avoids layer i ends before i in the order of execution, begins after it, or
  // takes an edge over it; the longest path through i is known from both sides. O((layers + edges) log edges).
  std::vector<Latency> LongestPathsIf(std::span<const Latency> times, std::span<const Latency> instead) const;

 private:
  std::vector<Latency> LongestUntil(std::span<const Latency> times) const;
  std::vector<Latency> LongestFrom(std::span<const Latency> times) const;

  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace infimum
