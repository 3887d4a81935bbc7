// The kernels of one instruction set, of which its table is made (vector_kernels.cc).
#pragma once

#include "microbench/kernels/cpu/vector/isa.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"

namespace infimum::cpu::INFIMUM_ISA {

// Loops that do nothing but reach a processor's limits.
double MultiplyAddF32(std::int64_t rounds, float* sink);
double MultiplyAddF64(std::int64_t rounds, double* sink);
double MultiplyAddS8(std::int64_t rounds, std::int32_t* sink);
double Read(const void* from, std::int64_t bytes);
double ReadPrefetched(const void* from, std::int64_t bytes);
void Write(void* to, std::int64_t bytes);
void WriteStreaming(void* to, std::int64_t bytes);
void Copy(const void* from, void* to, std::int64_t bytes);
void CopyStreaming(const void* from, void* to, std::int64_t bytes);

// nullptr where a kind has no meaning in a type.
UnaryRow FindUnary(PointwiseKind kind, ComputeType type);
BinaryRow FindBinary(PointwiseKind kind, ComputeType type);
UnaryRow FindUnaryStreamed(PointwiseKind kind);
BinaryRow FindBinaryStreamed(PointwiseKind kind);
WhereRow FindWhere(int bytes);

// Between any two types; casts to integers truncate and saturate.
ConvertRow FindConvert(DataType from, DataType to);
QuantizeRow FindQuantize(DataType to);
DequantizeRow FindDequantize(DataType from);

// Null where terms are scaled first, or a place is asked for.
ReductionRows FindReduction(ReductionKind kind);
float SumRow(const float* x, std::int64_t count);
float SumSquareRow(const float* x, std::int64_t count);
float MaximumRow(const float* x, std::int64_t count);
float MinimumRow(const float* x, std::int64_t count);
// Sum of squared differences from `mean`.
float SumDeviationRow(const float* x, float mean, std::int64_t count);
// exp(x - shift) to y; returns its sum. y may be null: the sum alone.
float ExponentialsRow(const float* x, float shift, float* y, std::int64_t count);
std::int64_t ArgMaximumRow(const float* x, std::int64_t count);
std::int64_t ArgMinimumRow(const float* x, std::int64_t count);

// y = x * scale + shift, with one factor for the row or one for each element.
void AffineRow(const float* x, float scale, float shift, float* y, std::int64_t count);
// y = (x - mean) * inverse * scale[i] + bias[i]; scale and bias may be null.
void NormalizeRow(const float* x, float mean, float inverse, const float* scale, const float* bias, float* y,
                  std::int64_t count);
// total[i] op= x[i], for reductions over outer dimensions.
void AccumulateSum(float* total, const float* x, std::int64_t count);
void AccumulateSumSquare(float* total, const float* x, std::int64_t count);
void AccumulateMaximum(float* total, const float* x, std::int64_t count);
// y = exp(x - shift[i]), total[i] += y.
void AccumulateExponentials(float* total, const float* x, const float* shift, float* y, std::int64_t count);
void MultiplyRow(const float* x, const float* factor, float* y, std::int64_t count);
void SubtractRow(const float* x, const float* other, float* y, std::int64_t count);
// y = x * (k + factor * squares)^(-3/4), the response normalisation's usual power.
void ResponseRow(const float* x, const float* squares, float factor, float k, float* y, std::int64_t count);
// Weighted sum of two or four rows: what linear and cubic resampling do.
void BlendTwo(const float* a, const float* b, float wa, float wb, float* y, std::int64_t count);

// y[i] = the maximum or sum of x[i * stride + tap * dilation] over all taps.
void WindowMaximumRow(const float* x, std::int64_t stride, std::int64_t dilation, std::int64_t taps, float* y,
                      std::int64_t count);
void WindowSumRow(const float* x, std::int64_t stride, std::int64_t dilation, std::int64_t taps, float* y,
                  std::int64_t count);
// y[i] between x[first[i]] and x[second[i]], by weights[i].
void PickTwoRow(const float* x, const std::int32_t* first, const std::int32_t* second, const float* weights, float* y,
                std::int64_t count);

// `rows` x `columns` elements of 1, 2, 4 or 8 bytes to their transpose; strides in elements.
void TransposeTile(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride, std::int64_t rows,
                   std::int64_t columns, int bytes);

void MatrixVector(const float* packed, const float* x, const float* start, std::int64_t depth, std::int64_t columns,
                  float* y);

}  // namespace infimum::cpu::INFIMUM_ISA
