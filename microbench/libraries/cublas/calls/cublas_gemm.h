// cublasGemmStridedBatchedEx, the GEMM that everybody calls, by the algorithm that cuBLAS chooses.
//
//   const Gemm gemm(functions, handle, {.rows = 128, .columns = 3072, .depth = 768, .a = "f16", ...});
//   gemm.Run(a, b, result, workspace, stream);   // `workspace`: kWorkspace bytes
#pragma once

#include <cublasLt.h>  // cublas_api.h, which CUDA 12 does not let be included alone

#include <cstdint>

#include "microbench/libraries/cublaslt/calls/cublaslt_matmul.h"

namespace cublas {

// cuBLAS's functions: linked, or looked up in a library that was loaded.
#define CUBLAS_FUNCTIONS(DO)              \
  DO(Create, cublasCreate_v2)             \
  DO(Destroy, cublasDestroy_v2)           \
  DO(SetStream, cublasSetStream_v2)       \
  DO(SetWorkspace, cublasSetWorkspace_v2) \
  DO(GetVersion, cublasGetVersion_v2)     \
  DO(GetStatusString, cublasGetStatusString)
struct Functions {
#define CUBLAS_POINTER(name, symbol) decltype(&::symbol) name = nullptr;
  CUBLAS_FUNCTIONS(CUBLAS_POINTER)
#undef CUBLAS_POINTER
  // cublasGemmStridedBatchedEx, which is overloaded in its header.
  cublasStatus_t (*GemmStridedBatchedEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                         const void*, const void*, cudaDataType, int, long long, const void*,
                                         cudaDataType, int, long long, const void*, void*, cudaDataType, int, long long,
                                         int, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
};

// What cuBLAS recommends for the newest devices; smaller ones need less.
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

// Throws where the status is no success; the message begins with "unsupported: " where cuBLAS refuses.
void Check(const Functions& cublas, cublasStatus_t status);

class Gemm {
 public:
  // The functions and the handle live longer. Throws "unsupported: ..." for a bias, an addend or an activation.
  Gemm(const Functions& cublas, cublasHandle_t handle, const cublaslt::Gemm& gemm);

  void Run(const void* a, const void* b, void* result, void* workspace, cudaStream_t stream) const;

 private:
  const Functions& cublas_;
  cublasHandle_t handle_;
  cublaslt::Gemm gemm_;
  cudaDataType_t a_, b_, result_;
  cublasComputeType_t sums_;
  cublaslt::Factor alpha_, beta_;
};

}  // namespace cublas
