#include "analyzer/gap/cheapest_cover.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace infimum {
namespace {

// More than any layer takes: stands for a layer without a time, which only a region that was measured can make good.
constexpr Latency kUnknown{1e18};

}  // namespace

BestWays::BestWays(std::vector<std::optional<Latency>> times, std::vector<FusionCandidate> regions)
    : times_(std::move(times)), regions_(std::move(regions)), of_layer_(times_.size()) {
  for (std::size_t r = 0; r < regions_.size(); ++r)
    if (!regions_[r].layers.empty()) of_layer_[regions_[r].layers.front()].push_back(r);
}

std::optional<BestWay> BestWays::Of(std::span<const std::size_t> layers) const {
  std::vector<Latency> costs;
  for (const std::size_t layer : layers) costs.push_back(times_[layer].value_or(kUnknown));
  std::vector<FusionCandidate> inside;
  std::vector<std::size_t> places;
  for (const std::size_t first : layers) {
    if (layers.size() == 1) break;  // what is one layer alone is no region
    for (const std::size_t r : of_layer_[first]) {
      FusionCandidate candidate{{}, regions_[r].cost};
      for (const std::size_t layer : regions_[r].layers) {
        const auto place = std::ranges::lower_bound(layers, layer);
        if (place == layers.end() || *place != layer) break;
        candidate.layers.push_back(static_cast<std::size_t>(place - layers.begin()));
      }
      if (candidate.layers.size() != regions_[r].layers.size()) continue;
      inside.push_back(std::move(candidate));
      places.push_back(r);
    }
  }
  BestWay way;
  if (inside.empty()) {
    // In one piece the sum has no rounding that the layers' own times do not have.
    way.latency = std::accumulate(costs.begin(), costs.end(), Latency(0));
  } else {
    const FusionChoice choice = ChooseRegions(costs, inside);
    way.latency = choice.cost;
    for (const std::size_t chosen : choice.chosen) way.regions.push_back(places[chosen]);
  }
  if (way.latency >= kUnknown) return std::nullopt;
  return way;
}

}  // namespace infimum
