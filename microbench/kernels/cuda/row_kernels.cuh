// Softmax and normalizations of rows; running sums.
#pragma once

#include "microbench/kernels/cuda/row_body.h"
#include "microbench/kernels/cuda/scan_body.h"

namespace infimum::cuda {

constexpr unsigned kAllLanes = 0xffffffffU;

template <class T>
__device__ RowState<T> FromLane(const RowState<T>& state, int distance) {
  return {__shfl_xor_sync(kAllLanes, state.a, distance), __shfl_xor_sync(kAllLanes, state.b, distance),
          __shfl_xor_sync(kAllLanes, state.at, distance)};
}

template <class T>
__device__ RowState<T> CombineWarp(RowKind kind, RowState<T> state) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) state = Combine(kind, state, FromLane(state, distance));
  return state;
}

// A thread for each row.
template <class T, class Source>
__device__ void RowByThread(const RowCall& call, const Source& source) {
  const std::uint32_t row = blockIdx.x * kRowThreads + threadIdx.x;
  if (row >= call.space.rows) return;
  const RowThread<T, 1, Source> thread{call, row, 0, nullptr, source};
  RowTotals<T> totals;
  for (int pass = 0; pass < RowPasses(call.kind); ++pass) {
    thread.Conclude(pass, thread.Pass(pass, totals), totals);
  }
  thread.Write(totals);
}

// A warp for each row, eight in a block; they need no barrier.
template <class T, int kWidth, class Source>
__device__ void RowByWarp(const RowCall& call, const Source& source) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::uint32_t row = blockIdx.x * (kRowThreads / 32) + static_cast<std::uint32_t>(warp);
  if (row >= call.space.rows) return;
  void* cache = call.caches ? shared + warp * RowCacheBytes(call) : nullptr;
  const RowThread<T, kWidth, Source> thread{call, row, static_cast<int>(threadIdx.x) % 32, cache, source};
  RowTotals<T> totals;
  for (int pass = 0; pass < RowPasses(call.kind); ++pass) {
    thread.Conclude(pass, CombineWarp(call.kind, thread.Pass(pass, totals)), totals);
  }
  thread.Write(totals);
}

// A block for each row.
template <class T, int kWidth, class Source>
__device__ void RowByBlock(const RowCall& call, const Source& source) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ RowState<T> states[2][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const RowThread<T, kWidth, Source> thread{call, blockIdx.x, static_cast<int>(threadIdx.x),
                                            call.caches ? shared : nullptr, source};
  RowTotals<T> totals;
  for (int pass = 0; pass < RowPasses(call.kind); ++pass) {
    RowState<T> state = CombineWarp(call.kind, thread.Pass(pass, totals));
    // Each warp combines all warps' states for itself. Two sets of them, so that one barrier a pass is enough.
    if (lane == 0) states[pass % 2][warp] = state;
    __syncthreads();
    state = lane < warps ? states[pass % 2][lane] : EmptyRowState<T>();
    thread.Conclude(pass, CombineWarp(call.kind, state), totals);
  }
  thread.Write(totals);
}

template <class T>
__global__ void __launch_bounds__(kRowThreads) RowKernelByThread(const __grid_constant__ RowCall argument) {
  RowCall call = argument;
  INFIMUM_KNOWN(call)
  RowByThread<T>(call, RowInMemory());
}
template <class T, int kWidth>
__global__ void __launch_bounds__(kRowThreads) RowKernelByWarp(const __grid_constant__ RowCall argument) {
  RowCall call = argument;
  INFIMUM_KNOWN(call)
  RowByWarp<T, kWidth>(call, RowInMemory());
}
template <class T, int kWidth>
__global__ void __launch_bounds__(1024) RowKernelByBlock(const __grid_constant__ RowCall argument) {
  RowCall call = argument;
  INFIMUM_KNOWN(call)
  RowByBlock<T, kWidth>(call, RowInMemory());
}

template <class T>
__global__ void __launch_bounds__(kScanThreads) ScanKernelByThread(const __grid_constant__ ScanCall argument) {
  ScanCall call = argument;
  INFIMUM_KNOWN(call)
  ScanLine<T>(call, blockIdx.x * kScanThreads + threadIdx.x);
}

template <class T>
__global__ void __launch_bounds__(kScanThreads) ScanKernelByBlock(const __grid_constant__ ScanCall argument) {
  ScanCall call = argument;
  INFIMUM_KNOWN(call)
  __shared__ T sums[2][kScanThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  T before = ScanEmpty<T>(call);  // of all pieces so far
  const std::uint32_t pieces = (call.length + kScanPiece - 1) / kScanPiece;
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    ScanPiece<T> own;
    T sum = own.Load(call, blockIdx.x, piece, static_cast<int>(threadIdx.x));
    // Within the warp: sums of all lanes up to this one.
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const T other = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum = ScanCombine(call, other, sum);
    }
    T ahead = __shfl_up_sync(kAllLanes, sum, 1);
    if (lane == 0) ahead = ScanEmpty<T>(call);
    if (lane == 31) sums[piece % 2][warp] = sum;
    __syncthreads();
    T total = ScanEmpty<T>(call), of_warps = total;
    for (int i = 0; i < kScanThreads / 32; ++i) {
      if (i == warp) of_warps = total;
      total = ScanCombine(call, total, sums[piece % 2][i]);
    }
    const T first = ScanCombine(call, before, of_warps);
    own.Store(call, blockIdx.x, piece, static_cast<int>(threadIdx.x), ScanCombine(call, first, ahead));
    before = ScanCombine(call, before, total);
  }
}

}  // namespace infimum::cuda
