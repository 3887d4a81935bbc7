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

#include "analyzer/bounds/fusion_choice.h"
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

// The longest path through a graph in which some layers run as one.
//
//   A(1) -> B(10), A -> C(10)        longest path 11
//   A and B as one in 10.5:          C waits for both, 10.5 + 10 = 20.5: fusing what others wait for may cost time
//
// A selection is valid where the regions do not wait for each other in a circle; convex regions alone do not rule that
// out.
//
// `predecessors[i]` before i; the regions share no layer. nullopt where they wait for each other in a circle.
std::optional<Latency> FusedPath(const std::vector<std::vector<LayerId>>& predecessors,
                                 std::span<const Latency> layer_times, std::span<const FusionCandidate> regions,
                                 std::span<const std::size_t> chosen);

}  // namespace infimum
