// Poolings, resampling, local response normalization: a thread for each output element.
#pragma once

#include "microbench/kernels/cuda/window_body.h"

namespace infimum::cuda {

__device__ inline std::int64_t ThreadNumber() {
  return static_cast<std::int64_t>(blockIdx.x) * kWindowThreads + threadIdx.x;
}

template <class T>
__global__ void __launch_bounds__(kWindowThreads) PoolKernel(const __grid_constant__ PoolCall argument) {
  PoolCall call = argument;
  INFIMUM_KNOWN(call)
  PoolThread<T>(call, ThreadNumber());
}

template <class T, int kTaps>
__global__ void __launch_bounds__(kWindowThreads) ResampleKernel(const __grid_constant__ ResampleCall argument) {
  ResampleCall call = argument;
  INFIMUM_KNOWN(call)
  ResampleThread<T, kTaps>(call, ThreadNumber());
}

template <class T>
__global__ void __launch_bounds__(kWindowThreads) GridKernel(const __grid_constant__ GridCall argument) {
  GridCall call = argument;
  INFIMUM_KNOWN(call)
  GridThread<T>(call, ThreadNumber());
}

template <class T>
__global__ void __launch_bounds__(kWindowThreads) ResponseKernel(const __grid_constant__ ResponseCall argument) {
  ResponseCall call = argument;
  INFIMUM_KNOWN(call)
  ResponseThread<T>(call, ThreadNumber());
}

}  // namespace infimum::cuda
