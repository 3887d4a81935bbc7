// Which values of a graph are the same elements in the same memory.
//
//   conv -> y1 (1x64x7x7), Reshape -> y2 (1x3136)      RootsOfViews(graph)[y2] == y1
//
// A view is what a free layer without bodies makes of a value that no weight folds into: it looks at the first of the
// layer's inputs that has as many elements of the same type.
#pragma once

#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

// For each value the one that it is a view of, over any number of views; itself where it is none.
std::vector<ValueId> RootsOfViews(const ModelGraph& graph);

}  // namespace infimum
