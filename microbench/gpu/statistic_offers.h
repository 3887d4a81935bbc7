// Sums and running sums as the libraries' matrix products with a constant (reference/statistic_product.h).
//
//   cublaslt/as-matmul/algo=21_tile=20_...   cudnn-graph/as-matmul/eng62_k2=5   cublas/as-matmul/gemm
#pragma once

#include <memory>
#include <optional>

#include "microbench/gpu/device/gpu_libraries.h"
#include "microbench/reference/statistic_product.h"

namespace infimum::cuda {

// nullopt for a workload that is no such sum.
std::optional<cpu::StatisticProduct> StatisticOf(const Workload& workload);

// The tier of the product's candidates: in `engine` what libraries would choose for it, in `exhaustive` each of their
// engines; nullopt: none.
std::optional<CandidateTier> ProductTier(CandidateTier tier);

// The same libraries, which offer them too.
std::unique_ptr<GpuLibraries> WithStatisticOffers(std::unique_ptr<GpuLibraries> libraries);

}  // namespace infimum::cuda
