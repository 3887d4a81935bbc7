// Kernels without a device: the same bodies on the host's memory, thread after thread, slowly; finished when the call
// returns.
#pragma once

#include "microbench/kernels/cuda/kernel_call.h"
#include "microbench/kernels/cuda/timing_kernels.h"

namespace infimum::cuda {

void RunOnHost(const KernelCall& call);
void RunOnHost(const BandwidthCall& call);

}  // namespace infimum::cuda
