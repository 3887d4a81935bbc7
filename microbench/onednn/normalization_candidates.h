// Normalisations and softmax through oneDNN.
#pragma once

#include <vector>

#include "infimum/layer/normalization.h"
#include "microbench/onednn/program.h"

namespace infimum::cpu {

std::vector<Offer> NormalizationLibraryOffers(const NormalizationConfig& config);
std::vector<Offer> SoftmaxLibraryOffers(const SoftmaxConfig& config);

}  // namespace infimum::cpu
