// Horizontal places for vertices whose order within ranks is known: neighbours straight below each other where that
// goes, chains of bends always. After Brandes and Koepf, "Fast and Simple Horizontal Coordinate Assignment" (2001):
// four drawings, each aligned with the median neighbours above or below and pushed left or right, and of their four
// places for each vertex the mean of the middle two. Their compaction is replaced by two longest paths over the blocks
// of aligned vertices, since the published one may overlap (its erratum, arXiv 2008.01252).
//
//   ranks {a}, {b, c}, {d} of width 10, gap 5; a->b, a->c, b->d, c->d      b at 5, c at 20, a and d between, at 13
#pragma once

#include <vector>

#include "reports/graph_drawing/graph_ranks.h"

namespace infimum {

// Centres by vertex in whole numbers, the leftmost edge at 0; those of vertices without a rank are 0. `widths`: of
// nodes; bends have none.
std::vector<double> HorizontalPlaces(const RankedGraph& graph, const std::vector<double>& widths,
                                     const LayoutOptions& options);

}  // namespace infimum
