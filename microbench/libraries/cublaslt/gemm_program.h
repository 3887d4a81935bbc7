// A BLAS library's algorithms as candidates and programs.
//
//   cublaslt/algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0/b=transposed
//   cublas/gemm
//   cusparselt/alg=2_splitk=1_mode=0_buffers=0/b=transposed
#pragma once

#include <memory>
#include <vector>

#include "microbench/gpu/device/gpu_program.h"
#include "microbench/libraries/cublaslt/gemm_library.h"
#include "microbench/reference/region_tensors.h"

namespace infimum::cuda {

inline constexpr std::string_view kCublasLt = "cublaslt";
inline constexpr std::string_view kCublas = "cublas";
inline constexpr std::string_view kCusparseLt = "cusparselt";
inline constexpr std::size_t kMostGemmsOfAForm = 1000;

// In the library's order of preference: `heuristic` what it would choose; `engine` the best of each algorithm;
// `exhaustive` all settings that it accepts, at most `most` (calls/cublaslt_algorithms.h).
Result<std::vector<cublaslt::Algorithm>> GemmAlgorithms(GemmLibrary& library, const GemmProblem& problem,
                                                        CandidateTier tier, std::size_t most);

// A GEMM with the factor that the workload's values ask for, and its tensors as they lie on the device.
struct BoundGemm {
  GemmProblem problem;
  std::vector<GpuBinding> bindings;
};
Result<BoundGemm> BindGemm(const cpu::ValuedRegion& workload, NumericContract contract, const GemmForm& form);

// Candidates of one library over all forms of the GEMM, with what makes them; empty where the workload is no GEMM that
// BLAS libraries run. A form about which the
// library reports an error is left out: the other forms may be accepted. Where it has answered about none, and not for
// lack of support, one candidate "any" fails with its words.
std::vector<GpuOffer> GemmOffers(const std::shared_ptr<GemmLibrary>& library, const Workload& workload,
                                 NumericContract contract, CandidateTier tier);

// The program of a candidate that GemmOffers would name, without asking for all of them; nullopt for others'.
std::optional<GpuOffer> FindGemmOffer(const std::shared_ptr<GemmLibrary>& library, const Workload& workload,
                                      NumericContract contract, const Candidate& candidate,
                                      const cpu::RegionValues& values = {});

}  // namespace infimum::cuda
