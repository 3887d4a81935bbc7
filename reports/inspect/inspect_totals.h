// What a model adds up to, bodies of control flow included, counted once for JSON and table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "infimum/graph/model_graph.h"

namespace infimum {

struct InspectTotals {
  std::size_t layers = 0;
  std::size_t measurable = 0;
  std::size_t free = 0;
  std::size_t unknown = 0;
  std::size_t configurations = 0;  // distinct workloads
  std::size_t open_loops = 0;      // that need not run; one iteration of each is in the sums
  Flops flops;                     // direct, of all layers
  std::int64_t multiply_adds = 0;  // of convolutions and matrix products, without bias: what the literature counts
  Flops conventional_flops;
  Bytes read;
  Bytes written;
  std::int64_t parameters = 0;  // elements of weights that layers compute with, shared ones once
  Bytes parameter_bytes;
  std::size_t sparse_products = 0;      // whose weights are 2:4
  std::optional<WeightSample> weights;  // of the model's own graph, not of bodies
};

InspectTotals TotalsOf(const ModelGraph& graph);

// Elements of the weights that a layer computes with: its operands' (of an unknown layer, every weight).
std::int64_t ParametersOf(const ModelGraph& graph, const Layer& layer);

std::string_view InspectStatus(const Layer& layer);  // "measurable", "free", "unknown"

}  // namespace infimum
