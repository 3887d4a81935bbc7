#include "analyzer/bounds/dag_view.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <limits>
#include <queue>

#include "infimum/base/check.h"

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

// The longest path that ends with each layer; it holds the layer's own time.
std::vector<Latency> DagView::LongestUntil(std::span<const Latency> times) const {
  std::vector<Latency> until(times.begin(), times.end());
  for (std::size_t layer : graph_->order) {
    Latency longest{0};
    for (auto [edge, end] = boost::out_edges(layer, graph_->waits_for); edge != end; ++edge)
      longest = std::max(longest, until[boost::target(*edge, graph_->waits_for)]);
    until[layer] += longest;
  }
  return until;
}

// The longest path that begins with each layer; it holds the layer's own time.
std::vector<Latency> DagView::LongestFrom(std::span<const Latency> times) const {
  std::vector<Latency> after(times.size(), Latency(0));
  for (std::size_t i = times.size(); i-- > 0;) {
    const std::size_t layer = graph_->order[i];
    const Latency from = after[layer] + times[layer];
    for (auto [edge, end] = boost::out_edges(layer, graph_->waits_for); edge != end; ++edge) {
      Latency& before = after[boost::target(*edge, graph_->waits_for)];
      before = std::max(before, from);
    }
  }
  for (std::size_t layer = 0; layer < times.size(); ++layer) after[layer] += times[layer];
  return after;
}

std::vector<Latency> DagView::LongestPathsIf(std::span<const Latency> times, std::span<const Latency> instead) const {
  const std::vector<std::size_t>& order = graph_->order;
  const std::size_t count = order.size();
  INFIMUM_CHECK(times.size() == count && instead.size() == count, "one time for each layer");
  const std::vector<Latency> until = LongestUntil(times);
  const std::vector<Latency> from = LongestFrom(times);
  std::vector<std::size_t> position(count);
  for (std::size_t i = 0; i < count; ++i) position[order[i]] = i;

  // Paths that begin behind a layer, from the last one on; then, from the first one on, those that end before it and
  // those that take an edge over it.
  std::vector<Latency> lengths(count, Latency(0));
  Latency begins_after{0};
  for (std::size_t i = count; i-- > 0;) {
    lengths[order[i]] = begins_after;
    begins_after = std::max(begins_after, from[order[i]]);
  }
  struct Crossing {
    Latency length;
    std::size_t last;  // position of the layer that the edge leads to
    bool operator<(const Crossing& other) const { return length < other.length; }
  };
  std::vector<std::vector<Crossing>> starting(count);  // by the position that they start from
  for (std::size_t layer = 0; layer < count; ++layer) {
    for (auto [edge, end] = boost::out_edges(layer, graph_->waits_for); edge != end; ++edge) {
      const std::size_t before = boost::target(*edge, graph_->waits_for);
      if (position[layer] > position[before] + 1)
        starting[position[before]].push_back({until[before] + from[layer], position[layer]});
    }
  }
  std::priority_queue<Crossing> over;  // edges over the layer at hand, and some that ended
  Latency ends_before{0};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t layer = order[i];
    while (!over.empty() && over.top().last <= i) over.pop();
    const Latency crossing = over.empty() ? Latency(0) : over.top().length;
    const Latency through = until[layer] + from[layer] - 2 * times[layer] + instead[layer];
    lengths[layer] = std::max({lengths[layer], ends_before, crossing, through});
    ends_before = std::max(ends_before, until[layer]);
    for (const Crossing& edge : starting[i]) over.push(edge);
  }
  return lengths;
}

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
