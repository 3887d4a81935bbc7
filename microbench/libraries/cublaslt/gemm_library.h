// A BLAS library for GPUs: what it answers about one GEMM, and a call of it. cuBLASLt (cublaslt.h) answers only where
// a GPU is; a recording of its answers (gemm_recording.h) stands in for it elsewhere.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"
#include "microbench/gpu/device/gpu.h"
#include "microbench/libraries/cublaslt/calls/cublaslt_algorithms.h"
#include "src/core/measurement/gemm_problem.h"

namespace infimum::cuda {

// Its memory is that of the problem's tensors in the order of RegionGemm.
class GemmCall {
 public:
  virtual ~GemmCall() = default;
  virtual Bytes workspace() const = 0;
  virtual Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) = 0;
};

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;

  virtual std::string version() const = 0;
  // What it answers about the problem; the library lives longer. Answers throw std::runtime_error.
  virtual Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem& problem) = 0;
  virtual Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const cublaslt::Algorithm& algorithm) = 0;
};

}  // namespace infimum::cuda
