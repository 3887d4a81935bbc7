// Pooling through oneDNN: maximum and both averages, in one to three dimensions.
#pragma once

#include <vector>

#include "src/core/layer/pooling.h"
#include "microbench/libraries/onednn/program/program.h"

namespace infimum::cpu {

std::vector<Offer> PoolingOffers(const PoolingConfig& config);

}  // namespace infimum::cpu
