#include "microbench/onednn/offers.h"

#include <algorithm>
#include <iterator>

#include "microbench/onednn/convolution_candidates.h"
#include "microbench/onednn/matmul_candidates.h"
#include "microbench/onednn/normalization_candidates.h"
#include "microbench/onednn/pointwise_candidates.h"
#include "microbench/onednn/pooling_candidates.h"

namespace infimum::cpu {
namespace {

using Offers = std::vector<Offer>;

Offers Joined(Offers first, Offers second) {
  std::move(second.begin(), second.end(), std::back_inserter(first));
  return first;
}

struct Collector {
  Offers operator()(const ConvolutionConfig& config) const {
    return Joined(ConvolutionOffers(config), PointwiseConvolutionOffers(config));
  }
  Offers operator()(const MatMulConfig& config) const { return MatMulOffers(config); }
  Offers operator()(const PoolingConfig& config) const { return PoolingOffers(config); }
  Offers operator()(const NormalizationConfig& config) const { return NormalizationLibraryOffers(config); }
  Offers operator()(const SoftmaxConfig& config) const { return SoftmaxLibraryOffers(config); }
  Offers operator()(const PointwiseConfig& config) const { return PointwiseLibraryOffers(config); }
  Offers operator()(const ReductionConfig&) const { return {}; }
  Offers operator()(const ScanConfig&) const { return {}; }
  Offers operator()(const SortConfig&) const { return {}; }
  Offers operator()(const RecurrentConfig&) const { return {}; }
  Offers operator()(const AttentionConfig&) const { return {}; }
  Offers operator()(const ResampleConfig&) const { return {}; }
  Offers operator()(const MovementConfig&) const { return {}; }
  Offers operator()(const ReorderConfig&) const { return {}; }
};

}  // namespace

Offers OffersFor(const LayerConfig& config, CandidateTier tier) {
  Offers offers = std::visit(Collector{}, config);
  const bool others = std::any_of(offers.begin(), offers.end(), [](const Offer& offer) { return !offer.reference; });
  if (others && tier != CandidateTier::kExhaustive) std::erase_if(offers, [](const Offer& o) { return o.reference; });
  return offers;
}

}  // namespace infimum::cpu
