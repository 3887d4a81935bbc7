#include "microbench/kernels/cuda/kernel_offers.h"

#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {

std::vector<KernelOffer> KernelsFor(const LayerConfig& config, const cpu::LayerValues& values) {
  return std::visit(
      [&](const auto& c) -> std::vector<KernelOffer> {
        if constexpr (requires { OffersFor(c, values); }) {
          return OffersFor(c, values);
        } else if constexpr (requires { OffersFor(c); }) {
          return values.quantized() ? std::vector<KernelOffer>() : OffersFor(c);
        } else {
          return {};  // recurrent layers are for libraries
        }
      },
      config);
}

}  // namespace infimum::cuda
