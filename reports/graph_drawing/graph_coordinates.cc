#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "reports/graph_drawing/graph_steps.h"

namespace infimum {
namespace {

constexpr int kSweepsTogether = 6;
constexpr double kFar = std::numeric_limits<double>::infinity();

using Ranks = std::vector<std::vector<Vertex>>;
using Places = std::vector<std::uint32_t>;  // by vertex: its index in its rank

Places PlacesOf(const Ranks& ranks, std::size_t vertices) {
  Places places(vertices, 0);
  for (const auto& rank : ranks)
    for (std::size_t i = 0; i < rank.size(); ++i) places[rank[i]] = static_cast<std::uint32_t>(i);
  return places;
}

// The neighbour that a vertex should stand straight with: along a main edge, else along a chain of bends.
Vertex Preferred(const RankedGraph& graph, Vertex vertex, bool from_above) {
  const Vertex firm = (from_above ? graph.firm_upper : graph.firm_lower)[vertex];
  if (firm != kNoVertex || !graph.is_bend(vertex)) return firm;
  for (const Vertex neighbour : (from_above ? graph.upper : graph.lower)[vertex])
    if (graph.is_bend(neighbour)) return neighbour;
  return kNoVertex;
}

// Segments that cross one that should be straight, and so give way to it: all others to main edges, those that end at
// a node to those between bends.
class GivingWay {
 public:
  explicit GivingWay(const RankedGraph& graph) {
    const Places places = PlacesOf(graph.ranks, graph.rank.size());
    for (std::size_t rank = 1; rank < graph.ranks.size(); ++rank) {
      FindIn(graph, rank, places, [&graph](Vertex below) { return graph.firm_upper[below]; });
      FindIn(graph, rank, places, [&graph](Vertex below) { return Preferred(graph, below, true); });
    }
  }

  bool Contains(Vertex a, Vertex b) const { return !pairs_.empty() && pairs_.contains(Key(a, b)); }

 private:
  static std::uint64_t Key(Vertex a, Vertex b) { return (std::uint64_t{std::min(a, b)} << 32) | std::max(a, b); }

  // Between two straight segments that follow each other, others may only begin between the upper ends of these.
  template <class Straight>
  void FindIn(const RankedGraph& graph, std::size_t rank, const Places& places, const Straight& straight) {
    const std::vector<Vertex>& vertices = graph.ranks[rank];
    std::size_t first = 0, left = 0;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const Vertex firm = straight(vertices[i]);
      if (firm == kNoVertex && i + 1 < vertices.size()) continue;
      const std::size_t right = firm == kNoVertex ? graph.ranks[rank - 1].size() : places[firm];
      for (; first <= i; ++first) {
        const Vertex below = vertices[first];
        for (const Vertex above : graph.upper[below]) {
          const bool is_between = left <= places[above] && places[above] <= right;
          if (!is_between && straight(below) != above) pairs_.insert(Key(above, below));
        }
      }
      left = right;
    }
  }

  std::unordered_set<std::uint64_t> pairs_;
};

// Least distance between the centres of neighbours in a rank.
class Distances {
 public:
  Distances(const RankedGraph& graph, const std::vector<double>& widths, const LayoutOptions& options)
      : graph_(graph), widths_(widths), options_(options) {}

  double operator()(Vertex a, Vertex b) const { return Side(a) + Side(b); }

 private:
  double Side(Vertex vertex) const {
    return graph_.is_bend(vertex) ? options_.bend_gap / 2 : (widths_[vertex] + options_.node_gap) / 2;
  }

  const RankedGraph& graph_;
  const std::vector<double>& widths_;
  const LayoutOptions& options_;
};

struct Side {
  bool from_above;  // aligned with the neighbours above, else below
  bool from_left;   // pushed left, else right
};

class Drawing {
 public:
  Drawing(const RankedGraph& graph, const GivingWay& giving_way, const Distances& distances, Side side)
      : graph_(graph), giving_way_(giving_way), distances_(distances), side_(side), ranks_(graph.ranks) {
    if (!side.from_above) std::ranges::reverse(ranks_);
    if (!side.from_left)
      for (auto& rank : ranks_) std::ranges::reverse(rank);
    Align();
    Compact();
  }

  std::vector<double> TakeCentres() {
    std::vector<double> centres(root_.size(), 0);
    for (Vertex vertex = 0; vertex < centres.size(); ++vertex) {
      const double place = block_place_[root_[vertex]];
      centres[vertex] = side_.from_left ? place : -place;
    }
    return centres;
  }

