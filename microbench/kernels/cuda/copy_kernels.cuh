// Kernels that move elements. Compiled when one is asked for (device_source.h).
#pragma once

#include "microbench/kernels/cuda/copy_body.h"

namespace infimum::cuda {

template <class Unit, int kUnits, bool kStreams>
__global__ void __launch_bounds__(kCopyThreads) FlatCopyKernel(const __grid_constant__ FlatCopyCall call) {
  FlatCopyThread<Unit, kUnits, kStreams>(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

template <class Unit>
__global__ void __launch_bounds__(kCopyThreads) FillKernel(const __grid_constant__ FillCall call) {
  FillThread<Unit>(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

template <class Unit, int kUnits, CopyCall::Limit kLimit>
__global__ void __launch_bounds__(kCopyThreads) CopyKernel(const __grid_constant__ CopyCall call) {
  CopyThread<Unit, kUnits, kLimit>(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

template <class Unit, int kUnits, bool kScatters>
__global__ void __launch_bounds__(kCopyThreads) GatherKernel(const __grid_constant__ GatherCall argument) {
  GatherCall call = argument;
  INFIMUM_KNOWN(call)
  GatherThread<Unit, kUnits, kScatters>(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

template <class Unit, bool kSplits>
__global__ void __launch_bounds__(kCopyThreads) JoinKernel(const __grid_constant__ JoinCall call) {
  JoinThread<Unit, kSplits>(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

__global__ void __launch_bounds__(kCopyThreads) OneHotKernel(const __grid_constant__ OneHotCall argument) {
  OneHotCall call = argument;
  INFIMUM_KNOWN(call)
  OneHotThread(call, blockIdx.x, static_cast<int>(threadIdx.x));
}

template <class Tile>
__global__ void __launch_bounds__(Tile::kLanes* Tile::kRows)
    TransposeKernel(const __grid_constant__ TransposeCall call) {
  __shared__ typename Tile::Word shared[Tile::kWords];
  Tile::Load(call, blockIdx.x, static_cast<int>(threadIdx.x), static_cast<int>(threadIdx.y), shared);
  __syncthreads();
  Tile::Store(call, blockIdx.x, static_cast<int>(threadIdx.x), static_cast<int>(threadIdx.y), shared);
}

}  // namespace infimum::cuda
