// Operators that move elements, by kernels of ours: they see elements of 1, 2, 4 or 8 bytes and no types.
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"
#include "src/core/layer/movement.h"

namespace infimum::cpu {

std::vector<Offer> MovementKernelOffers(const MovementConfig& config, const LayerValues& values);

}  // namespace infimum::cpu
