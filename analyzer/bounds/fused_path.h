// The longest path through a graph in which some layers run as one.
//
//   A(1) -> B(10), A -> C(10)        longest path 11
//   A and B as one in 10.5:          C waits for both, 10.5 + 10 = 20.5: fusing what others wait for may cost time
//
// A selection is valid where the regions do not wait for each other in a circle; convex regions alone do not rule that
// out.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/bounds/fusion_choice.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

// `predecessors[i]` before i; the regions share no layer. nullopt where they wait for each other in a circle.
std::optional<Latency> FusedPath(const std::vector<std::vector<LayerId>>& predecessors,
                                 std::span<const Latency> layer_times, std::span<const FusionCandidate> regions,
                                 std::span<const std::size_t> chosen);

}  // namespace infimum
