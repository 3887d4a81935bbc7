#include "analyzer/rows/region_set.h"

namespace infimum {

std::span<const KnownRegion> RegionSet::Of(const ModelGraph& graph) const {
  const auto found = regions_.find(&graph);
  return found == regions_.end() ? std::span<const KnownRegion>() : std::span<const KnownRegion>(found->second);
}

void RegionSet::Add(const ModelGraph& graph) {
  std::vector<KnownRegion>& known = regions_[&graph];
  for (FusableRegion& region : FindFusableRegions(graph)) {
    WorkloadKey key = KeyOf(region.workload);
    const Work work = WorkOf(region.workload);
    known.push_back({std::move(region), std::move(key), work});
  }
  for (const Layer& layer : graph.layers)
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) Add(*body.graph);
}

}  // namespace infimum
