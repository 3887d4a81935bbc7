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

  // -- rows and tiles, as isa_kernels.h explains them
  UnaryRow (*find_unary)(PointwiseKind kind, ComputeType type);
  BinaryRow (*find_binary)(PointwiseKind kind, ComputeType type);
  // f32 results written past the caches, for large outputs: what is overwritten is not read first. Null for
  // kinds that take longer than their writes. A fence must follow before another thread reads them.
  UnaryRow (*find_unary_streamed)(PointwiseKind kind);
  BinaryRow (*find_binary_streamed)(PointwiseKind kind);
  WhereRow (*find_where)(int bytes);
  ConvertRow (*find_convert)(DataType from, DataType to);
  QuantizeRow (*find_quantize)(DataType to);
  DequantizeRow (*find_dequantize)(DataType from);
  ReductionRows (*find_reduction)(ReductionKind kind);
  float (*sum_row)(const float* x, std::int64_t count);
  float (*sum_square_row)(const float* x, std::int64_t count);
  float (*maximum_row)(const float* x, std::int64_t count);
  float (*minimum_row)(const float* x, std::int64_t count);
  float (*sum_deviation_row)(const float* x, float mean, std::int64_t count);
  float (*exponentials_row)(const float* x, float shift, float* y, std::int64_t count);
  std::int64_t (*arg_maximum_row)(const float* x, std::int64_t count);
  std::int64_t (*arg_minimum_row)(const float* x, std::int64_t count);
  void (*affine_row)(const float* x, float scale, float shift, float* y, std::int64_t count);
  void (*normalize_row)(const float* x, float mean, float inverse, const float* scale, const float* bias, float* y,
                        std::int64_t count);
  void (*accumulate_sum)(float* total, const float* x, std::int64_t count);
  void (*accumulate_sum_square)(float* total, const float* x, std::int64_t count);
  void (*accumulate_maximum)(float* total, const float* x, std::int64_t count);
  void (*accumulate_exponentials)(float* total, const float* x, const float* shift, float* y, std::int64_t count);
  void (*multiply_row)(const float* x, const float* factor, float* y, std::int64_t count);
  void (*subtract_row)(const float* x, const float* other, float* y, std::int64_t count);
  void (*response_row)(const float* x, const float* squares, float factor, float k, float* y, std::int64_t count);
  void (*blend_two)(const float* a, const float* b, float wa, float wb, float* y, std::int64_t count);
  void (*transpose_tile)(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride,
                         std::int64_t rows, std::int64_t columns, int bytes);
  void (*window_maximum_row)(const float* x, std::int64_t stride, std::int64_t dilation, std::int64_t taps, float* y,
                             std::int64_t count);
  void (*window_sum_row)(const float* x, std::int64_t stride, std::int64_t dilation, std::int64_t taps, float* y,
                         std::int64_t count);
  // y = start + x packed, for `columns` results over `depth`. The matrix lies in blocks of kPackedColumns columns,
  // each with its rows one after the other; the last block is filled up.
  void (*matrix_vector)(const float* packed, const float* x, const float* start, std::int64_t depth,
                        std::int64_t columns, float* y);
  void (*pick_two_row)(const float* x, const std::int32_t* first, const std::int32_t* second, const float* weights,
                       float* y, std::int64_t count);
};

const VectorKernels& Avx512Kernels();
const VectorKernels& Avx2Kernels();
const VectorKernels& BaselineKernels();

// The best set that the processor has.
const VectorKernels& Kernels();

}  // namespace infimum::cpu
