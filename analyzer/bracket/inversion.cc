#include <algorithm>

#include "analyzer/types/bracket.h"

namespace infimum {

void HoldAgainst(UpperLimit limit, Bracket& bracket) {
  const auto hold = [&](std::string bound, Latency latency, Latency low) {
    if (latency > limit.latency)
      bracket.inversions.push_back({std::move(bound), limit.name, latency - limit.latency, low > limit.interval.high});
  };
  hold(std::string(kFloorName), bracket.floor.latency, bracket.floor.latency);
  for (const Bound& bound : bracket.bounds)
    if (bound.variant != BoundVariant::kHeuristic)
      hold(std::string(Name(bound.variant)), bound.latency, bound.interval.low);
  bracket.upper.push_back(std::move(limit));
  std::ranges::stable_sort(bracket.upper, {}, &UpperLimit::latency);
}

}  // namespace infimum
