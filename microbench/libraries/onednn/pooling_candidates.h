// Pooling through oneDNN: maximum and both averages, in one to three dimensions.
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "src/core/layer/pooling.h"

namespace infimum::cpu {

std::vector<Offer> PoolingOffers(const PoolingConfig& config);

}  // namespace infimum::cpu
