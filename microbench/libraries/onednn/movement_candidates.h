// Movements, resampling, reorders and reductions through oneDNN's primitives.
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "src/core/layer/movement.h"
#include "src/core/layer/reduction.h"

namespace infimum::cpu {

std::vector<Offer> MovementLibraryOffers(const MovementConfig& config);
std::vector<Offer> ResampleLibraryOffers(const ResampleConfig& config);
std::vector<Offer> ReorderLibraryOffers(const ReorderConfig& config);
std::vector<Offer> ReductionLibraryOffers(const ReductionConfig& config);

}  // namespace infimum::cpu
