// What can run a region on its tensors.
#pragma once

#include <functional>
#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/region_tensors.h"

namespace infimum::cpu {

struct RegionOffer {
  Candidate candidate;
  std::function<MadeProgram(const RegionProblem&)> make;
  // As Offer::place.
  std::function<Result<std::vector<Placement>>(const RegionProblem&)> place = nullptr;
};

// Fused forms first, then one kernel for a chain of element-wise members, what oneDNN Graph takes as one partition,
// last all members in turn. Those that cannot honour the values are left out.
std::vector<RegionOffer> RegionOffersFor(const Region& region, CandidateTier tier, const RegionValues& values = {});

// Kinds of candidates, each in a file of its own; graph_partition_offers.h has one more.
std::vector<RegionOffer> PostOperationOffers(const Region& region, CandidateTier tier, const RegionValues& values);
std::vector<RegionOffer> PointwiseChainOffers(const Region& region, const RegionValues& values);
std::vector<RegionOffer> RowChainOffers(const Region& region, const RegionValues& values);
std::vector<RegionOffer> ComposedOffers(const Region& region, const RegionValues& values);

}  // namespace infimum::cpu
