// Kernels of ours (kernels/kernel_offers.h) as candidates and programs.
//
//   infimum/copy:vector   infimum/transpose:tile32   infimum/pointwise:vector
#pragma once

#include <vector>

#include "microbench/gpu/device/gpu_program.h"
#include "microbench/reference/region_tensors.h"

namespace infimum::cuda {

inline constexpr std::string_view kOurs = "infimum";  // the candidates' library

// Of a layer or a region; tensors lie as the host has them.
std::vector<GpuOffer> KernelOffers(const cpu::ValuedRegion& problem);

}  // namespace infimum::cuda
