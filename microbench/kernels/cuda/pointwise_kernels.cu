// The element-wise kernel in each arithmetic and width.
#include "microbench/kernels/cuda/kernel_call.h"
#include "microbench/kernels/cuda/pointwise_body.h"

namespace infimum::cuda {
namespace {

// Four blocks on each multiprocessor: 1,024 threads with 16 bytes of each operand in flight.
template <class Thread>
__global__ void __launch_bounds__(kPointwiseThreads, 4) PointwiseKernel(const __grid_constant__ PointwiseCall call) {
  Thread::Run(call, static_cast<std::int64_t>(blockIdx.x) * kPointwiseThreads + threadIdx.x);
}

}  // namespace

int Launch(const PointwiseCall& call, void* stream) {
  if (call.count == 0) return cudaSuccess;
  const std::int64_t each = std::int64_t{kPointwiseThreads} * call.width;
  const auto blocks = static_cast<unsigned>((call.count + each - 1) / each);
  const bool known = WithPointwiseThread(call, [&](auto thread) {
    PointwiseKernel<decltype(thread)><<<blocks, kPointwiseThreads, 0, static_cast<cudaStream_t>(stream)>>>(call);
  });
  return known ? cudaGetLastError() : cudaErrorInvalidValue;
}

}  // namespace infimum::cuda
