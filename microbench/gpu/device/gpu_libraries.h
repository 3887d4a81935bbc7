// The libraries that candidates come from on a GPU: each is loaded when it is first asked for, and one that is missing
// takes its candidates with it and nothing else.
//
//   GpuLibraries libraries(gpu);
//   for (const GpuOffer& offer : *libraries.Offers(workload, contract, CandidateTier::kEngine)) ...
//   libraries.missing();    // {"cuBLASLt (libcublasLt.so.13) was not found; install it ..."}
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infimum/measurement/contract.h"
#include "microbench/gpu/device/gpu_program.h"
#include "microbench/reference/region_tensors.h"
#include "src/core/measurement/gemm_problem.h"

namespace infimum::cuda {

class GpuLibraries {
 public:
  virtual ~GpuLibraries() = default;

  // Versions of those that could be loaded: {"cudnn": "9.19.0", "cublas": "13.1.0"}; one line for each that could not.
  virtual std::map<std::string, std::string> versions() = 0;
  virtual std::vector<std::string> missing() = 0;

  // Of all libraries, the likeliest first; of each its own choice is marked. An error only where something is broken.
  virtual Result<std::vector<GpuOffer>> Offers(const Workload& workload, NumericContract contract,
                                               CandidateTier tier) = 0;

  // What makes one candidate, without listing all; nullopt where no library has it. `values`: a model's own, member by
  // member; without any it is as benchmarks have it.
  virtual Result<std::optional<GpuOffer>> Find(const Workload& workload, NumericContract contract,
                                               const Candidate& candidate, const cpu::RegionValues& values = {}) = 0;

  // Large products for peaks of arithmetic, by what the library suggests; none where it has the type not.
  // `sums`: instead of the type's usual ones.
  virtual std::vector<GpuOffer> LargeProducts(DataType type, NumericContract contract, std::int64_t extent,
                                              std::optional<GemmSums> sums) = 0;
};

// cuDNN, cuBLASLt, cuBLAS and kernels of ours, on a CUDA device. `gpu` lives longer.
std::unique_ptr<GpuLibraries> MakeCudaLibraries(Gpu& gpu);

}  // namespace infimum::cuda
