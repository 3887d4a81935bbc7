// Kernels around the timing of others, and peaks.
#include "microbench/kernels/cuda/kernel_call.h"
#include "microbench/kernels/cuda/timing_body.h"

namespace infimum::cuda {
namespace {

cudaStream_t StreamOf(void* stream) { return static_cast<cudaStream_t>(stream); }

__device__ std::uint64_t GlobalNanoseconds() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__device__ std::uint64_t Clocks() { return static_cast<std::uint64_t>(clock64()); }

__global__ void EmptyKernel() {}

// No multiprocessor makes 10 clocks a nanosecond, so ten times the nanoseconds are a bound by another clock.
__global__ void HoldKernel(const volatile std::uint32_t* flag, std::uint64_t most_ns) {
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

// Blocks that the current device holds at a time; 0 without one.
template <class Kernel>
int BlocksOfDevice(Kernel kernel, int threads) {
  int device = 0, processors = 0, each = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) return 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0) != cudaSuccess) return 0;
  return processors * each;
}

template <int kUnits>
int LaunchBandwidthOf(const BandwidthCall& call, void* stream) {
  const int blocks = call.blocks > 0 ? call.blocks : BlocksOfDevice(BandwidthKernel<kUnits>, kBandwidthThreads);
  if (blocks == 0) return cudaErrorNoDevice;
  BandwidthKernel<kUnits><<<static_cast<unsigned>(blocks), kBandwidthThreads, 0, StreamOf(stream)>>>(call);
  return cudaGetLastError();
}

// Calls function(kernel) with the kernel of a kind.
template <class Function>
int WithArithmeticKernel(ArithmeticPeak kind, const Function& function) {
  if (kind == ArithmeticPeak::kF64) return function(ArithmeticKernel<ArithmeticPeak::kF64>);
  return function(ArithmeticKernel<ArithmeticPeak::kF32>);
}

}  // namespace

int LaunchEmpty(void* stream) {
  EmptyKernel<<<1, 32, 0, StreamOf(stream)>>>();
  return cudaGetLastError();
}

int LaunchFlush(void* memory, std::int64_t bytes, void* stream) {
  FillCall call;
  call.to = memory;
  call.bytes = bytes;
  call.word = 0x5a5a5a5aU;
  return Launch(call, stream);
}

int LaunchHold(const std::uint32_t* flag, std::uint64_t most_ns, void* stream) {
  HoldKernel<<<1, 1, 0, StreamOf(stream)>>>(flag, most_ns);
  return cudaGetLastError();
}

int LaunchBandwidth(const BandwidthCall& call, void* stream) {
  switch (call.units_in_flight) {
    case 1:
      return LaunchBandwidthOf<1>(call, stream);
    case 2:
      return LaunchBandwidthOf<2>(call, stream);
    case 8:
      return LaunchBandwidthOf<8>(call, stream);
    default:
      return LaunchBandwidthOf<4>(call, stream);
  }
}

int LaunchArithmetic(const ArithmeticCall& call, void* stream) {
  const int blocks = call.blocks > 0 ? call.blocks : ArithmeticBlocks(call.kind);
  if (blocks == 0) return cudaErrorNoDevice;
  return WithArithmeticKernel(call.kind, [&](auto kernel) -> int {
    kernel<<<static_cast<unsigned>(blocks), kArithmeticThreads, 0, StreamOf(stream)>>>(call);
    return cudaGetLastError();
  });
}

int ArithmeticBlocks(ArithmeticPeak kind) {
  return WithArithmeticKernel(kind, [](auto kernel) { return BlocksOfDevice(kernel, kArithmeticThreads); });
}

}  // namespace infimum::cuda
