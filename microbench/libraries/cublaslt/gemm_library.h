// A BLAS library for GPUs: what it answers about one GEMM, and a call of it. cuBLASLt (cublaslt.h) answers only where
// a GPU is; a recording of its answers (gemm_recording.h) stands in for it elsewhere.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  // Of a call that reads its second operand compressed: Compress() writes so many bytes of it, in front of scratch
  // memory of its own; Enqueue() has them in place of the operand. 0: it reads it as it is.
  virtual Bytes compressed() const { return {}; }
  virtual Bytes compression_memory() const { return {}; }  // with the compressed operand
  virtual Status Compress(const std::vector<void*>& /*tensors*/, void* /*memory*/, Gpu::Stream) { return {}; }
  virtual Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) = 0;
};

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;

  virtual std::string version() const = 0;
  virtual std::string_view name() const = 0;  // "cublaslt"
  // Whether it has products of sparse weights alone.
  virtual bool is_sparse() const { return false; }
  // An algorithm as candidates name it, and back; nullopt where it names none.
  virtual std::string NameOf(const cublaslt::Algorithm& algorithm) const { return cublaslt::Format(algorithm); }
  virtual std::optional<cublaslt::Algorithm> Named(const std::string& name) const {
    return cublaslt::ParseAlgorithm(name);
  }
  // What it answers about the problem; the library lives longer. Answers throw std::runtime_error.
  virtual Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem& problem) = 0;
  virtual Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const cublaslt::Algorithm& algorithm) = 0;
};

}  // namespace infimum::cuda
