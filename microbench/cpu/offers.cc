#include "microbench/cpu/offers.h"

#include <algorithm>
#include <iterator>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/libraries/onednn/layer_offers.h"
#include "microbench/libraries/onednn/primitives/product.h"
#include "microbench/libraries/onednn/program/declared_layouts.h"
#include "microbench/libraries/onednn_graph/graph_partition_offers.h"
#include "microbench/reference/dequantized_form.h"

namespace infimum::cpu {
namespace {

using Offers = std::vector<Offer>;

Offers Joined(Offers first, Offers second) {
  std::move(second.begin(), second.end(), std::back_inserter(first));
  return first;
}

// The types as which products of a 16-bit type run where the processor has none of its own: f32, with
// conversions of inputs and outputs at each run. Integer weights of a floating point product become f32 too,
// once where they are constant.
OperandTypes Widened(OperandTypes types) {
  if (IsFloatingPoint(types.input) && IsInteger(types.weights)) types.weights = DataType::kF32;
  for (DataType* type : {&types.input, &types.weights, &types.output}) {
    if (*type == DataType::kF16 || *type == DataType::kBF16) *type = DataType::kF32;
  }
  return types;
}

// Products of signed bytes lose precision or speed where only unsigned times signed is fast: the input's
// sign bit is flipped, which moves its zero point by 128.
OperandTypes Unsigned(OperandTypes types) {
  if (types.input == DataType::kS8) types.input = DataType::kU8;
  return types;
}
LayerValues Unsigned(LayerValues values) {
  if (!values.operands.empty()) values.operands[0].zeros = {values.operands[0].zero() + 128};
  return values;
}

Epilogue Widened(Epilogue epilogue) {
  for (Epilogue::Step& step : epilogue.steps) {
    if (step.type == DataType::kF16 || step.type == DataType::kBF16) step.type = DataType::kF32;
  }
  return epilogue;
}

Offers DirectOffers(const ConvolutionConfig& config, const LayerValues& values, const Epilogue& epilogue) {
  return ConvolutionOffers(config, values, epilogue);
}
Offers DirectOffers(const MatMulConfig& config, const LayerValues& values, const Epilogue& epilogue) {
  return MatMulOffers(config, values, epilogue);
}
Offers DirectOffers(const RecurrentConfig& config, const LayerValues&, const Epilogue&) {
  return RecurrentOffers(config);
}

// Programs of ours that read the tensors in the types that the layer has, so that they are never rewritten.
template <class Config>
Offers ExactByteOffers(const Config& config, const LayerValues& values, const Epilogue& epilogue) {
  return epilogue.empty() ? WordProductOffers(config, values) : Offers();
}
Offers OwnOffers(const ConvolutionConfig& config, const LayerValues& values, const Epilogue& epilogue) {
  Offers own =
      Joined(epilogue.empty() ? UpsamplingProductOffers(config) : Offers(), WinogradOffers(config, values, epilogue));
  return Joined(std::move(own), ExactByteOffers(config, values, epilogue));
}
Offers OwnOffers(const MatMulConfig& config, const LayerValues& values, const Epilogue& epilogue) {
  if (!epilogue.empty()) return {};
  Offers own = Joined(StoredProductOffers(config, Kernels(), Features().avx512_vnni), OnceDequantizedOffers(config));
  return Joined(std::move(own), ExactByteOffers(config, values, epilogue));
}
Offers OwnOffers(const RecurrentConfig& config, const LayerValues&, const Epilogue&) {
  return LstmKernelOffers(config);
}

template <class Config>
Offers Rewritten(Config config, const OperandTypes& types, const LayerValues& values, const Epilogue& epilogue,
                 const std::string& prefix) {
  if (config.types == types) return {};
  config.types = types;
  Offers offers = DirectOffers(config, values, epilogue);
  for (Offer& offer : offers) {
    offer.candidate.algorithm = prefix + offer.candidate.algorithm;
    offer.candidate.library_choice = false;
  }
  return offers;
}

// Without VNNI the library's code for unsigned bytes adds pairs of products in 16 bits, which weights of 8 bits
// overflow (of depthwise convolutions there are no pairs), as its blocked products of signed ones do, and its
// convolutions of signed ones halve the weights. Code of older instructions is among the candidates of newer
// processors.
template <class Config>
bool IsWrongWithoutVnni(const Config& config, const Offer& offer) {
  const std::string& name = offer.candidate.algorithm;
  const bool is_slow_but_right = name.find("ref:") != std::string::npos;
  if (offer.candidate.library != "onednn" || is_slow_but_right || !onednn::LacksVnni(name)) return false;
  constexpr bool kConvolution = std::is_same_v<Config, ConvolutionConfig>;
  if (config.types.input == DataType::kU8 || name.starts_with("as-u8/")) {
    if constexpr (kConvolution) return !IsDepthwise(config);
    return true;
  }
  return config.types.input == DataType::kS8 &&
         (kConvolution || name.starts_with("matmul-as-convolution/") || name.starts_with("brg:avx512_core"));
}

// What a product runs as: in its own types where the library has them, else in wider ones.
template <class Config>
Offers TypedOffers(const Config& config, const LayerValues& values, const Epilogue& epilogue) {
  Offers offers = DirectOffers(config, values, epilogue);
  const bool native = std::ranges::any_of(offers, [](const Offer& offer) { return !offer.reference; });
  offers = Joined(std::move(offers), OwnOffers(config, values, epilogue));
  if (!native) {
    offers = Joined(std::move(offers), Rewritten(config, Widened(config.types), values, Widened(epilogue), "as-f32/"));
  }
  offers = Joined(std::move(offers), Rewritten(config, Unsigned(config.types), Unsigned(values), epilogue, "as-u8/"));
  std::erase_if(offers, [&](const Offer& offer) { return IsWrongWithoutVnni(config, offer); });
  return offers;
}

struct Collector {
  const LayerValues& values;

