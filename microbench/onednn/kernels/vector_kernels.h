// Kernels compiled once for each instruction set; the best that the processor has is chosen at run time.
//
//   Kernels().f32_unary[...](x, y, n);
//
// They work on one contiguous row (or tile) in one thread; the layers around them share rows out among
// threads. Each set's sources live in a namespace of its own and call nothing that the linker could take
// from another set.
#pragma once

#include <cstdint>

namespace infimum::cpu {

struct VectorKernels {
  const char* name;  // "avx512", "avx2", "sse2"

  // -- peaks
  // Multiply-adds on independent registers, `rounds` times; returns FLOPs done. The sum goes to `sink`.
  double (*multiply_add_f32)(std::int64_t rounds, float* sink);
  double (*multiply_add_f64)(std::int64_t rounds, double* sink);
  double (*multiply_add_s8)(std::int64_t rounds, std::int32_t* sink);
  // Reads, writes or copies `bytes`, a multiple of 4096, of 64-byte aligned memory.
  double (*read)(const void* from, std::int64_t bytes);
  double (*read_prefetched)(const void* from, std::int64_t bytes);
  void (*write)(void* to, std::int64_t bytes);
  void (*write_streaming)(void* to, std::int64_t bytes);
  void (*copy)(const void* from, void* to, std::int64_t bytes);
  void (*copy_streaming)(const void* from, void* to, std::int64_t bytes);
};

const VectorKernels& Avx512Kernels();
const VectorKernels& Avx2Kernels();
const VectorKernels& BaselineKernels();

// The best set that the processor has.
const VectorKernels& Kernels();

}  // namespace infimum::cpu
