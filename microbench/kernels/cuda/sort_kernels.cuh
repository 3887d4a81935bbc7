// Sorts of pieces, and merges of sorted runs.
#pragma once

#include "microbench/kernels/cuda/sort_body.h"

namespace infimum::cuda {

template <class T>
__global__ void __launch_bounds__(kSortThreads) SortKernel(const __grid_constant__ SortCall argument) {
  SortCall call = argument;
  INFIMUM_KNOWN(call)
  extern __shared__ __align__(16) unsigned char shared[];
  const SortThread<T> thread{call, blockIdx.x, threadIdx.x, reinterpret_cast<SortEntry<SortKey<T>>*>(shared)};
  thread.Load();
  for (std::uint32_t size = 2; size <= call.piece; size *= 2) {
    for (std::uint32_t distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      thread.Step(size, distance);
    }
  }
  __syncthreads();
  thread.Store();
}

template <class T>
__global__ void __launch_bounds__(kSortThreads) MergeKernel(const __grid_constant__ SortCall argument) {
  SortCall call = argument;
  INFIMUM_KNOWN(call)
  MergeThread<T>(call, static_cast<std::int64_t>(blockIdx.x) * kSortThreads + threadIdx.x);
}

}  // namespace infimum::cuda
