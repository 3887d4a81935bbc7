// Engine layers that no name leads to, matched with the model's layers by what they do, the shapes of what they read
// and write, and their order.
//
//   engine   Convolution 1x64x56x56 -> 1x256x56x56     the 2nd of three such
//   model    Conv n10, n24, n31 with these shapes       -> n24
//
// First what shapes alone determine: where engine and model have as many layers of one kind and shapes, the k-th is
// the k-th. Then, between neighbours that are known, the next layer of the kind whose shapes do not contradict. Only
// layers that compute something are matched so: what moves data may be the engine's own.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/alignment/operator_kinds.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

// `known[e]` is the model's layer that engine layer e is matched with already, `taken[i]` whether layer i is anybody's,
// and `open[e]` whether one is looked for. What was found, for each engine layer: no layer, one, or several that it
// runs as one. A batch normalization that the model has no layer for is the convolution before it, which is then found
// twice.
std::vector<std::vector<std::size_t>> MatchByOrder(const ModelGraph& graph, const RunProfile& run,
                                                   const std::vector<std::optional<std::size_t>>& known,
                                                   const std::vector<bool>& taken, const std::vector<bool>& open);

// How many times as much the run's convolutions and matmuls read as those of the model with the same weights: 4 of a
// run of batch 4 and a model of batch 1. Nothing where they do not agree on it, or fewer than two are known.
std::optional<double> ScaleOf(const ModelGraph& graph, const RunProfile& run);

}  // namespace infimum
