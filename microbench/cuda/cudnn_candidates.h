// cuDNN's graph as candidates of a workload, over all the ways to put it (cudnn_form.h).
//
//   CudnnCandidates(convolution f16, kF16, kEngine, h200)
//     cudnn-graph/eng45_k2=5_k5=4_k14=4          in=acdb out=acdb  the library's choice   tensor-core
//     cudnn-graph/eng22_k2=5_k13=1_k14=3...      in=acdb out=acdb                         tensor-core
//     cudnn-graph/eng62_k2=5.../acc=f16          in=acdb out=acdb                         tensor-core
//
// `heuristic`: what cuDNN would choose for the usual form, and its next best; `engine`: of each engine its best setting,
// as cuDNN's own order has it, or its own where that order leaves it out; `exhaustive`: every setting, at most
// kMostOfAForm for each form. Of f32 products an engine of the Tensor Cores keeps 10 bits of an operand's mantissa: it
// counts under tf32, every other one under strict-f32.
#pragma once

#include "infimum/results/candidate_list.h"
#include "microbench/cuda/gpu_properties.h"

namespace infimum::cuda {

inline constexpr std::size_t kMostOfAForm = 1000;

// Lists without the library's name and version; `refusal` has cuDNN's words for the forms that it does not take.
Result<CandidateList> CudnnCandidates(const Workload& workload, NumericContract contract, CandidateTier tier,
                                      const GpuProperties& gpu);

}  // namespace infimum::cuda
