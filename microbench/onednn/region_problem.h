// A region with its tensors, and what can run it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "infimum/layer/region.h"
#include "microbench/onednn/program.h"
#include "microbench/onednn/values.h"

namespace infimum::cpu {

// For each member of a region what its configuration leaves open; empty where all have the usual values.
using RegionValues = std::vector<LayerValues>;

inline LayerValues ValuesOfMember(const RegionValues& values, std::size_t member) {
  return member < values.size() ? values[member] : LayerValues();
}

// Tensors by the region's own numbering. Those of members that are no output may stay unwritten.
struct RegionProblem {
  Region region;
  std::vector<const HostTensor*> inputs;
  std::vector<const HostTensor*> weights;
  std::vector<std::vector<HostTensor*>> members;  // all outputs of each
  RegionValues values;

  const HostTensor* Find(const RegionOperand& operand) const {
    const auto index = static_cast<std::size_t>(operand.index);
    switch (operand.source) {
      case RegionOperand::Source::kInput:
        return inputs[index];
      case RegionOperand::Source::kWeight:
        return weights[index];
      default:
        return members[index][0];
    }
  }
};

struct RegionOffer {
  Candidate candidate;
  std::function<Result<std::unique_ptr<Program>>(const RegionProblem&)> make;
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
