// Our types and sums in the words of cuBLAS. For cublaslt.cc and cublas.cc alone.
#pragma once

#include <cublas_api.h>
#include <library_types.h>

#include <optional>

#include "infimum/base/result.h"
#include "microbench/libraries/cublaslt/gemm_problem.h"

namespace infimum::cuda {

inline std::optional<cudaDataType_t> CudaTypeOf(DataType type) {
  switch (type) {
    case DataType::kF64:
      return CUDA_R_64F;
    case DataType::kF32:
      return CUDA_R_32F;
    case DataType::kF16:
      return CUDA_R_16F;
    case DataType::kBF16:
      return CUDA_R_16BF;
    case DataType::kF8E4M3:
      return CUDA_R_8F_E4M3;
    case DataType::kF8E5M2:
      return CUDA_R_8F_E5M2;
    case DataType::kS8:
      return CUDA_R_8I;
    case DataType::kS32:
      return CUDA_R_32I;
    default:
      return std::nullopt;
  }
}

inline cublasComputeType_t ComputeTypeOf(GemmSums sums) {
  switch (sums) {
    case GemmSums::kTf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case GemmSums::kF16:
      return CUBLAS_COMPUTE_16F;
    case GemmSums::kF64:
      return CUBLAS_COMPUTE_64F;
    case GemmSums::kS32:
      return CUBLAS_COMPUTE_32I;
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

// Of the factors: that of the sums, but f32 where sums of integers become something else.
inline cudaDataType_t ScaleTypeOf(const GemmProblem& problem) {
  switch (problem.sums) {
    case GemmSums::kF16:
      return CUDA_R_16F;
    case GemmSums::kF64:
      return CUDA_R_64F;
    case GemmSums::kS32:
      return problem.output == DataType::kS32 ? CUDA_R_32I : CUDA_R_32F;
    default:
      return CUDA_R_32F;
  }
}

// A number as the library reads a factor of that type.
struct ScaleValue {
  ScaleValue(double value, cudaDataType_t type) {
    switch (type) {
      case CUDA_R_16F:
        cpu::HostTensor::SetElement(bytes, DataType::kF16, 0, value);
        break;
      case CUDA_R_64F:
        cpu::HostTensor::SetElement(bytes, DataType::kF64, 0, value);
        break;
      case CUDA_R_32I:
        cpu::HostTensor::SetElement(bytes, DataType::kS32, 0, value);
        break;
      default:
        cpu::HostTensor::SetElement(bytes, DataType::kF32, 0, value);
    }
  }
  alignas(8) unsigned char bytes[8] = {};
};

}  // namespace infimum::cuda
