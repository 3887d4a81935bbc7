// Reductions, by rows and by columns.
#include "microbench/kernels/cuda/kernel_call.h"
#include "microbench/kernels/cuda/reduce_body.h"

namespace infimum::cuda {
namespace {

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
__global__ void __launch_bounds__(kReduceThreads) ReduceKernelByWarp(const __grid_constant__ ReduceCall call) {
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
__global__ void __launch_bounds__(1024) ReduceKernelByBlock(const __grid_constant__ ReduceCall call) {
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
__global__ void __launch_bounds__(1024) ReduceKernelByColumn(const __grid_constant__ ReduceCall call) {
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

}  // namespace

int Launch(const ReduceCall& call, void* stream) {
  if (call.kept_count == 0) return cudaSuccess;
  const auto queue = static_cast<cudaStream_t>(stream);
  const unsigned parts = call.combines ? 1 : call.parts;
  const bool known = WithReduceThread(call, [&](auto number, auto width) {
    using T = decltype(number);
    constexpr int kWidth = decltype(width)::value;
    if (call.form == ReduceCall::Form::kColumns) {
      const dim3 grid((call.kept_count + 32 * kWidth - 1) / (32 * kWidth), parts);
      const dim3 threads(32, static_cast<unsigned>(call.threads));
      const std::size_t shared =
          call.threads > 1 ? sizeof(ReduceState<T>) * 32 * static_cast<unsigned>(call.threads) : 0;
      ReduceKernelByColumn<T, kWidth><<<grid, threads, shared, queue>>>(call);
    } else if (call.threads <= 32) {
      const std::int64_t threads = std::int64_t{call.kept_count} * call.threads;
      const dim3 grid(static_cast<unsigned>((threads + kReduceThreads - 1) / kReduceThreads), parts);
      ReduceKernelByWarp<T, kWidth><<<grid, kReduceThreads, 0, queue>>>(call);
    } else {
      ReduceKernelByBlock<T, kWidth><<<dim3(call.kept_count, parts), call.threads, 0, queue>>>(call);
    }
  });
  return known ? cudaGetLastError() : cudaErrorInvalidValue;
}

}  // namespace infimum::cuda
