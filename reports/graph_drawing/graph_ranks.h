// A graph cut into ranks: each segment leads from one rank to the next. Vertices are the nodes, and after them the
// bends of edges that pass ranks. All long edges of a node share one chain of bends, as one tensor is read by many:
//
//   ranks a=0, b=1, c=2, d=3; edges a->b, b->c, a->c, c->d, a->d
//     bends p (rank 1), q (rank 2) of a:  a->p, p->q, p->c, q->d
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reports/graph_drawing/graph_layout.h"

namespace infimum {

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

}  // namespace infimum
