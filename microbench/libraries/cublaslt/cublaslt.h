// cuBLASLt, plain cuBLAS and cuSPARSELt, loaded when they are asked for.
//
//   INFIMUM_ASSIGN_OR_RETURN(const std::shared_ptr<GemmLibrary> lt, OpenCublasLt(Bytes{32 << 20}));
//   lt->version();                     // "13.0.2"
//   GemmAlgorithms(*lt, problem, CandidateTier::kEngine, 1000);
#pragma once

#include <memory>

#include "microbench/libraries/cublaslt/gemm_library.h"

namespace infimum::cuda {

// `most_workspace`: scratch memory that an algorithm may use. The current device is the one that is asked.
Result<std::shared_ptr<GemmLibrary>> OpenCublasLt(Bytes most_workspace);

// cublasGemmStridedBatchedEx, which chooses by itself: one algorithm, with the id 0. Problems with an epilogue are
// refused.
Result<std::shared_ptr<GemmLibrary>> OpenCublas();

// cuSPARSELt 0.8 or later, of products of sparse weights alone.
Result<std::shared_ptr<GemmLibrary>> OpenCusparseLt(Bytes most_workspace);

}  // namespace infimum::cuda
