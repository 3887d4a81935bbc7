// Normalisations and softmax by kernels of ours, on row-major tensors.
#pragma once

#include <vector>

#include "infimum/layer/normalization.h"
#include "microbench/onednn/program.h"

namespace infimum::cpu {

std::vector<Offer> NormalizationKernelOffers(const NormalizationConfig& config);
std::vector<Offer> SoftmaxKernelOffers(const SoftmaxConfig& config);

}  // namespace infimum::cpu
