// Normalisations and softmax through oneDNN.
#pragma once

#include <vector>

#include "infimum/layer/normalization.h"
#include "microbench/onednn/program.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

std::vector<Offer> NormalizationLibraryOffers(const NormalizationConfig& config, const LayerValues& values);
std::vector<Offer> SoftmaxLibraryOffers(const SoftmaxConfig& config);

}  // namespace infimum::cpu
