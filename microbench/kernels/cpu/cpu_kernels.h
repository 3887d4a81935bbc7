// Kernels of ours as candidates, on row-major tensors, by family; and the parts of them that others build with.
//
//   for (const Offer& offer : SoftmaxKernelOffers(config)) ...      // infimum/softmax:avx512
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "infimum/layer/layer_config.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/libraries/onednn/epilogue.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

// Calls function(word) with an unsigned integer of an element's size.
template <class Function>
void WithWord(std::int64_t bytes, const Function& function) {
  switch (bytes) {
    case 1:
      return function(std::uint8_t{});
    case 2:
      return function(std::uint16_t{});
    case 4:
      return function(std::uint32_t{});
    default:
      return function(std::uint64_t{});
  }
}

// A candidate of ours: infimum/<name>:<instruction set>.
Offer KernelOffer(const std::string& name, std::function<MadeProgram(const Problem&)> make);

// Two products and a softmax between them: infimum/attention-batched runs all heads at once, infimum/attention-heads
// head after head, infimum/attention-blocks as many queries of a head as whose scores stay in the second-level cache,
// where a head has more. infimum/attention-panels does the same with keys and values packed and multiplied by ours, and
// leaves out keys that no query of a block sees; values of 16, 32, ... elements.
std::vector<Offer> AttentionOffers(const AttentionConfig& config, const LayerValues& values);
// Weights of 4 or 8 bits with a scale for each block of a column, read as they are stored. infimum/stored-rows goes
// over them for each row of a; infimum/stored-panels makes a part f32 that all rows share; infimum/stored-dots has a in
// 8 bits, rounded for each block, where the layer allows it.
std::vector<Offer> StoredProductOffers(const MatMulConfig& config, const VectorKernels& kernels, bool has_vnni);
// Products and convolutions of bytes with constant weights, exact: infimum/byte-panels with VNNI and signed
// weights; in 16 bits infimum/as-s16/panels, where the library's are not exact. Of convolutions one group of channels,
// at most two dimensions.
std::vector<Offer> WordProductOffers(const ConvolutionConfig& config, const LayerValues& values);
std::vector<Offer> WordProductOffers(const MatMulConfig& config, const LayerValues& values);
// Convolutions of 3x3 taps by minimal filtering in f32: infimum/winograd-4x4, -2x2 on images with the channels last,
// infimum/winograd-4x4-blocked, -2x2-blocked on images in the library's blocks of 8 or 16 channels; of f16, bf16 and
// bytes infimum/as-f32/winograd-4x4 and so on. The epilogue may be a sum with another image, then limits (ReLU, clip);
// or limits or a function with its usual values, then such a sum. Empty for every other convolution and epilogue.
std::vector<Offer> WinogradOffers(const ConvolutionConfig& config, const LayerValues& values, const Epilogue& epilogue);
std::vector<Offer> MovementKernelOffers(const MovementConfig& config, const LayerValues& values);
std::vector<Offer> NormalizationKernelOffers(const NormalizationConfig& config, const LayerValues& values);
std::vector<Offer> PointwiseKernelOffers(const PointwiseConfig& config, const LayerValues& values);
std::vector<Offer> PoolingKernelOffers(const PoolingConfig& config);
std::vector<Offer> ReductionKernelOffers(const ReductionConfig& config);
// A change of layout without padding: infimum/reorder.
std::vector<Offer> ReorderKernelOffers(const ReorderConfig& config);
std::vector<Offer> ResampleKernelOffers(const ResampleConfig& config, const LayerValues& values);
std::vector<Offer> ScanKernelOffers(const ScanConfig& config);
std::vector<Offer> SoftmaxKernelOffers(const SoftmaxConfig& config);
std::vector<Offer> SortKernelOffers(const SortConfig& config);

// A quantization as the kernels that convert rows take it.
QuantizeValues KernelValues(DataType type, const Quantization& quantization);

// A softmax or a normalization of one row of f32: from x, which may be y, to y.
using RowFunction = std::function<void(const float* x, float* y)>;

// Whether a normalization goes over rows of neighbouring elements: layer and RMS normalizations.
bool IsRowwise(const NormalizationConfig& config);
// `operands` as the layer's; the first of them, the rows, is not looked at and may be null.
RowFunction NormalizationRow(const NormalizationConfig& config, const LayerValues& values,
                             const std::vector<const HostTensor*>& operands);
RowFunction SoftmaxRow(SoftmaxKind kind, std::int64_t length);
// What a batch normalization does to each channel: y = scale x + shift.
struct ChannelFactors {
  std::vector<float> scale, shift;
};
ChannelFactors FactorsOf(const NormalizationConfig& config, const LayerValues& values,
                         const std::vector<const HostTensor*>& operands);

}  // namespace infimum::cpu
