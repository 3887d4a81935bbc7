// Kernels compiled once for each instruction set; the best that the processor has is chosen at run time.
//
//   Kernels().sum_row(x, n);
//
// They work on one contiguous row (or tile) in one thread; the layers around them share rows out among
// threads. Each set's sources live in a namespace of its own and call nothing that the linker could take
// from another set.
#pragma once

#include <cstdint>

#include "infimum/layer/data_type.h"
#include "infimum/layer/pointwise.h"
#include "src/core/layer/reduction.h"

namespace infimum::cpu {

// Element-wise functions over one contiguous row, in the types that arithmetic is done in. Other types are converted
// block by block around them.
enum class ComputeType { kF32, kF64, kS32, kS64, kU8 };

// Operands step by one element, or by none where one element serves the whole row.
using UnaryRow = void (*)(const void* x, void* y, std::int64_t count);
using BinaryRow = void (*)(const void* a, int a_step, const void* b, int b_step, void* y, std::int64_t count);
using WhereRow = void (*)(const std::uint8_t* condition, int condition_step, const void* a, int a_step, const void* b,
                          int b_step, void* y, std::int64_t count);
using ConvertRow = void (*)(const void* x, void* y, std::int64_t count);

// A reduction of one row, and of rows into a row of totals.
struct ReductionRows {
  float (*row)(const float* x, std::int64_t count) = nullptr;
  void (*accumulate)(float* total, const float* x, std::int64_t count) = nullptr;
  float start = 0;
};

struct QuantizeValues {
  float scale;
  float zero;
  float low;
  float high;
};
using QuantizeRow = void (*)(const float* x, void* y, std::int64_t count, QuantizeValues values);
using DequantizeRow = void (*)(const void* x, float* y, std::int64_t count, QuantizeValues values);

// Columns of a block of a packed matrix, see matrix_vector.
inline constexpr std::int64_t kPackedColumns = 64;

struct VectorKernels {
  const char* name;  // "avx512", "avx2", "sse2"
#define INFIMUM_KERNEL(name, Function, Result, parameters) Result(*name) parameters;
#include "microbench/kernels/cpu/vector/vector_kernels.def"
};

const VectorKernels& Avx512Kernels();
const VectorKernels& Avx2Kernels();
const VectorKernels& BaselineKernels();

// The best set that the processor has.
const VectorKernels& Kernels();

}  // namespace infimum::cpu
