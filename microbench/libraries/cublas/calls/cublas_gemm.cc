#include "microbench/libraries/cublas/calls/cublas_gemm.h"

#include <algorithm>
#include <stdexcept>

namespace cublas {

void Check(const Functions& cublas, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const bool is_refusal = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
                          status == CUBLAS_STATUS_ARCH_MISMATCH;
  throw std::runtime_error(std::string(is_refusal ? "unsupported: cuBLAS refuses it, " : "cuBLAS: ") +
                           cublas.GetStatusString(status));
}

Gemm::Gemm(const Functions& cublas, cublasHandle_t handle, const cublaslt::Gemm& gemm)
    : cublas_(cublas),
      handle_(handle),
      gemm_(gemm),
      a_(cublaslt::TypeOf(gemm.a)),
      b_(cublaslt::TypeOf(gemm.b)),
      result_(cublaslt::TypeOf(gemm.result)),
      sums_(cublaslt::ComputeTypeOf(gemm)),
      alpha_(gemm.factor, cublaslt::ScaleTypeOf(gemm)),
      beta_(0, cublaslt::ScaleTypeOf(gemm)) {
  if (!gemm.bias.empty() || gemm.addend || !gemm.activation.empty() || !gemm.a_scales.empty())
    throw std::runtime_error("unsupported: cuBLAS has no epilogues, and no scales of blocks");
  if (std::max({gemm.rows, gemm.columns, gemm.depth, gemm.batch}) > std::int64_t{2147483647})
    throw std::runtime_error("unsupported: cuBLAS counts in 32 bits");
}

void Gemm::Run(const void* a, const void* b, void* result, void* workspace, cudaStream_t stream) const {
  Check(cublas_, cublas_.SetStream(handle_, stream));
  Check(cublas_, cublas_.SetWorkspace(handle_, workspace, kWorkspace));
  const auto m = static_cast<int>(gemm_.columns), n = static_cast<int>(gemm_.rows), k = static_cast<int>(gemm_.depth);
  // Matrices are column-major there, so that our second operand comes first.
  Check(cublas_, cublas_.GemmStridedBatchedEx(
                     handle_, gemm_.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, alpha_.bytes, b, b_,
                     gemm_.b_transposed ? k : m, gemm_.b_stride, a, a_, k, gemm_.a_stride, beta_.bytes, result, result_,
                     m, gemm_.rows * gemm_.columns, static_cast<int>(gemm_.batch), sums_, CUBLAS_GEMM_DEFAULT));
}

}  // namespace cublas
