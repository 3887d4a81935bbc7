// Reductions, by rows and by columns.
#pragma once

#include "microbench/kernels/cuda/reduce_body.h"

namespace infimum::cuda {

constexpr unsigned kAllLanes = 0xffffffffU;

template <class T>
__device__ ReduceState<T> CombineWarp(ReduceKind kind, ReduceState<T> state) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    ReduceState<T> other;
    other.value = __shfl_xor_sync(kAllLanes, state.value, distance);
    other.extra = __shfl_xor_sync(kAllLanes, state.extra, distance);
    other.at = __shfl_xor_sync(kAllLanes, static_cast<long long>(state.at), distance);
    state = Combine(kind, state, other);
  }
  return state;
}

// One thread or one warp for each output. blockIdx.y is the part.
template <class T, int kWidth>
__global__ void __launch_bounds__(kReduceThreads) ReduceKernelByWarp(const __grid_constant__ ReduceCall argument) {
  ReduceCall call = argument;
  INFIMUM_KNOWN(call)
  const std::uint32_t thread = blockIdx.x * kReduceThreads + threadIdx.x;
  const auto threads = static_cast<std::uint32_t>(call.threads);
  const std::uint32_t output = threads == 1 ? thread : thread / 32;
  if (output >= call.kept_count) return;
  ReduceState<T> state =
      ReduceRow<T, kWidth>(call, output, blockIdx.y, threads == 1 ? 0 : static_cast<int>(thread % 32));
  if (threads > 1) state = CombineWarp(call.kind, state);
  if (threads == 1 || thread % 32 == 0) Leave(call, output, blockIdx.y, state);
}

// A block for each output and part.
template <class T, int kWidth>
__global__ void __launch_bounds__(1024) ReduceKernelByBlock(const __grid_constant__ ReduceCall argument) {
  ReduceCall call = argument;
  INFIMUM_KNOWN(call)
  __shared__ ReduceState<T> states[32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  ReduceState<T> state = ReduceRow<T, kWidth>(call, blockIdx.x, blockIdx.y, static_cast<int>(threadIdx.x));
  state = CombineWarp(call.kind, state);
  if (lane == 0) states[warp] = state;
  __syncthreads();
  if (warp != 0) return;
  state = lane < static_cast<int>(blockDim.x) / 32 ? states[lane] : EmptyState<T>(call.kind);
  state = CombineWarp(call.kind, state);
  if (lane == 0) Leave(call, blockIdx.x, blockIdx.y, state);
}

// 32 lanes with kWidth outputs each; the rows of the block share a reduction.
template <class T, int kWidth>
__global__ void __launch_bounds__(1024) ReduceKernelByColumn(const __grid_constant__ ReduceCall argument) {
  ReduceCall call = argument;
  INFIMUM_KNOWN(call)
  extern __shared__ __align__(16) unsigned char shared[];
  auto* states = reinterpret_cast<ReduceState<T>*>(shared);  // [threads][32]
  const int lane = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const std::uint32_t output = (blockIdx.x * 32 + threadIdx.x) * kWidth;
  ReduceState<T> state[kWidth];
  ReduceColumn<T, kWidth>(call, output, blockIdx.y, row, state);
#pragma unroll
  for (int e = 0; e < kWidth; ++e) {
    if (call.threads > 1) {
      if (e > 0) __syncthreads();
      states[row * 32 + lane] = state[e];
      __syncthreads();
      if (row == 0) {
        for (int other = 1; other < call.threads; ++other) {
          state[e] = Combine(call.kind, state[e], states[other * 32 + lane]);
        }
      }
    }
    if (row == 0 && output + e < call.kept_count) Leave(call, output + e, blockIdx.y, state[e]);
  }
}

}  // namespace infimum::cuda