  Offers operator()(const ConvolutionConfig& config) const { return TypedOffers(config, values, {}); }
  Offers operator()(const MatMulConfig& config) const { return TypedOffers(config, values, {}); }
  Offers operator()(const PoolingConfig& config) const {
    return Joined(PoolingOffers(config), PoolingKernelOffers(config));
  }
  Offers operator()(const NormalizationConfig& config) const {
    return Joined(NormalizationLibraryOffers(config, values), NormalizationKernelOffers(config, values));
  }
  Offers operator()(const SoftmaxConfig& config) const {
    return Joined(SoftmaxLibraryOffers(config), SoftmaxKernelOffers(config));
  }
  Offers operator()(const PointwiseConfig& config) const {
    return Joined(PointwiseLibraryOffers(config, values), PointwiseKernelOffers(config, values));
  }
  Offers operator()(const ReductionConfig& config) const {
    return Joined(Joined(ReductionLibraryOffers(config), StatisticProductOffers(config)),
                  ReductionKernelOffers(config));
  }
  Offers operator()(const ScanConfig& config) const {
    return Joined(StatisticProductOffers(config), ScanKernelOffers(config));
  }
  Offers operator()(const SortConfig& config) const { return SortKernelOffers(config); }
  Offers operator()(const RecurrentConfig& config) const { return TypedOffers(config, values, {}); }
  Offers operator()(const AttentionConfig& config) const {
    return Joined(AttentionOffers(config, values), GraphPartitionOffers(config, values));
  }
  Offers operator()(const ResampleConfig& config) const {
    // The library knows half pixels alone.
    Offers own = ResampleKernelOffers(config, values);
    if (values.nearest_shift != kUsualValues.nearest_shift || values.aligned_corners != 0) return own;
    return Joined(ResampleLibraryOffers(config), std::move(own));
  }
  Offers operator()(const MovementConfig& config) const {
    return Joined(MovementLibraryOffers(config), MovementKernelOffers(config, values));
  }
  Offers operator()(const ReorderConfig& config) const {
    return Joined(ReorderLibraryOffers(config), ReorderKernelOffers(config));
  }
};

Offers WithoutFallbacks(Offers offers, CandidateTier tier) {
  const bool others = std::ranges::any_of(offers, [](const Offer& offer) { return !offer.reference; });
  if (others && tier != CandidateTier::kExhaustive) std::erase_if(offers, [](const Offer& o) { return o.reference; });
  return offers;
}

}  // namespace

Offers OffersFor(const LayerConfig& config, CandidateTier tier, const LayerValues& values) {
  Offers offers;
  // Element-wise layers have kernels that convert on the way.
  const bool has_form = DequantizedForm(config, values).has_value();
  if (!has_form || std::holds_alternative<PointwiseConfig>(config))
    offers = WithoutFallbacks(std::visit(Collector{values}, config), tier);
  if (has_form && offers.empty()) offers = DequantizedOffers(config, tier, values);
  for (Offer& offer : offers) StateLayouts(config, offer);
  return offers;
}

Offers FusedOffers(const LayerConfig& product, const Epilogue& epilogue, CandidateTier tier,
                   const LayerValues& values) {
  Offers offers;
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&product)) {
    offers = TypedOffers(*convolution, values, epilogue);
  }
  if (const auto* matmul = std::get_if<MatMulConfig>(&product)) offers = TypedOffers(*matmul, values, epilogue);
  if (const auto* normalization = std::get_if<NormalizationConfig>(&product))
    offers = NormalizationLibraryOffers(*normalization, values, epilogue);
  return WithoutFallbacks(std::move(offers), tier);
}

}  // namespace infimum::cpu
