// A packed matrix times a vector: bound by how fast the matrix can be read, so it is packed in the order of reading.
#include "microbench/kernels/cpu/vector/math.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"

namespace infimum::cpu::INFIMUM_ISA {

void MatrixVector(const float* packed, const float* x, const float* start, std::int64_t depth, std::int64_t columns,
                  float* y) {
  constexpr int kVectors = kPackedColumns / kFloats;
  const float* at = packed;
  for (std::int64_t begin = 0; begin < columns; begin += kPackedColumns) {
    Floats sums[kVectors] = {};
    for (std::int64_t k = 0; k < depth; ++k, at += kPackedColumns) {
      const Floats factor = Floats{} + x[k];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        sums[v] += *reinterpret_cast<const UnalignedFloats*>(at + v * kFloats) * factor;
    }
    for (std::int64_t i = 0; i < kPackedColumns && begin + i < columns; ++i) {
      y[begin + i] = start[begin + i] + sums[i / kFloats][i % kFloats];
    }
  }
}

}  // namespace infimum::cpu::INFIMUM_ISA
