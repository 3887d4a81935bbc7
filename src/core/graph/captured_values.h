// Values of a graph that bodies of its layers take from outside by name.
#pragma once

#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

// Ascending, without repeats.
std::vector<ValueId> CapturedValues(const ModelGraph& graph);

}  // namespace infimum
