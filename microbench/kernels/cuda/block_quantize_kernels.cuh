// Numbers in blocks with scales: a block for each thread.
#pragma once

#include "microbench/kernels/cuda/stored_body.h"

namespace infimum::cuda {

__global__ void __launch_bounds__(kStoredThreads)
    BlockQuantizeKernel(const __grid_constant__ BlockQuantizeCall argument) {
  BlockQuantizeCall call = argument;
  INFIMUM_KNOWN(call)
  BlockQuantizeThread(call, static_cast<std::int64_t>(blockIdx.x) * kStoredThreads + threadIdx.x);
}

}  // namespace infimum::cuda
