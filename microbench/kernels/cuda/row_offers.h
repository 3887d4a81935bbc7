// Softmax and normalizations as rows, apart from memory; what a layer alone and a region that ends in one share.
#pragma once

#include <functional>

#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {

struct RowLayer {
  std::string name;  // of its offers: "softmax"
  RowCall call = {};
  std::size_t scale = 0, bias = 0;  // operands of the layer; 0: none
};

// nullopt where the layer is something else, or of types or sizes that kernels have not.
std::optional<RowLayer> RowLayerOf(const LayerConfig& config, const cpu::LayerValues& values);

// Elements that a thread takes at a time where the call's addresses and sizes allow it: 8, 4 or 1.
int WidthOf(const RowCall& call);

// In every variant of threads and shared memory. `make` has the variant without addresses and width.
std::vector<KernelOffer> RowOffers(
    const RowLayer& layer, const std::function<std::vector<KernelCall>(const RowCall&, const KernelBuffers&)>& make);

}  // namespace infimum::cuda
