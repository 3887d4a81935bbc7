// The calls of cuDNN that are older than its graph, as programs: the eight algorithms of a forward convolution,
// softmax, normalizations, poolings, recurrent layers. Their names are those of the measurements of 2019.
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

// By family.
std::vector<GpuOffer> LegacyConvolutions(const std::shared_ptr<CudnnHandle>& handle, const Workload& workload,
                                         NumericContract contract);
std::vector<GpuOffer> LegacyRecurrent(const std::shared_ptr<CudnnHandle>& handle, const cpu::ValuedRegion& problem,
                                      NumericContract contract);
std::vector<GpuOffer> LegacyStatistics(const std::shared_ptr<CudnnHandle>& handle, const cpu::ValuedRegion& problem);

}  // namespace infimum::cuda
