#include "analyzer/dag_view.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <limits>

namespace infimum {
namespace {

// Edges lead from a layer to those that it waits for, so that Boost's topological_sort, which ends with
// the sources, lists layers in order of execution.
using WaitsFor = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

}  // namespace

struct DagView::Graph {
  explicit Graph(std::size_t layers) : waits_for(layers) {}

  // When each layer ends at the earliest, and which one it waited for last.
  struct Schedule {
    std::vector<Latency> finish;
    std::vector<std::size_t> longest_before;  // `kNone`: starts at once
    std::vector<bool> runs;
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // With `first`, only the layers that wait for it, and it alone starts at once.
  Schedule Run(std::span<const Latency> times, std::optional<std::size_t> first) const {
    const std::size_t count = order.size();
    INFIMUM_CHECK(times.size() == count, "one time for each layer");
    Schedule schedule{std::vector<Latency>(count, Latency(0)), std::vector<std::size_t>(count, kNone),
                      std::vector<bool>(count, !first.has_value())};
    for (std::size_t layer : order) {
      Latency start{0};
      std::size_t& longest_before = schedule.longest_before[layer];
      for (auto [edge, end] = boost::out_edges(layer, waits_for); edge != end; ++edge) {
        const std::size_t before = boost::target(*edge, waits_for);
        if (!schedule.runs[before]) continue;
        const Latency finish = schedule.finish[before];
        if (finish < start || (finish == start && before >= longest_before)) continue;
        start = finish;
        longest_before = before;
      }
      if (first && (layer == *first || longest_before != kNone)) schedule.runs[layer] = true;
      schedule.finish[layer] = start + times[layer];
    }
    return schedule;
  }

  static LongestPath PathTo(std::size_t last, const Schedule& schedule) {
    LongestPath path;
    path.latency = schedule.finish[last];
    for (; last != kNone; last = schedule.longest_before[last]) path.layers.push_back(last);
    std::reverse(path.layers.begin(), path.layers.end());
    return path;
  }

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
  const Graph::Schedule schedule = graph_->Run(times, std::nullopt);
  const std::vector<Latency>& finish = schedule.finish;
  if (finish.empty()) return {};
  return Graph::PathTo(static_cast<std::size_t>(std::max_element(finish.begin(), finish.end()) - finish.begin()),
                       schedule);
}

std::optional<LongestPath> DagView::FindLongestPath(std::span<const Latency> times, std::size_t first,
                                                    std::size_t last) const {
  INFIMUM_CHECK(first < times.size() && last < times.size(), "a path between layers that the graph does not have");
  const Graph::Schedule schedule = graph_->Run(times, first);
  if (!schedule.runs[last]) return std::nullopt;
  return Graph::PathTo(last, schedule);
}

}  // namespace infimum
