#include "analyzer/dag_view.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>

namespace infimum {
namespace {

// Edges lead from a layer to those that it waits for, so that Boost's topological_sort, which ends with
// the sources, lists layers in order of execution.
using WaitsFor = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

}  // namespace

struct DagView::Graph {
  explicit Graph(std::size_t layers) : waits_for(layers) {}

  WaitsFor waits_for;
  std::vector<std::size_t> order;  // each layer after those that it waits for
};

DagView::DagView(const std::vector<std::vector<LayerId>>& predecessors)
    : graph_(std::make_unique<Graph>(predecessors.size())) {
  bool in_order = true;
  for (std::size_t layer = 0; layer < predecessors.size(); ++layer) {
    for (LayerId before : predecessors[layer]) {
      INFIMUM_CHECK(before.index() < predecessors.size(), "a layer waits for one that the graph does not have");
      in_order &= before.index() < layer;
      boost::add_edge(layer, before.index(), graph_->waits_for);
    }
  }
  graph_->order.reserve(predecessors.size());
  if (in_order) {
    for (std::size_t layer = 0; layer < predecessors.size(); ++layer) graph_->order.push_back(layer);
  } else {
    // Throws on a cycle, which Validate() has refused before.
    boost::topological_sort(graph_->waits_for, std::back_inserter(graph_->order));
  }
}

DagView::~DagView() = default;

LongestPath DagView::FindLongestPath(std::span<const Latency> times) const {
  const std::size_t count = graph_->order.size();
  INFIMUM_CHECK(times.size() == count, "one time for each layer");
  LongestPath path;
  if (count == 0) return path;
  std::vector<Latency> finish(count, Latency(0));
  std::vector<std::size_t> longest_before(count, count);  // `count`: starts at once
  for (std::size_t layer : graph_->order) {
    Latency start{0};
    for (auto [edge, end] = boost::out_edges(layer, graph_->waits_for); edge != end; ++edge) {
      const std::size_t before = boost::target(*edge, graph_->waits_for);
      const bool later = finish[before] > start || (finish[before] == start && before < longest_before[layer]);
      if (!later) continue;
      start = finish[before];
      longest_before[layer] = before;
    }
    finish[layer] = start + times[layer];
  }
  std::size_t last = static_cast<std::size_t>(std::max_element(finish.begin(), finish.end()) - finish.begin());
  path.latency = finish[last];
  for (; last != count; last = longest_before[last]) path.layers.push_back(last);
  std::reverse(path.layers.begin(), path.layers.end());
  return path;
}

}  // namespace infimum
