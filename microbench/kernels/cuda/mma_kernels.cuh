// Rows by Tensor Cores, 16 of them a warp.
#pragma once

#include "microbench/kernels/cuda/mma_body.h"

namespace infimum::cuda {

template <Element kElement>
__device__ void MultiplyAdd(const MmaA& a, const MmaB& b, MmaSums& sums) {
#if __CUDA_ARCH__ >= 800
#define INFIMUM_MMA(type)                                                      \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                   \
      ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "                              \
      "{%8, %9}, {%0, %1, %2, %3};"                                            \
      : "+f"(sums.at[0]), "+f"(sums.at[1]), "+f"(sums.at[2]), "+f"(sums.at[3]) \
      : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[0]), "r"(b.word[1]))
  if constexpr (kElement == Element::kF16) {
    INFIMUM_MMA("f16");
  } else {
    INFIMUM_MMA("bf16");
  }
#undef INFIMUM_MMA
#else
  constexpr unsigned kAll = 0xffffffffU;
  MultiplyAddAsWritten<kElement>(
      static_cast<int>(threadIdx.x % 32), [&](int lane, int word) { return __shfl_sync(kAll, a.word[word], lane); },
      [&](int lane, int word) { return __shfl_sync(kAll, b.word[word], lane); }, sums);
#endif
}

template <Element kElement, bool kScans>
__global__ void __launch_bounds__(kMmaThreads) MmaRowKernel(const __grid_constant__ MmaRowCall argument) {
  MmaRowCall call = argument;
  INFIMUM_KNOWN(call)
  const MmaRowThread<kElement> thread{call, (blockIdx.x * kMmaThreads + threadIdx.x) / 32,
                                      static_cast<int>(threadIdx.x % 32)};
  MmaSums sums{};
  for (std::uint32_t chunk = 0; chunk < MmaChunks(call); ++chunk) {
    const Bytes16 upper = thread.Load(0, chunk), lower = thread.Load(1, chunk);
    const MmaSums before = sums;
#pragma unroll
    for (int pair = 0; pair < (kScans ? 4 : 1); ++pair) {
      if (kScans) sums = before;
#pragma unroll
      for (int product = 0; product < 2; ++product) {
        MultiplyAdd<kElement>(thread.PartOf(upper, lower, product),
                              kScans ? thread.Triangle(product, pair) : thread.Ones(), sums);
      }
      if (kScans) thread.StoreScan(chunk, pair, sums);
    }
    if (!kScans) continue;
    // The last thread of a row has the sum of all that the chunk ends with.
    sums.at[1] = __shfl_sync(0xffffffffU, sums.at[1], thread.lane | 3);
    sums.at[3] = __shfl_sync(0xffffffffU, sums.at[3], thread.lane | 3);
    sums.at[0] = sums.at[1];
    sums.at[2] = sums.at[3];
  }
  if (!kScans) thread.StoreSum(sums);
}

}  // namespace infimum::cuda
