// Statistics of rows: softmax and the normalizations that take theirs from the elements (RowCall), reductions
// (ReduceCall), running sums (ScanCall). One thread, a warp or a block goes through a row.
#pragma once

#include "microbench/kernels/cuda/element.h"
#include "microbench/kernels/cuda/index_math.h"
#include "microbench/kernels/cuda/pointwise_call.h"

namespace infimum::cuda {

// Rows of `length` elements. Element i of row r lies at
//   (r / row_run) * row_step + (r % row_run) * row_run_step + (i / run) * segment_step + (i % run) * step
struct RowSpace {
  std::uint32_t rows = 0;
  std::uint32_t length = 0;
  FastDivisor row_run;
  std::int64_t row_step = 0;
  std::int64_t row_run_step = 0;
  FastDivisor run;
  std::int64_t segment_step = 0;
  std::int64_t step = 1;
};

enum class RowKind : std::uint8_t {
  kSoftmax,
  kLogSoftmax,
  kHardmax,       // 1 at the first of the largest
  kNormalize,     // (x - mean) / sqrt(variance + epsilon) * scale + bias
  kMeanVariance,  // (x - mean) / (sqrt(variance) + epsilon) * scale + bias
  kRms,           // x / sqrt(mean of squares + epsilon) * scale + bias
  kLp,            // x / sqrt(sum of squares)
};

struct RowCall {
  RowKind kind = RowKind::kSoftmax;
  Arithmetic arithmetic = Arithmetic::kF32;  // f32 or f64
  Element element = Element::kF32;           // of input and output
  Element output_element = Element::kF32;
  Element parameter_element = Element::kF32;
  const void* from = nullptr;
  void* to = nullptr;         // may be null where there is a quantized result
  void* quantized = nullptr;  // to / quantize_scale + quantize_zero; null: not asked for
  Element quantized_element = Element::kNone;
  double quantize_scale = 1, quantize_zero = 0;
  const void* scale = nullptr;  // may be null, as may bias
  const void* bias = nullptr;
  double epsilon = 0;
  RowSpace space;  // the same for input and output
  // Of row r and element i: parameter (r % parameter_rows) * parameter_row_step + i / parameter_run.
  FastDivisor parameter_rows;
  std::uint32_t parameter_row_step = 0;
  FastDivisor parameter_run;
  int threads = 256;    // on a row: 1, 32, 128, 256, 512 or 1024
  int width = 1;        // elements a thread takes at a time: 1, 4, or 8 in f32; divides runs, steps, addresses
  bool caches = false;  // the row stays in shared memory between its passes
};

// Rows whose elements a program makes, at their places in memory: residual additions before a normalization, scales and
// masks before a softmax. Its outputs are written too, and `row.from` is not read.
struct ChainedRowCall {
  RowCall row;
  PointwiseCall chain;
};
// All of it that differs from one launch of a compiled kernel to another.
struct ChainedRowData {
  RowCall row;
  PointwiseData chain;
};

enum class ReduceKind : std::uint8_t {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) kind,
#define INFIMUM_ARGUMENT(kind, name, fold) kind,
#include "src/core/layer/reduction_kinds.def"
};

// out[kept] = kind over reduced of in[kept . kept_steps + reduced . reduced_steps].
struct ReduceCall {
  // Where threads stand. kRows: neighbours within one reduction, which lie together in memory. kColumns: neighbours at
  // neighbouring outputs, 32 of them in a block, whose rows share the reduction.
  enum class Form : std::uint8_t { kRows, kColumns };
  ReduceKind kind = ReduceKind::kSum;
  Arithmetic arithmetic = Arithmetic::kF32;
  Form form = Form::kRows;
  Element element = Element::kF32;
  Element output_element = Element::kF32;
  const void* from = nullptr;
  void* to = nullptr;
  std::uint32_t kept_count = 0;
  std::uint32_t reduced_count = 0;
  Box kept, reduced;
  Steps kept_steps, reduced_steps;
  int threads = 256;  // on a reduction: kRows 1, 32, 128, 256, 512 or 1024; kColumns 1, 8 or 32
  // Neighbouring elements (kRows) or outputs (kColumns) that a thread takes at a time: 1; in f32 also 4 or 8.
  int width = 1;
  // Long reductions to few outputs are cut into `parts`, each of which leaves a state in `states`
  // [kept_count][parts]; a second call combines them (combines = true, from = states).
  std::uint32_t parts = 1;
  void* states = nullptr;
  bool combines = false;
};
// Bytes of one state in scratch memory.
inline constexpr std::int64_t kReduceStateBytes = 24;

// Running sums or products along an axis, the element itself included. Lines are (outer, inner).
struct ScanCall {
  bool multiplies = false;
  Arithmetic arithmetic = Arithmetic::kF32;
  Element element = Element::kF32;
  Element output_element = Element::kF32;
  const void* from = nullptr;
  void* to = nullptr;
  std::uint32_t lines = 0;
  std::uint32_t length = 0;
  FastDivisor inner;
  int threads = 1;  // on a line: 1, or 256 where inner is 1
};

}  // namespace infimum::cuda
