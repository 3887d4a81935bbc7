// Which regions to run as one: the cheapest way to run every layer once, alone or inside one region (weighted set
// partitioning).
//
//   layers  conv 10, relu 2, add 3, relu 2       regions  {conv, relu} 10.5, {conv, relu, add} 14, {add, relu} 4
//   ChooseRegions  ->  {conv, relu} and {add, relu}: 14.5, exact
//
// Regions that cost no less than their layers alone are never chosen, which takes most of them away. What is left falls
// into components that share no layer. Each is solved exactly by dynamic programming over its layers in order; a state
// is the set of later layers that regions chosen so far have taken. Components whose states would grow beyond
// kMostStates are cut off: the choice is then the best that was kept, and `lower` a relaxation.
//
// The relaxation: any prices p >= 0 of layers with p_i <= cost_i and, for each region, sum of p_i <= its cost (the dual
// of the linear program) add up to no more than any selection costs. The same prices bound every longest path from
// below (FusedPath), so they are worth having where the choice is exact as well.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "infimum/base/units.h"

namespace infimum {

struct FusionCandidate {
  std::vector<std::size_t> layers;  // ascending, at least one
  Latency cost{0};
};

struct FusionChoice {
  std::vector<std::size_t> chosen;  // places in the candidates, ascending by first layer
  Latency cost{0};                  // of this selection
  Latency lower{0};                 // no selection costs less; equals `cost` where exact
  bool exact = true;
};

inline constexpr std::size_t kMostStates = 2048;
FusionChoice ChooseRegions(std::span<const Latency> layer_costs, std::span<const FusionCandidate> candidates,
                           std::size_t most_states = kMostStates);

// Prices as above: first each region's cost is shared among its layers in proportion to theirs and each layer keeps the
// least of its shares; then prices rise one by one as far as every region allows.
std::vector<Latency> LayerPrices(std::span<const Latency> layer_costs, std::span<const FusionCandidate> candidates);

}  // namespace infimum
