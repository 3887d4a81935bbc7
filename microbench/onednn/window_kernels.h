// Pooling and resampling by kernels of ours, plane by plane on row-major tensors.
#pragma once

#include <vector>

#include "infimum/layer/movement.h"
#include "infimum/layer/pooling.h"
#include "microbench/onednn/program.h"

namespace infimum::cpu {

std::vector<Offer> PoolingKernelOffers(const PoolingConfig& config);
std::vector<Offer> ResampleKernelOffers(const ResampleConfig& config);

}  // namespace infimum::cpu
