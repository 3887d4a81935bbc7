// One launch of a kernel of ours as plain data: which, on what memory, in which variant. It runs on a device, compiled
// when it is first asked for (kernel_launch.h), or on the host by the same arithmetic and the same indices, slowly, in
// tests.
//
//   for (const KernelCall& call : offer.make(buffers)) gpu.Launch(call, stream);
#pragma once

#include <variant>

#include "microbench/kernels/cuda/attention_call.h"
#include "microbench/kernels/cuda/copy_call.h"
#include "microbench/kernels/cuda/mma_call.h"
#include "microbench/kernels/cuda/pointwise_call.h"
#include "microbench/kernels/cuda/row_call.h"
#include "microbench/kernels/cuda/sort_call.h"
#include "microbench/kernels/cuda/stored_call.h"
#include "microbench/kernels/cuda/window_call.h"

namespace infimum::cuda {

using KernelCall =
    std::variant<FlatCopyCall, FillCall, CopyCall, TransposeCall, GatherCall, JoinCall, OneHotCall, PointwiseCall,
                 RowCall, ChainedRowCall, ReduceCall, ScanCall, MmaRowCall, SortCall, PoolCall, ResampleCall, GridCall,
                 ResponseCall, AttentionCall, AttentionCombineCall, StoredProductCall, BlockQuantizeCall>;

}  // namespace infimum::cuda
