#include <algorithm>
#include <utility>

#include "reports/graph_drawing/graph_steps.h"

namespace infimum {
namespace {

bool HasEnds(const LayoutEdge& edge, std::size_t nodes) {
  return edge.from < nodes && edge.to < nodes && edge.from != edge.to;
}

// Edges that lead back to a node on the way of a depth-first search; without them there is no cycle.
std::vector<std::uint8_t> ClosingEdges(std::size_t nodes, const std::vector<LayoutEdge>& edges) {
  std::vector<std::vector<std::size_t>> leaving(nodes);
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (HasEnds(edges[i], nodes)) leaving[edges[i].from].push_back(i);
  enum : std::uint8_t { kNew, kOnTheWay, kDone };
  std::vector<std::uint8_t> state(nodes, kNew);
  std::vector<std::uint8_t> closes(edges.size(), 0);
  std::vector<std::pair<std::size_t, std::size_t>> way;  // node, its next leaving edge
  for (std::size_t start = 0; start < nodes; ++start) {
    if (state[start] != kNew) continue;
    state[start] = kOnTheWay;
    way.emplace_back(start, 0);
    while (!way.empty()) {
      auto& [node, next] = way.back();
      if (next == leaving[node].size()) {
        state[node] = kDone;
        way.pop_back();
        continue;
      }
      const std::size_t edge = leaving[node][next++];
      const std::size_t to = edges[edge].to;
      if (state[to] == kOnTheWay) closes[edge] = 1;
      if (state[to] != kNew) continue;
      state[to] = kOnTheWay;
      way.emplace_back(to, 0);
    }
  }
  return closes;
}

// Ends in the direction that has no cycles, edges by their upper end.
struct Orientation {
  std::vector<std::vector<std::size_t>> below;  // by node: nodes that it leads to
  std::vector<std::vector<std::size_t>> above;
};

std::vector<std::size_t> TopologicalOrder(const Orientation& graph) {
  const std::size_t nodes = graph.below.size();
  std::vector<std::size_t> waiting(nodes), order;
  for (std::size_t node = 0; node < nodes; ++node) {
    waiting[node] = graph.above[node].size();
    if (waiting[node] == 0) order.push_back(node);
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const std::size_t next : graph.below[order[i]])
      if (--waiting[next] == 0) order.push_back(next);
  return order;
}

std::vector<std::size_t> RanksOf(const Orientation& graph) {
  const std::vector<std::size_t> order = TopologicalOrder(graph);
  std::vector<std::size_t> rank(graph.below.size(), 0);
  // A stalk is a path from a source that nothing else joins or leaves: it moves as a whole.
  std::vector<std::uint8_t> is_stalk(rank.size(), 0);
  for (const std::size_t node : order) {
    for (const std::size_t next : graph.below[node]) rank[next] = std::max(rank[next], rank[node] + 1);
    const auto& above = graph.above[node];
    is_stalk[node] =
        graph.below[node].size() == 1 && (above.empty() || (above.size() == 1 && is_stalk[above.front()] != 0));
  }
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    const auto& below = graph.below[*node];
    if (below.empty() || (graph.above[*node].size() >= below.size() && is_stalk[*node] == 0)) continue;
    std::size_t least = rank[below.front()];
    for (const std::size_t next : below) least = std::min(least, rank[next]);
    rank[*node] = least - 1;
  }
  return rank;
}

class Ranking {
 public:
  Ranking(std::size_t nodes, const std::vector<LayoutEdge>& edges) : edges_(edges), leaving_(nodes) {
    ranked_.nodes = nodes;
    ranked_.is_reversed = ClosingEdges(nodes, edges);
    ranked_.bends.resize(edges.size());
    Orientation graph{std::vector<std::vector<std::size_t>>(nodes), std::vector<std::vector<std::size_t>>(nodes)};
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (!HasEnds(edges[i], nodes)) continue;
      graph.below[Upper(i)].push_back(Lower(i));
      graph.above[Lower(i)].push_back(Upper(i));
      leaving_[Upper(i)].push_back(i);
    }
    ranked_.rank = RanksOf(graph);
    for (std::size_t node = 0; node < nodes; ++node)
      if (graph.below[node].empty() && graph.above[node].empty()) ranked_.rank[node] = kNoRank;
    Grow(nodes);
  }

