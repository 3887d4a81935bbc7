// A BLAS library's algorithms as candidates and programs.
//
//   cublaslt/algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0/b=transposed
//   cublas/gemm
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "microbench/libraries/cublaslt/gemm_library.h"

namespace infimum::cuda {

inline constexpr std::string_view kCublasLt = "cublaslt";
inline constexpr std::string_view kCublas = "cublas";
inline constexpr std::size_t kMostGemmsOfAForm = 1000;

// Candidates of one library over all forms of the product, with what makes them; empty where the workload is no product
// that BLAS takes. `name` is kCublasLt or kCublas, whose algorithms are called "gemm". Of each form the library's own
// errors are left out: the other forms may do.
std::vector<GpuOffer> GemmOffers(const std::shared_ptr<GemmLibrary>& library, std::string_view name,
                                 const Workload& workload, NumericContract contract, CandidateTier tier);

// The program of a candidate that GemmOffers would name, without asking for all of them; nullopt for others'.
std::optional<GpuOffer> FindGemmOffer(const std::shared_ptr<GemmLibrary>& library, std::string_view name,
                                      const Workload& workload, NumericContract contract, const Candidate& candidate,
                                      const cpu::RegionValues& values = {});

}  // namespace infimum::cuda
