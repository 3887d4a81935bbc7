// Products with stored weights: a block for each tile of columns, some rows and a part of the depth.
#pragma once

#include "microbench/kernels/cuda/stored_body.h"

namespace infimum::cuda {

template <int kBits, int kRows>
__global__ void __launch_bounds__(kStoredThreads)
    StoredProductKernel(const __grid_constant__ StoredProductCall argument) {
  StoredProductCall call = argument;
  INFIMUM_KNOWN(call)
  __shared__ __align__(16) float sums[StoredThread<kBits, kRows>::kSharedBytes / 4];
  const StoredThread<kBits, kRows> thread{call, blockIdx.x, blockIdx.y, static_cast<int>(threadIdx.x), sums};
  thread.Sum();
  __syncthreads();
  thread.Leave();
}

template <int kBits>
__global__ void __launch_bounds__(kStoredThreads)
    StoredExpandKernel(const __grid_constant__ StoredProductCall argument) {
  StoredProductCall call = argument;
  INFIMUM_KNOWN(call)
  const StoredThread<kBits, 1> thread{call, 0, 0, 0, nullptr};
  thread.Expand(static_cast<std::int64_t>(blockIdx.x) * kStoredThreads + threadIdx.x);
}

__global__ void __launch_bounds__(kStoredThreads)
    StoredCombineKernel(const __grid_constant__ StoredProductCall argument) {
  StoredProductCall call = argument;
  INFIMUM_KNOWN(call)
  StoredCombineThread(call, static_cast<std::int64_t>(blockIdx.x) * kStoredThreads + threadIdx.x);
}

}  // namespace infimum::cuda
