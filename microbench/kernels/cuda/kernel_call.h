// One launch of a kernel of ours as plain data: which, on what memory, in which variant. It runs on a device, or on the
// host by the same arithmetic and the same indices, slowly, in tests.
//
//   for (const KernelCall& call : offer.make(buffers)) {
//     if (int error = LaunchOnDevice(call, stream)) return CudaError(error);
//   }
#pragma once

#include <variant>

#include "microbench/kernels/cuda/copy_call.h"
#include "microbench/kernels/cuda/pointwise_call.h"
#include "microbench/kernels/cuda/row_call.h"
#include "microbench/kernels/cuda/window_call.h"

namespace infimum::cuda {

using KernelCall = std::variant<FlatCopyCall, FillCall, CopyCall, TransposeCall, GatherCall, OneHotCall, PointwiseCall,
                                RowCall, ReduceCall, ScanCall, PoolCall, ResampleCall, ResponseCall>;

// Queues the kernel on `stream` (a cudaStream_t; null is the default stream). Returns a cudaError_t, 0 for success;
// what goes wrong while it runs is found by the next synchronisation. Never waits and never allocates, so it can be
// captured. Pointers are the device's. In infimum::microbench_cuda_kernels, which needs nvcc.
int LaunchOnDevice(const KernelCall& call, void* stream);

// By family; LaunchOnDevice chooses.
int Launch(const FlatCopyCall& call, void* stream);
int Launch(const FillCall& call, void* stream);
int Launch(const CopyCall& call, void* stream);
int Launch(const TransposeCall& call, void* stream);
int Launch(const GatherCall& call, void* stream);
int Launch(const OneHotCall& call, void* stream);
int Launch(const PointwiseCall& call, void* stream);
int Launch(const RowCall& call, void* stream);
int Launch(const ReduceCall& call, void* stream);
int Launch(const ScanCall& call, void* stream);
int Launch(const PoolCall& call, void* stream);
int Launch(const ResampleCall& call, void* stream);
int Launch(const ResponseCall& call, void* stream);

}  // namespace infimum::cuda
