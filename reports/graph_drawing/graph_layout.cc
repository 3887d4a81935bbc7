#include "reports/graph_drawing/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reports/graph_drawing/graph_steps.h"

namespace infimum {
namespace {

// Curves that go far sideways get more height, up to so much in all.
constexpr double kHeightPerWidth = 0.06;
constexpr double kMostExtraHeight = 44;

struct Band {
  double top = 0;  // of its column
  double bottom = 0;
  std::size_t column = 0;
};

struct Gutter {
  std::vector<Vertex> lanes;  // vertices whose edges pass it, the innermost first
  double left = 0;            // of its first lane
  double column_bottom = 0;
};

// Places of one drawing, filled step by step.
class Placing {
 public:
  Placing(const std::vector<NodeSize>& nodes, const LayoutOptions& options, RankedGraph graph)
      : nodes_(nodes), options_(options), graph_(std::move(graph)) {
    std::vector<double> widths;
    for (const NodeSize& node : nodes) widths.push_back(node.width);
    x_ = HorizontalPlaces(graph_, widths, options);
    PlaceRanks();
    PlaceNodesWithoutEdges();
  }

  GraphLayout Take(const std::vector<LayoutEdge>& edges) {
    layout_.routes.resize(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].from >= nodes_.size() || edges[i].to >= nodes_.size() || edges[i].from == edges[i].to) continue;
      const bool is_reversed = graph_.is_reversed[i] != 0;
      const auto above = static_cast<Vertex>(is_reversed ? edges[i].to : edges[i].from);
      const auto below = static_cast<Vertex>(is_reversed ? edges[i].from : edges[i].to);
      layout_.routes[i] = RouteOf(above, below, graph_.bends[i]);
      if (is_reversed) std::ranges::reverse(layout_.routes[i]);
    }
    return std::move(layout_);
  }

 private:
  double HalfWidth(Vertex vertex) const { return graph_.is_bend(vertex) ? 0 : nodes_[vertex].width / 2; }

  std::vector<ColumnRank> MeasureRanks() const {
    std::vector<ColumnRank> measured;
    for (const auto& rank : graph_.ranks) {
      ColumnRank& row = measured.emplace_back();
      row.joints = graph_.joints[measured.size() - 1];
      row.left = std::numeric_limits<double>::infinity();
      row.right = -row.left;
      double aside = 0;
      for (const Vertex vertex : rank) {
        row.left = std::min(row.left, x_[vertex] - HalfWidth(vertex));
        row.right = std::max(row.right, x_[vertex] + HalfWidth(vertex));
        if (!graph_.is_bend(vertex)) row.height = std::max(row.height, nodes_[vertex].height);
        row.lanes += !graph_.lower[vertex].empty();
        for (const Vertex below : graph_.lower[vertex]) aside = std::max(aside, std::abs(x_[vertex] - x_[below]));
      }
      row.height += options_.rank_gap + std::round(std::min(kMostExtraHeight, kHeightPerWidth * aside));
    }
    return measured;
  }

  void PlaceRanks() {
    const std::vector<ColumnRank> ranks = MeasureRanks();
    const std::vector<std::size_t> starts = ColumnStarts(ranks, options_.aspect);
    layout_.columns = starts.size();
    double x = 0, highest_lane = 0;
    for (std::size_t column = 0; column < starts.size(); ++column) {
      const std::size_t end = column + 1 < starts.size() ? starts[column + 1] : ranks.size();
      double left = std::numeric_limits<double>::infinity(), right = -left, y = 0;
      for (std::size_t rank = starts[column]; rank < end; ++rank) {
        double height = 0;
        for (const Vertex vertex : graph_.ranks[rank])
          if (!graph_.is_bend(vertex)) height = std::max(height, nodes_[vertex].height);
        bands_.push_back({y, y + height, column});
        y += ranks[rank].height;
        left = std::min(left, ranks[rank].left);
        right = std::max(right, ranks[rank].right);
      }
      if (end == starts[column]) break;  // no ranks at all
      for (std::size_t rank = starts[column]; rank < end; ++rank)
        for (const Vertex vertex : graph_.ranks[rank]) x_[vertex] += x - left;
      x += right - left;
      double bottom = bands_.back().bottom;
      if (end < ranks.size()) {
        Gutter& gutter = gutters_.emplace_back();
        for (const Vertex vertex : graph_.ranks[end - 1])
          if (!graph_.lower[vertex].empty()) gutter.lanes.push_back(vertex);
        // The innermost lane is that of the rightmost vertex: lanes of one gutter do not cross at its bottom.
        std::ranges::reverse(gutter.lanes);
        const double lanes = kLane * static_cast<double>(gutter.lanes.size());
        gutter.left = x + kGutter / 2;
        gutter.column_bottom = bottom;
        x += kGutter + lanes;
        bottom += kMargin + lanes;
        highest_lane = std::max(highest_lane, kMargin + lanes);
      }
      layout_.height = std::max(layout_.height, bottom);
    }
    // Room above the columns for the lanes.
    for (Band& band : bands_) {
      band.top += highest_lane;
      band.bottom += highest_lane;
    }
    for (Gutter& gutter : gutters_) gutter.column_bottom += highest_lane;
    layout_.height += highest_lane;
    column_top_ = highest_lane;
    layout_.width = x;
    layout_.nodes.resize(nodes_.size());
    for (const auto& rank : graph_.ranks) {
      for (const Vertex vertex : rank) {
        const Band& band = bands_[graph_.rank[vertex]];
        if (!graph_.is_bend(vertex)) layout_.nodes[vertex] = {x_[vertex], (band.top + band.bottom) / 2};
      }
    }
  }

