// Attention: a block for each tile of rows and part of the keys.
#pragma once

#include "microbench/kernels/cuda/attention_body.h"

namespace infimum::cuda {

template <int kEach, int kLanes, int kKeys, int kColumns>
__global__ void __launch_bounds__(kAttentionThreads) AttentionKernel(const __grid_constant__ AttentionCall argument) {
  AttentionCall call = argument;
  INFIMUM_KNOWN(call)
  extern __shared__ __align__(16) float tiles[];
  AttentionThread<kEach, kLanes, kKeys, kColumns> thread{call, blockIdx.x, blockIdx.y, static_cast<int>(threadIdx.x),
                                                         tiles};
  thread.LoadQueries();
  const std::uint32_t end = thread.end_key();
  for (std::uint32_t key = thread.first_key(); key < end; key += kKeys) {
    __syncthreads();
    thread.LoadKeys(key);
    __syncthreads();
    thread.Score(key);
    __syncthreads();
    thread.LoadValues(key);
    __syncthreads();
    thread.FindLargest();
    __syncwarp();
    thread.Weigh();
    __syncwarp();
    thread.Accumulate();
  }
  thread.Finish();
}

__global__ void __launch_bounds__(kAttentionThreads)
    AttentionCombineKernel(const __grid_constant__ AttentionCombineCall argument) {
  AttentionCombineThread(argument, static_cast<std::int64_t>(blockIdx.x) * kAttentionThreads + threadIdx.x);
}

}  // namespace infimum::cuda
