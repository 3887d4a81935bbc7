#include "microbench/kernels/cuda/kernel_offers.h"

#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {

namespace {

struct Chooser {
  const cpu::LayerValues& values;
  std::vector<KernelOffer> operator()(const MovementConfig& c) const { return OffersFor(c, values); }
  std::vector<KernelOffer> operator()(const PointwiseConfig& c) const { return OffersFor(c, values); }
  std::vector<KernelOffer> operator()(const NormalizationConfig& c) const { return OffersFor(c, values); }
  std::vector<KernelOffer> operator()(const PoolingConfig& c) const { return OffersFor(c, values); }
  std::vector<KernelOffer> operator()(const SoftmaxConfig& c) const { return Plain(c); }
  std::vector<KernelOffer> operator()(const ReductionConfig& c) const { return Plain(c); }
  std::vector<KernelOffer> operator()(const ScanConfig& c) const { return Plain(c); }
  std::vector<KernelOffer> operator()(const ResampleConfig& c) const { return Plain(c); }
  std::vector<KernelOffer> operator()(const ReorderConfig& c) const { return Plain(c); }
  // Products, attention, recurrent layers and sorts are for libraries.
  std::vector<KernelOffer> operator()(const ConvolutionConfig&) const { return {}; }
  std::vector<KernelOffer> operator()(const MatMulConfig&) const { return {}; }
  std::vector<KernelOffer> operator()(const AttentionConfig&) const { return {}; }
  std::vector<KernelOffer> operator()(const RecurrentConfig&) const { return {}; }
  std::vector<KernelOffer> operator()(const SortConfig&) const { return {}; }

  template <class Config>
  std::vector<KernelOffer> Plain(const Config& c) const {
    return values.quantized() ? std::vector<KernelOffer>() : OffersFor(c);
  }
};

}  // namespace

std::vector<KernelOffer> KernelsFor(const LayerConfig& config, const cpu::LayerValues& values) {
  return std::visit(Chooser{values}, config);
}

}  // namespace infimum::cuda