 private:
  // Each vertex joins the block of its median neighbour in the rank before, unless that is taken or in the way.
  void Align() {
    const std::size_t vertices = graph_.rank.size();
    const Places places = PlacesOf(ranks_, vertices);
    const auto& neighbours = side_.from_above ? graph_.upper : graph_.lower;
    root_.resize(vertices);
    for (Vertex vertex = 0; vertex < vertices; ++vertex) root_[vertex] = vertex;
    std::vector<Vertex> sorted;
    for (const auto& rank : ranks_) {
      std::int64_t taken = -1;
      for (const Vertex vertex : rank) {
        sorted = neighbours[vertex];
        const Vertex preferred = Preferred(graph_, vertex, side_.from_above);
        if (preferred != kNoVertex) sorted = {preferred};
        if (sorted.empty()) continue;
        std::ranges::sort(sorted, [&places](Vertex a, Vertex b) { return places[a] < places[b]; });
        for (const std::size_t median : {(sorted.size() - 1) / 2, sorted.size() / 2}) {
          const Vertex neighbour = sorted[median];
          const Vertex reserved = Preferred(graph_, neighbour, !side_.from_above);
          if (places[neighbour] <= taken || giving_way_.Contains(neighbour, vertex) ||
              (reserved != kNoVertex && reserved != vertex)) {
            continue;
          }
          root_[vertex] = root_[neighbour];
          taken = places[neighbour];
          break;
        }
      }
    }
  }

  // Blocks as far left as their left neighbours let them, then right as far as their right ones do.
  void Compact() {
    struct Next {
      Vertex block;
      double distance;
    };
    const std::size_t vertices = root_.size();
    std::vector<std::vector<Next>> right(vertices);
    std::vector<std::uint32_t> waiting(vertices, 0);
    for (const auto& rank : ranks_) {
      for (std::size_t i = 0; i + 1 < rank.size(); ++i) {
        const Vertex a = root_[rank[i]], b = root_[rank[i + 1]];
        right[a].push_back({b, distances_(rank[i], rank[i + 1])});
        ++waiting[b];
      }
    }
    std::vector<Vertex> order;
    for (Vertex vertex = 0; vertex < vertices; ++vertex)
      if (root_[vertex] == vertex && waiting[vertex] == 0) order.push_back(vertex);
    block_place_.assign(vertices, 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const Next& next : right[order[i]]) {
        block_place_[next.block] = std::max(block_place_[next.block], block_place_[order[i]] + next.distance);
        if (--waiting[next.block] == 0) order.push_back(next.block);
      }
    }
    for (auto block = order.rbegin(); block != order.rend(); ++block) {
      double most = kFar;
      for (const Next& next : right[*block]) most = std::min(most, block_place_[next.block] - next.distance);
      if (most < kFar) block_place_[*block] = std::max(block_place_[*block], most);
    }
  }

  const RankedGraph& graph_;
  const GivingWay& giving_way_;
  const Distances& distances_;
  Side side_;
  Ranks ranks_;                      // as seen from this side
  std::vector<Vertex> root_;         // by vertex: the first of its block
  std::vector<double> block_place_;  // by root
};

// What stands straight moves as a whole towards the median of what it is joined with, as far as its neighbours let it:
// each move shortens segments, and two drawings that pull apart leave wide gaps else.
class DrawingTogether {
 public:
  DrawingTogether(const RankedGraph& graph, const Distances& distances, std::vector<double>& places)
      : graph_(graph), distances_(distances), places_(places), index_(PlacesOf(graph.ranks, graph.rank.size())) {}

  void Sweep(bool from_above) {
    is_moved_.assign(places_.size(), 0);
    const std::size_t ranks = graph_.ranks.size();
    for (std::size_t i = 0; i < ranks; ++i)
      for (const Vertex vertex : graph_.ranks[from_above ? i : ranks - 1 - i])
        if (is_moved_[vertex] == 0) Move(vertex);
  }

 private:
  bool AreStraight(Vertex a, Vertex b) const { return std::abs(places_[a] - places_[b]) < kStraight; }

