#include <algorithm>

#include "infimum/analyzer/bracket.h"

namespace infimum {

void HoldAgainst(UpperLimit limit, Bracket& bracket) {
  for (const Bound& bound : bracket.bounds) {
    if (!(bound.latency > limit.latency)) continue;
    const bool apart = bound.interval.low > limit.interval.high;
    bracket.inversions.push_back({bound.variant, limit.name, bound.latency - limit.latency, apart});
  }
  bracket.upper.push_back(std::move(limit));
  std::ranges::stable_sort(bracket.upper, {}, &UpperLimit::latency);
}

}  // namespace infimum
