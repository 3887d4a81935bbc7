// The cheapest way to run exactly some layers of a model, one by one or in regions that were measured. Made once for a
// model, then asked for one row after the other.
//
//   layers  Conv_0 1.0 ms, Relu_1 0.2, Add_2 0.3       regions  {0, 1} 1.05 ms
//   Of({0, 1, 2})  ->  1.35 ms: region 0, and Add_2 alone
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/bounds/fusion_choice.h"

namespace infimum {

struct BestWay {
  Latency latency{0};
  std::vector<std::size_t> regions;  // places in the regions, by first layer; every other layer runs alone
};

class BestWays {
 public:
  // A layer without a time is absent from its entry; layers of regions are indices into `times`.
  BestWays(std::vector<std::optional<Latency>> times, std::vector<FusionCandidate> regions);

  // Of these layers, ascending; absent where one is in no way known.
  std::optional<BestWay> Of(std::span<const std::size_t> layers) const;

 private:
  std::vector<std::optional<Latency>> times_;
  std::vector<FusionCandidate> regions_;
  std::vector<std::vector<std::size_t>> of_layer_;  // regions by their first layer
};

}  // namespace infimum
