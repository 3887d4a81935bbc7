// Normalisations and softmax through oneDNN.
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"
#include "src/core/layer/normalization.h"

namespace infimum::cpu {

std::vector<Offer> NormalizationLibraryOffers(const NormalizationConfig& config, const LayerValues& values);
std::vector<Offer> SoftmaxLibraryOffers(const SoftmaxConfig& config);

}  // namespace infimum::cpu
