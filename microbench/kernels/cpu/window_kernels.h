// Pooling and resampling by kernels of ours, plane by plane on row-major tensors.
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "src/core/layer/movement.h"
#include "src/core/layer/pooling.h"

namespace infimum::cpu {

std::vector<Offer> PoolingKernelOffers(const PoolingConfig& config);
std::vector<Offer> ResampleKernelOffers(const ResampleConfig& config);

}  // namespace infimum::cpu
