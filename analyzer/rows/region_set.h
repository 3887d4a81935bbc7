// The fusable regions of a model and of its bodies, found once, with the keys and the work that questions to a store
// and floors need.
//
//   const RegionSet regions(graph);
//   for (const KnownRegion& known : regions.Of(graph)) ...
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "infimum/graph/fusable_regions.h"

namespace infimum {

struct KnownRegion {
  FusableRegion region;
  WorkloadKey key;
  Work work;
};

class RegionSet {
 public:
  // `graph` lives longer.
  explicit RegionSet(const ModelGraph& graph) { Add(graph); }

  // Empty for a graph that is neither the model's nor a body of it.
  std::span<const KnownRegion> Of(const ModelGraph& graph) const;

 private:
  void Add(const ModelGraph& graph);

  std::unordered_map<const ModelGraph*, std::vector<KnownRegion>> regions_;
};

}  // namespace infimum
