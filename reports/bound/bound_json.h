// What `infimum bound --format json` prints: the bracket under the schema infimum.bound/1.
#pragma once

#include <string>

#include "analyzer/bracket/bracket.h"

namespace infimum {

// Keys as the README of reports lists them; the coverage adds up to 1; a missing layer's latency_us is null.
// `bracket` must be of `graph`: one LayerLatency for each of its layers.
std::string BoundJson(const ModelGraph& graph, const Bracket& bracket);

}  // namespace infimum
