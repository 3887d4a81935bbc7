// Layers that become a library's matrix product: sums and running sums with a constant
// (reference/statistic_product.h), and products with stored weights that a kernel of ours dequantizes first.
//
//   cublaslt/as-matmul/algo=21_tile=20_...     cudnn-graph/as-matmul/eng62_k2=5     cublas/as-matmul/gemm
//   cublaslt/dequantized/algo=66_tile=20_...   timed with the kernel
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "microbench/gpu/device/gpu_libraries.h"

namespace infimum::cuda {

struct DerivedProduct {
  Workload product;
  CandidateTier tier = CandidateTier::kEngine;                                     // of its candidates
  std::function<std::optional<Candidate>(const Candidate& of_product)> candidate;  // nullopt: its tensors lie otherwise
  std::function<Candidate(const Candidate& candidate)> of_product;                 // and back
  std::function<GpuOffer(Candidate candidate, GpuOffer product)> offer;
};

// Of sums, in the tier `engine` what libraries would choose for their product, in `exhaustive` each of their engines,
// in `heuristic` nothing; of dequantized products the tier itself. nullopt for every other workload.
std::optional<DerivedProduct> DerivedProductOf(const Workload& workload, CandidateTier tier);

// The same libraries, which offer them too.
std::unique_ptr<GpuLibraries> WithDerivedProducts(std::unique_ptr<GpuLibraries> libraries);

}  // namespace infimum::cuda
