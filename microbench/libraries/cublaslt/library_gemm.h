// A problem and its tensors as the calls of cuBLASLt, cuBLAS and cuSPARSELt take them. For their files alone.
#pragma once

#include "microbench/libraries/cublaslt/calls/cublaslt_matmul.h"
#include "src/core/measurement/gemm_problem.h"

namespace infimum::cuda {

inline cublaslt::Gemm LibraryGemm(const GemmProblem& problem) {
  cublaslt::Gemm gemm;
  gemm.rows = problem.rows;
  gemm.columns = problem.columns;
  gemm.depth = problem.depth;
  gemm.batch = problem.batch;
  gemm.a = Name(problem.a);
  gemm.b = Name(problem.b);
  gemm.result = Name(problem.output);
  gemm.a_stride = problem.a_stride;
  gemm.b_stride = problem.b_stride;
  gemm.a_scales = Name(problem.a_scales);
  gemm.b_scales = Name(problem.b_scales);
  if (problem.bias != DataType::kNone) gemm.bias = Name(problem.bias);
  gemm.addend = problem.addend;
  gemm.activation = Name(problem.activation);
  gemm.factor = problem.factor;
  gemm.sums = Name(problem.sums);
  gemm.b_transposed = problem.b_transposed;
  gemm.b_sparse = problem.b_sparse;
  return gemm;
}

// In the order of RegionGemm.
inline cublaslt::Matmul::Tensors TensorsOf(const GemmProblem& problem, const std::vector<void*>& tensors) {
  cublaslt::Matmul::Tensors named;
  auto next = tensors.begin();
  named.a = *next++;
  named.b = *next++;
  if (problem.a_scales != GemmScales::kNone) named.a_scales = *next++;
  if (problem.b_scales != GemmScales::kNone) named.b_scales = *next++;
  if (problem.bias != DataType::kNone) named.bias = *next++;
  if (problem.addend) named.addend = *next++;
  named.result = *next;
  return named;
}

}  // namespace infimum::cuda
