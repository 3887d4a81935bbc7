// Sums and running sums as the libraries' matrix products with a constant (reference/statistic_product.h).
//
//   cublaslt/as-matmul/algo=21_tile=20_...   cudnn-graph/as-matmul/eng62_k2=5   cublas/as-matmul/gemm
#pragma once

#include <memory>

#include "microbench/gpu/device/gpu_libraries.h"

namespace infimum::cuda {

// The same libraries, which offer them too: in the tier `engine` with what the libraries would choose for the product,
// in `exhaustive` with each of their engines.
std::unique_ptr<GpuLibraries> WithStatisticOffers(std::unique_ptr<GpuLibraries> libraries);

}  // namespace infimum::cuda
