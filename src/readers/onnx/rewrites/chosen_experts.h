// Mixtures of experts as exporters write them out: a gather picks slices of a stored weight by what a TopK chose.
//
//   TopK(router, k=2) -> [tokens, 2] -> Reshape -> Gather(w[8, k, n], axis 0) -> batched MatMul
//   2 slices at the least, since the choices of a token differ; 8 at the most
//
// A gather of each gets the quantity moe.experts, as a MoE has it. Its work becomes that of a program which reads each
// slice once, and for all tokens: as many as are stated, else as many as there can be. Where only products read the
// result they read the slices where they are: nothing is written, and nothing read again.
#pragma once

#include "infimum/graph/model_graph.h"
#include "src/core/graph/run_time_quantities.h"

namespace infimum {

// Of a graph whose layers have their work.
void StateChosenExperts(ModelGraph& graph, const StatedQuantities& stated);

}  // namespace infimum
