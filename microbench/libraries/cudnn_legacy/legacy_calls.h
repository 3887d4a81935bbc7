// The calls of cuDNN that are older than its graph (calls/legacy_call.h), as programs of the runner.
//
//   cudnn-legacy/implicit_precomp_gemm/tensor_op   cudnn-legacy/winograd   cudnn-legacy/softmax/accurate/instance
#pragma once

#include <memory>
#include <vector>

#include "infimum/measurement/contract.h"
#include "microbench/gpu/device/gpu_program.h"
#include "microbench/libraries/cudnn/cudnn_graph.h"

namespace infimum::cuda {

inline constexpr std::string_view kCudnnLegacy = "cudnn-legacy";  // the candidates' library

// The offers for one layer, or for a convolution with bias and relu; empty where cuDNN has no such call. Which of its
// algorithms take a layer is known when a program is made: a refusal is an error that starts with "unsupported: ".
std::vector<GpuOffer> LegacyOffers(const std::shared_ptr<CudnnHandle>& handle, const Workload& workload,
                                   NumericContract contract, const cpu::RegionValues& values = {});

}  // namespace infimum::cuda
