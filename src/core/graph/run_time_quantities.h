// Numbers that only a run decides, and that may be stated beforehand as dimensions are: by kind for all layers, or for
// one.
//
//   --assume moe.experts=2                 every layer of experts reads two of them
//   --assume kept.elements@NonZero_12=300  this layer keeps 300
//   StatedFor({{"moe.experts", 2}}, "moe.experts", "MoE_3")   ->   2
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace infimum {

inline constexpr std::string_view kCachePositions = "cache.positions";
inline constexpr std::string_view kIfThen = "if.then";
inline constexpr std::string_view kKeptElements = "kept.elements";
inline constexpr std::string_view kLoopTrips = "loop.trips";
inline constexpr std::string_view kMoeExperts = "moe.experts";

struct QuantityKind {
  std::string_view name;
  std::string_view meaning;
};
inline constexpr QuantityKind kQuantityKinds[] = {
    {kCachePositions, "positions of a cache that are valid before an inference"},
    {kIfThen, "1 where the condition of an If holds, else 0"},
    {kKeptElements, "elements that NonZero, NonMaxSuppression, Compress or Unique keeps"},
    {kLoopTrips, "iterations of a Loop"},
    {kMoeExperts, "distinct experts that an inference reads in a layer"},
};

// As dimensions are stated, by name: "moe.experts", or of one layer "moe.experts@MoE_3".
using StatedQuantities = std::map<std::string, std::int64_t>;

inline std::string_view KindOfQuantity(std::string_view name) { return name.substr(0, name.find('@')); }
inline bool IsQuantity(std::string_view name) {
  return std::ranges::find(kQuantityKinds, KindOfQuantity(name), &QuantityKind::name) != std::end(kQuantityKinds);
}

inline std::optional<std::int64_t> StatedFor(const StatedQuantities& stated, std::string_view kind,
                                             std::string_view layer) {
  auto found = stated.find(std::string(kind) + "@" + std::string(layer));
  if (found == stated.end()) found = stated.find(std::string(kind));
  return found == stated.end() ? std::nullopt : std::optional(found->second);
}

// Of the model and the bodies in it.
template <class Graph, class Visit>
void VisitQuantities(const Graph& graph, const Visit& visit) {
  for (const auto& quantity : graph.quantities) visit(quantity);
  for (const auto& layer : graph.layers)
    for (const auto& body : layer.bodies)
      if (body.graph != nullptr) VisitQuantities(*body.graph, visit);
}

}  // namespace infimum
