// Normalisations and softmax by kernels of ours, on row-major tensors.
#pragma once

#include <vector>

#include "infimum/layer/normalization.h"
#include "microbench/onednn/program.h"
#include "microbench/onednn/values.h"

namespace infimum::cpu {

std::vector<Offer> NormalizationKernelOffers(const NormalizationConfig& config, const LayerValues& values);
std::vector<Offer> SoftmaxKernelOffers(const SoftmaxConfig& config);

}  // namespace infimum::cpu
