// Where the layers of a graph stand in a picture of it: in ranks from top to bottom, so that data flows downwards, and
// once that becomes too tall, in columns from left to right, as text does. Plain values in, plain values out; equal
// inputs give equal outputs on every machine, so that equal reports stay equal bytes.
//
//   nodes of 40 x 20; edges 0 -> 1 and 1 -> 2, main ones, and 0 -> 2
//
//     0         (20, 10)
//     | )
//     1  |      (20, 58)     0 -> 2 passes it by (57, 48) and (57, 68)
//     | )
//     2         (20, 106)
//
// After Sugiyama: ranks by the longest path from the sources (graph_ranks), bends where an edge passes a rank, one
// chain of bends for all edges of a node (they carry the same tensor), order within ranks by sweeps (graph_ordering),
// coordinates after Brandes and Koepf (graph_coordinates), columns (graph_columns). Near-linear in nodes, edges and
// bends; the bends are limited, edges beyond that go straight. Cycles and ends out of range are survived: an edge that
// closes a cycle goes upwards, one without ends has no route.
#pragma once

#include <cstddef>
#include <vector>

namespace infimum {

struct NodeSize {
  double width = 0;
  double height = 0;
};

struct LayoutEdge {
  std::size_t from = 0;  // indices into the nodes
  std::size_t to = 0;
  bool is_main = false;    // kept straight where one of its ends has a choice
  bool is_joined = false;  // its ends belong together: kept straight, and in one column
};

struct LayoutPoint {
  double x = 0;
  double y = 0;

  friend bool operator==(const LayoutPoint&, const LayoutPoint&) = default;
};

struct LayoutOptions {
  double aspect = 1.8;  // width by height of the space that the picture is fitted into
  double node_gap = 24;
  double bend_gap = 10;  // between two edges that pass side by side
  double rank_gap = 26;  // at least
  std::size_t most_bends = 60'000;
};

struct GraphLayout {
  double width = 0;
  double height = 0;
  std::size_t columns = 1;
  std::vector<LayoutPoint> nodes;  // centres
  // For each edge what lies between its ends, from the bottom of one to the top of the other. Two points of equal x or
  // y are joined by a line, others by a curve that leaves and arrives vertically.
  std::vector<std::vector<LayoutPoint>> routes;
};

GraphLayout LayOutGraph(const std::vector<NodeSize>& nodes, const std::vector<LayoutEdge>& edges,
                        const LayoutOptions& options = {});

}  // namespace infimum
