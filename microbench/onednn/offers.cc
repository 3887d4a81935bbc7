#include "microbench/onednn/offers.h"

#include <algorithm>
#include <iterator>

#include "microbench/onednn/attention_kernels.h"
#include "microbench/onednn/convolution_candidates.h"
#include "microbench/onednn/cpu_features.h"
#include "microbench/onednn/matmul_candidates.h"
#include "microbench/onednn/movement_candidates.h"
#include "microbench/onednn/movement_kernels.h"
#include "microbench/onednn/normalization_candidates.h"
#include "microbench/onednn/normalization_kernels.h"
#include "microbench/onednn/pointwise_candidates.h"
#include "microbench/onednn/pointwise_kernels.h"
#include "microbench/onednn/pooling_candidates.h"
#include "microbench/onednn/recurrent_candidates.h"
#include "microbench/onednn/reduction_kernels.h"
#include "microbench/onednn/window_kernels.h"

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
  Offers operator()(const PoolingConfig& config) const {
    return Joined(PoolingOffers(config), PoolingKernelOffers(config));
  }
  Offers operator()(const NormalizationConfig& config) const {
    return Joined(NormalizationLibraryOffers(config), NormalizationKernelOffers(config));
  }
  Offers operator()(const SoftmaxConfig& config) const {
    return Joined(SoftmaxLibraryOffers(config), SoftmaxKernelOffers(config));
  }
  Offers operator()(const PointwiseConfig& config) const {
    return Joined(PointwiseLibraryOffers(config), PointwiseKernelOffers(config));
  }
  Offers operator()(const ReductionConfig& config) const {
    return Joined(ReductionLibraryOffers(config), ReductionKernelOffers(config));
  }
  Offers operator()(const ScanConfig& config) const { return ScanKernelOffers(config); }
  Offers operator()(const SortConfig& config) const { return SortKernelOffers(config); }
  Offers operator()(const RecurrentConfig& config) const { return RecurrentOffers(config); }
  Offers operator()(const AttentionConfig& config) const { return AttentionOffers(config); }
  Offers operator()(const ResampleConfig& config) const {
    return Joined(ResampleLibraryOffers(config), ResampleKernelOffers(config));
  }
  Offers operator()(const MovementConfig& config) const {
    return Joined(MovementLibraryOffers(config), MovementKernelOffers(config));
  }
  Offers operator()(const ReorderConfig& config) const { return ReorderLibraryOffers(config); }
};

// The types as which products of a 16-bit type run where the processor has none of its own: f32, with
// conversions of inputs and outputs at each run.
OperandTypes Widened(OperandTypes types) {
  for (DataType* type : {&types.input, &types.weights, &types.output}) {
    if (*type == DataType::kF16 || *type == DataType::kBF16) *type = DataType::kF32;
  }
  return types;
}

template <class Config>
Offers Rewritten(Config config, const OperandTypes& types, const std::string& prefix) {
  if (config.types == types) return {};
  config.types = types;
  Offers offers = Collector()(config);
  for (Offer& offer : offers) {
    offer.candidate.algorithm = prefix + offer.candidate.algorithm;
    offer.candidate.library_choice = false;
  }
  return offers;
}

// Products of signed bytes lose precision or speed where only unsigned times signed is fast: the input's
// sign bit is flipped, which moves its zero point by 128.
OperandTypes Unsigned(OperandTypes types) {
  if (types.input == DataType::kS8) types.input = DataType::kU8;
  return types;
}

}  // namespace

Offers OffersFor(const LayerConfig& config, CandidateTier tier) {
  Offers offers = std::visit(Collector{}, config);
  const bool native = std::any_of(offers.begin(), offers.end(), [](const Offer& offer) { return !offer.reference; });
  // Without VNNI, oneDNN's convolutions halve the weights of signed inputs lest 16-bit sums overflow, which
  // costs the last bit: more than the contract allows.
  const bool lossy = TypesOf(config).input == DataType::kS8 && !Features().avx512_vnni && !Features().avx_vnni;
  if (lossy && std::holds_alternative<ConvolutionConfig>(config)) offers.clear();
  if (lossy) {
    std::erase_if(offers, [](const Offer& o) { return o.candidate.algorithm.rfind("matmul-as-convolution/", 0) == 0; });
  }
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&config)) {
    if (!native) offers = Joined(std::move(offers), Rewritten(*convolution, Widened(convolution->types), "as-f32/"));
    offers = Joined(std::move(offers), Rewritten(*convolution, Unsigned(convolution->types), "as-u8/"));
  }
  if (const auto* matmul = std::get_if<MatMulConfig>(&config)) {
    if (!native) offers = Joined(std::move(offers), Rewritten(*matmul, Widened(matmul->types), "as-f32/"));
    offers = Joined(std::move(offers), Rewritten(*matmul, Unsigned(matmul->types), "as-u8/"));
  }
  if (const auto* recurrent = std::get_if<RecurrentConfig>(&config)) {
    if (!native) offers = Joined(std::move(offers), Rewritten(*recurrent, Widened(recurrent->types), "as-f32/"));
  }
  const bool others = std::any_of(offers.begin(), offers.end(), [](const Offer& offer) { return !offer.reference; });
  if (others && tier != CandidateTier::kExhaustive) std::erase_if(offers, [](const Offer& o) { return o.reference; });
  return offers;
}

}  // namespace infimum::cpu
