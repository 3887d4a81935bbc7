// What frameworks are known to do and no candidate here does, where a model has places for it: there a run may be
// faster than the best known kernels.
//
//   BERT-base      12 of {"products of one input as one"}
//   MobileNetV2    17 of {"depthwise convolutions with the pointwise one behind them"}
//
// A pair that a measured region covers is tried. Of kinds that every model could use (tiles through several layers,
// sums of products in parts of less precision) nothing is said; neither of the bodies of control flow.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/types/layer_time.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

struct NotTried {
  std::string_view what;  // in words, of more than one
  std::size_t places = 0;

  friend bool operator==(const NotTried&, const NotTried&) = default;
};

// Kinds without a place are left out. `is_direct`, one entry for each layer: of its measured candidates none may do
// fewer sums than the textbook.
std::vector<NotTried> FindNotTried(const ModelGraph& graph, const std::vector<bool>& is_direct,
                                   std::span<const RegionLatency> regions);

}  // namespace infimum
