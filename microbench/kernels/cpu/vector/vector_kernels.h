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

// As pair_tile.
using IntegerTile = void (*)(const std::int32_t* panel, std::int64_t columns, std::int64_t depth, const std::int32_t* a,
                             std::int64_t a_step, std::int64_t rows, std::int32_t* y, std::int64_t y_step,
                             bool is_first, const std::int32_t* next);
using WidenRow = void (*)(const void* x, std::int16_t* y, std::int64_t count, std::int32_t zero);
// y = sums * scales + shifts; of integers rounded, the zero added, and limited (the values' scale is not used).
using RequantizeRow = void (*)(const std::int32_t* sums, const float* scales, const float* shifts, void* y,
                               std::int64_t count, QuantizeValues values);

// Columns of a block of a packed matrix, see matrix_vector.
inline constexpr std::int64_t kPackedColumns = 64;

// Weights of 4 or 8 bits in the order of reading. A group of kPackedColumns columns is, block after block of its rows:
// a scale for each column, f32; where there are zero points one for each column, a byte; and the elements, unsigned,
// columns side by side in lanes of 32 bits. A lane holds 4 rows of 8 bits, or 8 of 4 bits, of which the first 4 are the
// low halves of its bytes.
struct StoredMatrix {
  const char* packed = nullptr;
  std::int64_t blocks = 0;
  std::int64_t block = 0;  // rows, a multiple of 8
  int bits = 4;
  bool zero_points = false;
  int zero = 0;  // of all, where there are none

  std::int64_t block_bytes() const {
    return kPackedColumns * (4 + (zero_points ? 1 : 0)) + block * kPackedColumns * bits / 8;
  }
  std::int64_t group_bytes() const { return blocks * block_bytes(); }
};

// Rows of a in 8 bits, `step` bytes apart; scales and sums of elements of their blocks, row by row.
struct QuantizedRows {
  const std::int8_t* elements;
  std::int64_t step;
  const float* scales;
  const std::int32_t* sums;
  std::int64_t blocks;
};
using StoredDots = void (*)(const StoredMatrix& matrix, const char* group, const QuantizedRows& a, float* y,
                            std::int64_t y_step);
inline constexpr int kDotRows = 3;

// A tile of one image by its first pixel, which may be outside: there all elements are zero. The image lies in blocks
// of so many channels, which all pixels have side by side; one block of all channels is channels last.
struct ImageTile {
  std::int64_t y, x;
  std::int64_t height, width, channels;  // of the image
  std::int64_t block;                    // divides the channels; a multiple of 8
};

// What becomes of a convolution's sums before they are written: bias by channel and another image's elements are added,
// where they are there, and what is outside [low, high] is set to the limit.
struct FilterEnd {
  const float* bias;
  const float* added;
  float low, high;
};

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