  void Move(Vertex start) {
    block_ = {start};
    is_moved_[start] = 1;
    pulls_.clear();
    double left = -kFar, right = kFar;
    for (std::size_t i = 0; i < block_.size(); ++i) {
      const Vertex vertex = block_[i];
      for (const auto* neighbours : {&graph_.upper[vertex], &graph_.lower[vertex]}) {
        for (const Vertex neighbour : *neighbours) {
          if (!AreStraight(vertex, neighbour)) {
            pulls_.push_back(places_[neighbour] - places_[vertex]);
          } else if (is_moved_[neighbour] == 0) {
            is_moved_[neighbour] = 1;
            block_.push_back(neighbour);
          }
        }
      }
      const auto& rank = graph_.ranks[graph_.rank[vertex]];
      const std::size_t at = index_[vertex];
      if (at > 0) left = std::max(left, places_[rank[at - 1]] + distances_(rank[at - 1], vertex) - places_[vertex]);
      if (at + 1 < rank.size())
        right = std::min(right, places_[rank[at + 1]] - distances_(vertex, rank[at + 1]) - places_[vertex]);
    }
    if (pulls_.empty()) return;
    // Of an even number of pulls every place between the middle two is as good: the nearest.
    std::ranges::sort(pulls_);
    const double low = pulls_[(pulls_.size() - 1) / 2], high = pulls_[pulls_.size() / 2];
    const double wanted = std::clamp(0.0, low, high);
    const double shift = wanted < 0 ? std::max(wanted, std::min(left, 0.0)) : std::min(wanted, std::max(right, 0.0));
    for (const Vertex vertex : block_) places_[vertex] += shift;
  }

  static constexpr double kStraight = 1e-3;

  const RankedGraph& graph_;
  const Distances& distances_;
  std::vector<double>& places_;
  Places index_;
  std::vector<std::uint8_t> is_moved_;
  std::vector<Vertex> block_;  // what moves now
  std::vector<double> pulls_;  // how far its neighbours are aside
};

void DrawTogether(const RankedGraph& graph, const Distances& distances, std::vector<double>& places) {
  DrawingTogether drawing(graph, distances, places);
  for (int sweep = 0; sweep < kSweepsTogether; ++sweep) drawing.Sweep(sweep % 2 == 0);
}

struct Extent {
  double low = kFar;
  double high = -kFar;
};

Extent ExtentOf(const RankedGraph& graph, const std::vector<double>& widths, const std::vector<double>& centres) {
  Extent extent;
  for (Vertex vertex = 0; vertex < centres.size(); ++vertex) {
    if (graph.rank[vertex] == kNoRank) continue;
    const double half = graph.is_bend(vertex) ? 0 : widths[vertex] / 2;
    extent.low = std::min(extent.low, centres[vertex] - half);
    extent.high = std::max(extent.high, centres[vertex] + half);
  }
  return extent;
}

}  // namespace

std::vector<double> HorizontalPlaces(const RankedGraph& graph, const std::vector<double>& widths,
                                     const LayoutOptions& options) {
  std::vector<double> places(graph.rank.size(), 0);
  if (graph.ranks.empty()) return places;
  const GivingWay giving_way(graph);
  const Distances distances(graph, widths, options);
  constexpr std::array<Side, 4> kSides = {Side{true, true}, Side{true, false}, Side{false, true}, Side{false, false}};
  std::array<std::vector<double>, 4> drawings;
  std::array<Extent, 4> extents;
  std::size_t narrowest = 0;
  for (std::size_t i = 0; i < kSides.size(); ++i) {
    drawings[i] = Drawing(graph, giving_way, distances, kSides[i]).TakeCentres();
    extents[i] = ExtentOf(graph, widths, drawings[i]);
    if (extents[i].high - extents[i].low < extents[narrowest].high - extents[narrowest].low) narrowest = i;
  }
  for (std::size_t i = 0; i < kSides.size(); ++i) {
    const double shift =
        kSides[i].from_left ? extents[narrowest].low - extents[i].low : extents[narrowest].high - extents[i].high;
    for (double& centre : drawings[i]) centre += shift;
  }
  for (Vertex vertex = 0; vertex < places.size(); ++vertex) {
    if (graph.rank[vertex] == kNoRank) continue;
    std::array<double, 4> four{};
    for (std::size_t i = 0; i < four.size(); ++i) four[i] = drawings[i][vertex];
    std::ranges::sort(four);
    places[vertex] = (four[1] + four[2]) / 2;
  }
  DrawTogether(graph, distances, places);
  // Whole numbers, so that what stands straight is straight for those who compare.
  const double low = ExtentOf(graph, widths, places).low;
  for (Vertex vertex = 0; vertex < places.size(); ++vertex)
    if (graph.rank[vertex] != kNoRank) places[vertex] = std::round(places[vertex] - low);
  return places;
}

}  // namespace infimum
