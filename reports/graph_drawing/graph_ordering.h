// The order of vertices within their ranks, so that few segments cross.
//
//   a b        a->d, b->c   crosses once;  ranks {a, b}, {d, c}: not at all
//   c d
#pragma once

#include <cstddef>

#include "reports/graph_drawing/graph_ranks.h"

namespace infimum {

// Fills graph.ranks in the order in which a depth-first search from the sources finds the vertices: neighbours of
// neighbours stand together.
void OrderByDiscovery(RankedGraph& graph);

// Sorts ranks by the mean place of their neighbours, downwards and upwards in turn, and exchanges neighbours that cross
// less the other way round; a bounded number of times. Keeps the best order seen: never more crossings than before.
void ReduceCrossings(RankedGraph& graph);

// Pairs of segments that cross.
std::size_t Crossings(const RankedGraph& graph);

}  // namespace infimum