  RankedGraph Take(std::size_t most_bends) {
    // The shortest chains first: where there are too many bends, the longest edges go without.
    std::vector<std::pair<std::size_t, std::size_t>> chains;  // bends, node
    for (std::size_t node = 0; node < leaving_.size(); ++node) {
      std::size_t last = ranked_.rank[node] + 1;
      for (const std::size_t edge : leaving_[node]) last = std::max(last, ranked_.rank[Lower(edge)]);
      if (!leaving_[node].empty()) chains.emplace_back(last - ranked_.rank[node] - 1, node);
    }
    std::ranges::sort(chains);
    std::size_t used = 0;
    std::vector<std::uint8_t> has_chain(leaving_.size(), 0);
    for (const auto& [bends, node] : chains) {
      used += bends;
      has_chain[node] = used <= most_bends;
    }
    for (std::size_t node = 0; node < leaving_.size(); ++node) AddSegments(node, has_chain[node] != 0);
    // Main edges choose first.
    for (const bool is_main : {true, false})
      for (std::size_t edge = 0; edge < edges_.size(); ++edge) MakeFirm(edge, is_main);
    std::size_t ranks = 0;
    for (const std::size_t rank : ranked_.rank)
      if (rank != kNoRank) ranks = std::max(ranks, rank + 1);
    ranked_.ranks.resize(ranks);
    std::vector<std::size_t> begin(ranks + 1, 0), end(ranks + 1, 0);
    for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
      if (!HasEnds(edges_[edge], leaving_.size()) || !edges_[edge].is_joined) continue;
      ++begin[ranked_.rank[Upper(edge)]];
      ++end[ranked_.rank[Lower(edge)]];
    }
    std::size_t open = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) ranked_.joints.push_back(open = open + begin[rank] - end[rank]);
    return std::move(ranked_);
  }

 private:
  std::size_t Upper(std::size_t edge) const {
    return ranked_.is_reversed[edge] != 0 ? edges_[edge].to : edges_[edge].from;
  }
  std::size_t Lower(std::size_t edge) const {
    return ranked_.is_reversed[edge] != 0 ? edges_[edge].from : edges_[edge].to;
  }

  void Grow(std::size_t vertices) {
    ranked_.rank.resize(vertices);
    ranked_.upper.resize(vertices);
    ranked_.lower.resize(vertices);
    ranked_.firm_upper.resize(vertices, kNoVertex);
    ranked_.firm_lower.resize(vertices, kNoVertex);
  }

  void AddSegment(Vertex above, Vertex below) {
    ranked_.lower[above].push_back(below);
    ranked_.upper[below].push_back(above);
  }

  void MakeFirm(std::size_t edge, bool is_main) {
    if (!HasEnds(edges_[edge], leaving_.size()) || !(is_main ? edges_[edge].is_main : edges_[edge].is_joined)) return;
    auto above = static_cast<Vertex>(Upper(edge));
    const auto end = static_cast<Vertex>(Lower(edge));
    if (ranked_.bends[edge].size() + 1 != ranked_.rank[end] - ranked_.rank[above]) return;  // it has no bends
    for (const Vertex bend : ranked_.bends[edge]) {
      MakeFirm(above, bend);
      above = bend;
    }
    MakeFirm(above, end);
  }

  // The first that asks stays: one neighbour on each side can stand straight.
  void MakeFirm(Vertex above, Vertex below) {
    if (ranked_.firm_upper[below] != kNoVertex || ranked_.firm_lower[above] != kNoVertex) return;
    ranked_.firm_upper[below] = above;
    ranked_.firm_lower[above] = below;
  }

  void AddSegments(std::size_t node, bool has_chain) {
    std::vector<std::size_t>& edges = leaving_[node];
    std::ranges::stable_sort(
        edges, [this](std::size_t a, std::size_t b) { return ranked_.rank[Lower(a)] < ranked_.rank[Lower(b)]; });
    std::vector<Vertex> chain = {static_cast<Vertex>(node)};
    for (const std::size_t edge : edges) {
      const std::size_t below = Lower(edge);
      const std::size_t distance = ranked_.rank[below] - ranked_.rank[node];
      if (distance > 1 && !has_chain) continue;
      while (chain.size() < distance) {
        const Vertex bend = static_cast<Vertex>(ranked_.rank.size());
        Grow(bend + 1);
        ranked_.rank[bend] = ranked_.rank[node] + chain.size();
        AddSegment(chain.back(), bend);
        chain.push_back(bend);
      }
      const Vertex end = static_cast<Vertex>(below);
      AddSegment(chain[distance - 1], end);
      ranked_.bends[edge].assign(chain.begin() + 1, chain.begin() + static_cast<std::ptrdiff_t>(distance));
    }
  }

  const std::vector<LayoutEdge>& edges_;
  std::vector<std::vector<std::size_t>> leaving_;  // by upper end
  RankedGraph ranked_;
};

}  // namespace

RankedGraph RankGraph(std::size_t nodes, const std::vector<LayoutEdge>& edges, std::size_t most_bends) {
  return Ranking(nodes, edges).Take(most_bends);
}

}  // namespace infimum
