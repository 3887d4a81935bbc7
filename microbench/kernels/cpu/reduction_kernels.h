// Reductions, scans and sorts by kernels of ours, on row-major tensors.
#pragma once

#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "src/core/layer/reduction.h"

namespace infimum::cpu {

std::vector<Offer> ReductionKernelOffers(const ReductionConfig& config);
std::vector<Offer> ScanKernelOffers(const ScanConfig& config);
std::vector<Offer> SortKernelOffers(const SortConfig& config);

}  // namespace infimum::cpu
