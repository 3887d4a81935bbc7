// The element-wise kernel of one program: which steps, operands and types it has is known when it is compiled, so that
// nothing of it is looked up on the device; only addresses come with each launch.
#pragma once

#include "microbench/kernels/cuda/pointwise_body.h"

namespace infimum::cuda {

// Four blocks on each multiprocessor: 1,024 threads with 16 bytes of each operand in flight. `Program::kCall` is the
// call without addresses.
template <class Thread, class Program>
__global__ void __launch_bounds__(kPointwiseThreads, 4) PointwiseKernel(const __grid_constant__ PointwiseData data) {
  Thread::Run(Program::kCall, data, static_cast<std::int64_t>(blockIdx.x) * kPointwiseThreads + threadIdx.x);
}

}  // namespace infimum::cuda
