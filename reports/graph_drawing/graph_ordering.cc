#include <algorithm>
#include <utility>

#include "reports/graph_drawing/graph_steps.h"

namespace infimum {
namespace {

constexpr std::size_t kMostSweeps = 24;
constexpr std::size_t kLeastSweeps = 4;
constexpr std::size_t kWork = 1'500'000;  // vertices and segments visited, about

using Places = std::vector<std::uint32_t>;  // by vertex: its index in its rank

void NotePlaces(const std::vector<Vertex>& rank, Places& places) {
  for (std::size_t i = 0; i < rank.size(); ++i) places[rank[i]] = static_cast<std::uint32_t>(i);
}

Places PlacesOf(const RankedGraph& graph) {
  Places places(graph.rank.size(), 0);
  for (const auto& rank : graph.ranks) NotePlaces(rank, places);
  return places;
}

// Counts with a Fenwick tree over the places below: segments that end right of this one's end, but begin left of it.
std::size_t CrossingsBelow(const RankedGraph& graph, std::size_t rank, const Places& places,
                           std::vector<std::uint32_t>& tree, std::vector<std::uint32_t>& ends) {
  const std::size_t size = graph.ranks[rank + 1].size();
  tree.assign(size + 1, 0);
  std::size_t crossings = 0, seen = 0;
  for (const Vertex above : graph.ranks[rank]) {
    ends.clear();
    for (const Vertex below : graph.lower[above]) ends.push_back(places[below]);
    for (const std::uint32_t end : ends) {
      std::size_t not_right = 0;
      for (std::size_t i = end + 1; i > 0; i &= i - 1) not_right += tree[i];
      crossings += seen - not_right;
    }
    for (const std::uint32_t end : ends)
      for (std::size_t i = end + 1; i <= size; i += i & (~i + 1)) ++tree[i];
    seen += ends.size();
  }
  return crossings;
}

std::size_t CountCrossings(const RankedGraph& graph, const Places& places) {
  std::vector<std::uint32_t> tree, ends;
  std::size_t crossings = 0;
  for (std::size_t rank = 0; rank + 1 < graph.ranks.size(); ++rank)
    crossings += CrossingsBelow(graph, rank, places, tree, ends);
  return crossings;
}

// By the mean place of the neighbours; who has none stays where it is.
void SortRank(std::vector<Vertex>& rank, const std::vector<std::vector<Vertex>>& neighbours, Places& places) {
  std::vector<std::pair<double, Vertex>> sorted;
  for (const Vertex vertex : rank) {
    if (neighbours[vertex].empty()) continue;
    double sum = 0;
    for (const Vertex neighbour : neighbours[vertex]) sum += places[neighbour];
    sorted.emplace_back(sum / static_cast<double>(neighbours[vertex].size()), vertex);
  }
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t next = 0;
  for (Vertex& vertex : rank)
    if (!neighbours[vertex].empty()) vertex = sorted[next++].second;
  NotePlaces(rank, places);
}

// Of two vertices side by side: crossings of their segments to one neighbouring rank, as they stand and exchanged.
std::pair<std::size_t, std::size_t> PairCrossings(const std::vector<Vertex>& left, const std::vector<Vertex>& right,
                                                  const Places& places) {
  std::size_t now = 0, exchanged = 0;
  for (const Vertex a : left) {
    for (const Vertex b : right) {
      now += places[a] > places[b];
      exchanged += places[a] < places[b];
    }
  }
  return {now, exchanged};
}

// Hubs are left to the sweeps: every pair of their segments would be looked at.
constexpr std::size_t kMostPairs = 4096;

void ExchangeNeighbours(RankedGraph& graph, Places& places) {
  for (std::vector<Vertex>& rank : graph.ranks) {
    for (std::size_t i = 0; i + 1 < rank.size(); ++i) {
      const Vertex left = rank[i], right = rank[i + 1];
      if (graph.upper[left].size() * graph.upper[right].size() > kMostPairs ||
          graph.lower[left].size() * graph.lower[right].size() > kMostPairs) {
        continue;
      }
      const auto [above, above_exchanged] = PairCrossings(graph.upper[left], graph.upper[right], places);
      const auto [below, below_exchanged] = PairCrossings(graph.lower[left], graph.lower[right], places);
      if (above_exchanged + below_exchanged >= above + below) continue;
      std::swap(rank[i], rank[i + 1]);
      std::swap(places[left], places[right]);
    }
  }
}

}  // namespace

void OrderByDiscovery(RankedGraph& graph) {
  std::vector<std::uint8_t> is_found(graph.rank.size(), 0);
  std::vector<std::pair<Vertex, std::size_t>> way;
  const auto find = [&](Vertex vertex) {
    is_found[vertex] = 1;
    graph.ranks[graph.rank[vertex]].push_back(vertex);
    way.emplace_back(vertex, 0);
  };
  for (auto& rank : graph.ranks) rank.clear();
  for (Vertex start = 0; start < graph.rank.size(); ++start) {
    if (graph.rank[start] == kNoRank || !graph.upper[start].empty() || is_found[start] != 0) continue;
    find(start);
    while (!way.empty()) {
      auto& [vertex, next] = way.back();
      if (next == graph.lower[vertex].size()) {
        way.pop_back();
        continue;
      }
      const Vertex below = graph.lower[vertex][next++];
      if (is_found[below] == 0) find(below);
    }
  }
}

void ReduceCrossings(RankedGraph& graph) {
  std::size_t size = graph.rank.size();
  for (const auto& lower : graph.lower) size += lower.size();
  const std::size_t sweeps = std::clamp(kWork / (size + 1), kLeastSweeps, kMostSweeps);
  Places places = PlacesOf(graph);
  std::vector<std::vector<Vertex>> best = graph.ranks;
  std::size_t least = CountCrossings(graph, places);
  std::size_t without_gain = 0;
  for (std::size_t sweep = 0; sweep < sweeps && least > 0 && without_gain < 6; ++sweep) {
    if (sweep % 2 == 0) {
      for (std::size_t rank = 1; rank < graph.ranks.size(); ++rank) SortRank(graph.ranks[rank], graph.upper, places);
    } else {
      for (std::size_t rank = graph.ranks.size() - 1; rank-- > 0;) SortRank(graph.ranks[rank], graph.lower, places);
    }
    ExchangeNeighbours(graph, places);
    const std::size_t crossings = CountCrossings(graph, places);
    ++without_gain;
    if (crossings >= least) continue;
    least = crossings;
    best = graph.ranks;
    without_gain = 0;
  }
  graph.ranks = std::move(best);
}

std::size_t Crossings(const RankedGraph& graph) { return CountCrossings(graph, PlacesOf(graph)); }

}  // namespace infimum
