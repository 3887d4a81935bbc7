// The layers of the vocabulary as oneDNN's (primitives/), family by family: their candidates.
#pragma once

#include <optional>
#include <vector>

#include "infimum/layer/layer_config.h"
#include "microbench/libraries/onednn/epilogue.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

std::vector<Offer> ConvolutionOffers(const ConvolutionConfig& config, const LayerValues& values = {},
                                     const Epilogue& epilogue = {});
std::vector<Offer> MatMulOffers(const MatMulConfig& config, const LayerValues& values = {},
                                const Epilogue& epilogue = {});
std::vector<Offer> PoolingOffers(const PoolingConfig& config);
std::vector<Offer> NormalizationLibraryOffers(const NormalizationConfig& config, const LayerValues& values,
                                              const Epilogue& epilogue = {});
std::vector<Offer> SoftmaxLibraryOffers(const SoftmaxConfig& config);
std::vector<Offer> PointwiseLibraryOffers(const PointwiseConfig& config, const LayerValues& values);
std::vector<Offer> ReductionLibraryOffers(const ReductionConfig& config);
std::vector<Offer> ResampleLibraryOffers(const ResampleConfig& config);
std::vector<Offer> MovementLibraryOffers(const MovementConfig& config);
std::vector<Offer> ReorderLibraryOffers(const ReorderConfig& config);
std::vector<Offer> RecurrentOffers(const RecurrentConfig& config);

// Transposed convolutions of f32 whose kernel is as large as its stride, as one matrix product and a copy,
// onednn/upsampling-as-matmul/gemm:jit/plain. Empty for every other convolution.
std::vector<Offer> UpsamplingProductOffers(const ConvolutionConfig& config);

// Sums and running sums as products with a constant (statistic_product.h), onednn/as-matmul/gemm:jit:f32. Empty for all
// other layers.
std::vector<Offer> StatisticProductOffers(const LayerConfig& config);

// The same as a step of an epilogue: of one operand, with its parameters; of two. Absent where oneDNN has none.
std::optional<Epilogue::Step> EltwiseStep(PointwiseKind kind, const LayerValues& values);
std::optional<dnnl::algorithm> BinaryAlgorithm(PointwiseKind kind);

}  // namespace infimum::cpu
