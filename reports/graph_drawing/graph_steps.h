// The steps by which a graph is laid out, in their order: ranks, the order within them, horizontal places, columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reports/graph_drawing/graph_layout.h"

namespace infimum {

// A graph cut into ranks: each segment leads from one rank to the next. Vertices are the nodes, and after them the
// bends of edges that pass ranks. All long edges of a node share one chain of bends, as one tensor is read by many:
//
//   ranks a=0, b=1, c=2, d=3; edges a->b, b->c, a->c, c->d, a->d
//     bends p (rank 1), q (rank 2) of a:  a->p, p->q, p->c, q->d
using Vertex = std::uint32_t;
inline constexpr Vertex kNoVertex = 0xffffffff;
inline constexpr std::size_t kNoRank = static_cast<std::size_t>(-1);

struct RankedGraph {
  std::size_t nodes = 0;                   // vertices from here on are bends
  std::vector<std::size_t> rank;           // by vertex; kNoRank: a node without edges
  std::vector<std::vector<Vertex>> upper;  // by vertex: neighbours in the rank above
  std::vector<std::vector<Vertex>> lower;  // and below
  std::vector<Vertex> firm_upper;          // by vertex: the neighbour above that it should stand right below, if any
  std::vector<Vertex> firm_lower;          // the same seen from above
  std::vector<std::vector<Vertex>> ranks;  // vertices from left to right
  std::vector<std::vector<Vertex>> bends;  // by edge, from its upper to its lower end
  std::vector<std::uint8_t> is_reversed;   // by edge: it would close a cycle, and goes upwards
  std::vector<std::size_t> joints;         // by rank: segments to the next one that join what belongs together

  bool is_bend(Vertex vertex) const { return vertex >= nodes; }
};

// Ranks by longest path from the sources; what feeds one node only stands right above it.
RankedGraph RankGraph(std::size_t nodes, const std::vector<LayoutEdge>& edges, std::size_t most_bends);

// The order of vertices within their ranks, so that few segments cross.
//
//   a b        a->d, b->c   crosses once;  ranks {a, b}, {d, c}: not at all
//   c d

// Fills graph.ranks in the order in which a depth-first search from the sources finds the vertices: neighbours of
// neighbours stand together.
void OrderByDiscovery(RankedGraph& graph);

// Sorts ranks by the mean place of their neighbours, downwards and upwards in turn, and exchanges neighbours that cross
// less the other way round; a bounded number of times. Keeps the best order seen: never more crossings than before.
void ReduceCrossings(RankedGraph& graph);

// Pairs of segments that cross.
std::size_t Crossings(const RankedGraph& graph);

// Horizontal places for vertices whose order within ranks is known: neighbours straight below each other where that
// goes, chains of bends always. After Brandes and Koepf, "Fast and Simple Horizontal Coordinate Assignment" (2001):
// four drawings, each aligned with the median neighbours above or below and pushed left or right, and of their four
// places for each vertex the mean of the middle two. Their compaction is replaced by two longest paths over the blocks
// of aligned vertices, since the published one may overlap (its erratum, arXiv 2008.01252).
//
//   ranks {a}, {b, c}, {d} of width 10, gap 5; a->b, a->c, b->d, c->d      b at 5, c at 20, a and d between, at 13
//
// Centres by vertex in whole numbers, the leftmost edge at 0; those of vertices without a rank are 0. `widths`: of
// nodes; bends have none.
std::vector<double> HorizontalPlaces(const RankedGraph& graph, const std::vector<double>& widths,
                                     const LayoutOptions& options);

// Ranks in columns, as text is set: the picture of a network of a hundred ranks is a thin strip else, of which nothing
// can be read once it fits a page. A column ends where few edges lead on, and not between what belongs together.
//
//   100 ranks of height 10 and width 20, space of 18 x 10:   6 columns of 16 or 17 ranks, gutters between

// What may be cut: rank by rank from the top.
struct ColumnRank {
  double height = 0;  // with the gap below
  double left = 0;    // of the leftmost vertex
  double right = 0;
  std::size_t lanes = 0;   // vertices whose edges lead on to the next rank
  std::size_t joints = 0;  // segments to the next rank that should not be cut
};

inline constexpr double kLane = 8;     // between edges side by side in a gutter
inline constexpr double kGutter = 36;  // a gutter's width without its lanes
inline constexpr double kMargin = 12;  // between a column and the first lane below or above it

// The rank that each column starts with; the first is 0. One column where more do not let the picture be shown larger.
std::vector<std::size_t> ColumnStarts(const std::vector<ColumnRank>& ranks, double aspect);

}  // namespace infimum
