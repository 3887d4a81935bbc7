// Poolings, resampling, local response normalization: a thread for each output element.
#include "microbench/kernels/cuda/kernel_call.h"
#include "microbench/kernels/cuda/window_body.h"

namespace infimum::cuda {
namespace {

__device__ std::int64_t ThreadNumber() { return static_cast<std::int64_t>(blockIdx.x) * kWindowThreads + threadIdx.x; }

template <class T>
__global__ void __launch_bounds__(kWindowThreads) PoolKernel(const __grid_constant__ PoolCall call) {
  PoolThread<T>(call, ThreadNumber());
}

template <class T, int kTaps>
__global__ void __launch_bounds__(kWindowThreads) ResampleKernel(const __grid_constant__ ResampleCall call) {
  ResampleThread<T, kTaps>(call, ThreadNumber());
}

template <class T>
__global__ void __launch_bounds__(kWindowThreads) ResponseKernel(const __grid_constant__ ResponseCall call) {
  ResponseThread<T>(call, ThreadNumber());
}

unsigned BlocksOf(std::uint32_t count) { return (count + kWindowThreads - 1) / kWindowThreads; }

template <class T>
void LaunchResample(const ResampleCall& call, cudaStream_t queue) {
  const unsigned blocks = BlocksOf(call.count);
  if (call.taps == 1) return ResampleKernel<T, 1><<<blocks, kWindowThreads, 0, queue>>>(call);
  if (call.taps == 2) return ResampleKernel<T, 2><<<blocks, kWindowThreads, 0, queue>>>(call);
  ResampleKernel<T, 4><<<blocks, kWindowThreads, 0, queue>>>(call);
}

}  // namespace

int Launch(const PoolCall& call, void* stream) {
  if (call.count == 0) return cudaSuccess;
  const auto queue = static_cast<cudaStream_t>(stream);
  if (call.arithmetic == Arithmetic::kF32) {
    PoolKernel<float><<<BlocksOf(call.count), kWindowThreads, 0, queue>>>(call);
  } else {
    PoolKernel<double><<<BlocksOf(call.count), kWindowThreads, 0, queue>>>(call);
  }
  return cudaGetLastError();
}

int Launch(const ResampleCall& call, void* stream) {
  if (call.count == 0) return cudaSuccess;
  const auto queue = static_cast<cudaStream_t>(stream);
  if (call.arithmetic == Arithmetic::kF32) {
    LaunchResample<float>(call, queue);
  } else {
    LaunchResample<double>(call, queue);
  }
  return cudaGetLastError();
}

int Launch(const ResponseCall& call, void* stream) {
  if (call.count == 0) return cudaSuccess;
  const auto queue = static_cast<cudaStream_t>(stream);
  if (call.arithmetic == Arithmetic::kF32) {
    ResponseKernel<float><<<BlocksOf(call.count), kWindowThreads, 0, queue>>>(call);
  } else {
    ResponseKernel<double><<<BlocksOf(call.count), kWindowThreads, 0, queue>>>(call);
  }
  return cudaGetLastError();
}

int LaunchOnDevice(const KernelCall& call, void* stream) {
  return std::visit([stream](const auto& own) { return Launch(own, stream); }, call);
}

}  // namespace infimum::cuda
