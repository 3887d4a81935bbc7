// What oneDNN Graph offers: regions and attention that it takes as one partition and has code for.
//
//   onednn/graph/partition              row-major operands and result
//   onednn/graph/partition/nhwc         a region of a convolution, with the channels last
//   onednn/graph/partition/transposed   attention, by way of the order of heads within a token
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "microbench/libraries/onednn/program/region_problem.h"
#include "src/core/layer/attention.h"

namespace infimum::cpu {

// None for a single layer other than attention, which oneDNN's primitives have already.
std::vector<RegionOffer> GraphPartitionOffers(const Region& region, const RegionValues& values);
std::vector<Offer> GraphPartitionOffers(const AttentionConfig& config, const LayerValues& values);

}  // namespace infimum::cpu
