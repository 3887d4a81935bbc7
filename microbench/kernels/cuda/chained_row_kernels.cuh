// Rows whose elements a program makes, as it is known when the kernel is compiled (pointwise_kernels.cuh).
#pragma once

#include "microbench/kernels/cuda/pointwise_body.h"
#include "microbench/kernels/cuda/row_kernels.cuh"

namespace infimum::cuda {

template <class T, int kWidth, class Thread, class Program>
__global__ void __launch_bounds__(kRowThreads)
    ChainedRowKernelByThread(const __grid_constant__ ChainedRowData argument) {
  RowCall call = argument.row;
  INFIMUM_KNOWN(call)
  RowByThread<T>(call, RowOfProgram<Thread>{Program::kCall, argument.chain});
}
template <class T, int kWidth, class Thread, class Program>
__global__ void __launch_bounds__(kRowThreads) ChainedRowKernelByWarp(const __grid_constant__ ChainedRowData argument) {
  RowCall call = argument.row;
  INFIMUM_KNOWN(call)
  RowByWarp<T, kWidth>(call, RowOfProgram<Thread>{Program::kCall, argument.chain});
}
template <class T, int kWidth, class Thread, class Program>
__global__ void __launch_bounds__(1024) ChainedRowKernelByBlock(const __grid_constant__ ChainedRowData argument) {
  RowCall call = argument.row;
  INFIMUM_KNOWN(call)
  RowByBlock<T, kWidth>(call, RowOfProgram<Thread>{Program::kCall, argument.chain});
}

}  // namespace infimum::cuda