  // In lines below the others.
  void PlaceNodesWithoutEdges() {
    double area = 0;
    std::vector<std::size_t> alone;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (graph_.rank[node] != kNoRank) continue;
      alone.push_back(node);
      area += (nodes_[node].width + options_.node_gap) * (nodes_[node].height + options_.node_gap);
    }
    const double most_width = std::max(layout_.width, std::sqrt(area * options_.aspect));
    double x = 0, y = layout_.height + (layout_.height > 0 ? options_.rank_gap : 0), line = 0;
    for (const std::size_t node : alone) {
      const NodeSize& size = nodes_[node];
      if (x > 0 && x + size.width > most_width) {
        x = 0;
        y += line + options_.node_gap;
        line = 0;
      }
      layout_.nodes[node] = {x + size.width / 2, y + size.height / 2};
      line = std::max(line, size.height);
      layout_.width = std::max(layout_.width, x + size.width);
      layout_.height = std::max(layout_.height, y + size.height);
      x += size.width + options_.node_gap;
    }
  }

  std::vector<LayoutPoint> RouteOf(Vertex above, Vertex below, const std::vector<Vertex>& bends) const {
    std::vector<LayoutPoint> points;
    // An edge without its bends goes straight.
    if (bends.empty() && graph_.rank[below] > graph_.rank[above] + 1) return points;
    Vertex from = above;
    for (std::size_t i = 0; i <= bends.size(); ++i) {
      const Vertex to = i < bends.size() ? bends[i] : below;
      AddStep(from, to, points);
      from = to;
    }
    return WithoutEnds(Simplified(std::move(points)), above, below);
  }

  // From the lower edge of one band to the upper edge of the next, around where the next stands in another column.
  void AddStep(Vertex from, Vertex to, std::vector<LayoutPoint>& points) const {
    const Band& upper = bands_[graph_.rank[from]];
    const Band& lower = bands_[graph_.rank[to]];
    points.push_back({x_[from], upper.bottom});
    if (upper.column != lower.column) {
      const Gutter& gutter = gutters_[upper.column];
      const auto found = std::ranges::find(gutter.lanes, from);
      const auto inside = static_cast<double>(found - gutter.lanes.begin());
      const auto outside = static_cast<double>(gutter.lanes.end() - found) - 1;
      const double x = gutter.left + kLane * inside;
      const double bottom = gutter.column_bottom + kMargin + kLane * inside;
      const double top = column_top_ - kMargin - kLane * outside;
      points.insert(points.end(), {{x_[from], bottom}, {x, bottom}, {x, top}, {x_[to], top}});
    }
    points.push_back({x_[to], lower.top});
  }

  // Without points in the middle of a line.
  static std::vector<LayoutPoint> Simplified(std::vector<LayoutPoint> points) {
    std::vector<LayoutPoint> kept;
    for (const LayoutPoint& point : points) {
      const auto in_line = [&point](const LayoutPoint& a, const LayoutPoint& b) {
        return (a.x == b.x && b.x == point.x) || (a.y == b.y && b.y == point.y);
      };
      while (kept.size() > 1 && in_line(kept[kept.size() - 2], kept.back())) kept.pop_back();
      if (kept.empty() || kept.back() != point) kept.push_back(point);
    }
    return kept;
  }

  // The ends are known from the nodes, where these are as high as their band.
  std::vector<LayoutPoint> WithoutEnds(std::vector<LayoutPoint> points, Vertex above, Vertex below) const {
    const auto is_end = [this](const LayoutPoint& point, Vertex vertex, double side) {
      const LayoutPoint& centre = layout_.nodes[vertex];
      return point.x == centre.x && std::abs(centre.y + side * nodes_[vertex].height / 2 - point.y) < 0.5;
    };
    if (!points.empty() && is_end(points.back(), below, -1)) points.pop_back();
    if (!points.empty() && is_end(points.front(), above, 1)) points.erase(points.begin());
    // Straight down from node to node.
    const double x = layout_.nodes[above].x;
    if (x == layout_.nodes[below].x && std::ranges::all_of(points, [x](const LayoutPoint& at) { return at.x == x; }))
      points.clear();
    return points;
  }

  const std::vector<NodeSize>& nodes_;
  const LayoutOptions& options_;
  RankedGraph graph_;
  std::vector<double> x_;        // by vertex, its centre
  std::vector<Band> bands_;      // by rank
  std::vector<Gutter> gutters_;  // by the column before it
  double column_top_ = 0;
  GraphLayout layout_;
};

}  // namespace

GraphLayout LayOutGraph(const std::vector<NodeSize>& nodes, const std::vector<LayoutEdge>& edges,
                        const LayoutOptions& options) {
  RankedGraph graph = RankGraph(nodes.size(), edges, options.most_bends);
  OrderByDiscovery(graph);
  ReduceCrossings(graph);
  return Placing(nodes, options, std::move(graph)).Take(edges);
}

}  // namespace infimum
