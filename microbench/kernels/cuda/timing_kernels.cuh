// Kernels around the timing of others, and peaks.
#pragma once

#include "microbench/kernels/cuda/timing_body.h"

namespace infimum::cuda {

__device__ inline std::uint64_t GlobalNanoseconds() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__device__ inline std::uint64_t Clocks() { return static_cast<std::uint64_t>(clock64()); }

__global__ void EmptyKernel(EmptyCall) {}

// No multiprocessor makes 10 clocks a nanosecond, so ten times the nanoseconds are a bound by another clock.
__global__ void HoldKernel(const HoldCall call) {
  const volatile std::uint32_t* const flag = call.flag;
  const std::uint64_t most_ns = call.most_ns;
  const std::uint64_t first_ns = GlobalNanoseconds(), first_clock = Clocks();
  while (*flag == 0) {
    if (GlobalNanoseconds() - first_ns > most_ns || Clocks() - first_clock > 10 * most_ns) return;
    // The host's memory is far: asked for all the time it would be slower to write.
    __nanosleep(200);
  }
}

template <int kUnits>
__global__ void __launch_bounds__(kBandwidthThreads) BandwidthKernel(const __grid_constant__ BandwidthCall call) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kBandwidthThreads;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kBandwidthThreads + threadIdx.x;
  std::uint32_t folded = 0;
  for (int pass = 0; pass < call.passes; ++pass) {
    folded += BandwidthPass<kUnits>(call, thread, threads, static_cast<std::uint32_t>(pass));
    // A later pass may not take what an earlier one has in registers.
    asm volatile("" ::: "memory");
  }
  if (call.kind == BandwidthKind::kRead && folded == 0x9e3779b9U) static_cast<std::uint32_t*>(call.to)[0] = folded;
}

// Numbers of a kind, and one link of a chain: x = x * y + z, which the compiler can neither fold nor leave out.
template <ArithmeticPeak kKind>
struct Chain;

template <>
struct Chain<ArithmeticPeak::kF32> {
  using Number = float;
  __device__ static Number Make(int seed) { return 1.0F + static_cast<float>(seed) * 1e-3F; }
  __device__ static Number Link(Number x, Number y, Number z) { return fmaf(x, y, z); }
  __device__ static std::uint32_t Bits(Number x) { return __float_as_uint(x); }
};
template <>
struct Chain<ArithmeticPeak::kF64> {
  using Number = double;
  __device__ static Number Make(int seed) { return 1.0 + seed * 1e-3; }
  __device__ static Number Link(Number x, Number y, Number z) { return fma(x, y, z); }
  __device__ static std::uint32_t Bits(Number x) { return static_cast<std::uint32_t>(__double2hiint(x)); }
};
template <ArithmeticPeak kKind>
__global__ void __launch_bounds__(kArithmeticThreads) ArithmeticKernel(const __grid_constant__ ArithmeticCall call) {
  using Own = Chain<kKind>;
  typename Own::Number x[kArithmeticChains];
  const int seed = static_cast<int>(threadIdx.x);
  const typename Own::Number y = Own::Make(seed % 7), z = Own::Make(seed % 5);
#pragma unroll
  for (int i = 0; i < kArithmeticChains; ++i) x[i] = Own::Make(seed + i);
  for (int turn = 0; turn < call.iterations; ++turn) {
#pragma unroll
    for (int link = 0; link < kArithmeticLinks; ++link) {
#pragma unroll
      for (int i = 0; i < kArithmeticChains; ++i) x[i] = Own::Link(x[i], y, z);
    }
  }
  std::uint32_t folded = 0;
#pragma unroll
  for (int i = 0; i < kArithmeticChains; ++i) folded ^= Own::Bits(x[i]) + static_cast<std::uint32_t>(i);
  // Never so, but nobody can know.
  if (folded == 0x9e3779b9U && call.iterations < 0) static_cast<std::uint32_t*>(call.to)[0] = folded;
  if (folded == 0x9e3779b9U && threadIdx.x == 4096) static_cast<std::uint32_t*>(call.to)[1] = folded;
}

}  // namespace infimum::cuda
