// Gives every layer its workload, or the reason why it costs nothing or is not known.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "infimum/graph/model_graph.h"

namespace infimum {

// Versions of the operator sets by domain; "" is ONNX itself.
using Opsets = std::map<std::string, std::int64_t, std::less<>>;

// Lowers each layer whose reason is empty, and counts the work of all. Bodies have been classified before.
void ClassifyLayers(ModelGraph& graph, const Opsets& opsets);

}  // namespace infimum
