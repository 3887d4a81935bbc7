// Sums, means and running sums of rows of f16 or bf16 by Tensor Cores: 16 rows of a warp times a matrix of ones, or a
// triangle of them, which is made in registers (Dakkak et al., arXiv 1811.09736).
#pragma once

#include "microbench/kernels/cuda/element.h"

namespace infimum::cuda {

inline constexpr int kMmaThreads = 128;
inline constexpr std::uint32_t kMmaRows = 16;   // of a warp
inline constexpr std::uint32_t kMmaChunk = 32;  // elements of each row that a warp takes at a time

// Rows lie one behind the other; lengths are multiples of 8.
struct MmaRowCall {
  bool scans = false;
  bool is_aligned = true;  // `from`, for loads of 16 bytes
  Element element = Element::kF16;
  Element output_element = Element::kF16;
  const void* from = nullptr;
  void* to = nullptr;
  std::uint32_t rows = 0, length = 0;
  float divisor = 1;  // of a mean its length
};

}  // namespace infimum::cuda
