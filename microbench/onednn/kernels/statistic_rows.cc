// Sums, maxima and what normalisations make of them, over f32 rows. Several partial sums side by side:
// faster, and more accurate than one.
#include "microbench/onednn/kernels/math.h"
#include "microbench/onednn/kernels/row_tables.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

constexpr int kPartial = 4;

INFIMUM_INLINE Floats Load(const float* x) { return *reinterpret_cast<const UnalignedFloats*>(x); }

INFIMUM_INLINE Integers LaneNumbers() {
  Integers lanes{};
  for (int lane = 0; lane < kFloats; ++lane) lanes[lane] = lane;
  return lanes;
}

// What does not fill a vector, in one: the lanes that are not of it hold `start`.
INFIMUM_INLINE Floats LoadRest(const float* x, std::int64_t count, std::int64_t rest, float start) {
  if (count >= kFloats) {
    const Integers taken = LaneNumbers() >= static_cast<std::int32_t>(kFloats - rest);
    return taken ? Load(x + count - kFloats) : Floats{} + start;
  }
  float padded[kFloats];
  for (int lane = 0; lane < kFloats; ++lane) padded[lane] = lane < rest ? x[lane] : start;
  return Load(padded);
}

// Folds a row with `step` in vectors, then across the lanes. `start` leaves a sum as it is and step(start)
// is start.
template <class Step, class Combine>
INFIMUM_INLINE float Fold(const float* x, std::int64_t count, float start, Step step, Combine combine) {
  Floats partial[kPartial];
  for (Floats& p : partial) p = Floats{} + start;
  std::int64_t i = 0;
  for (; i + kPartial * kFloats <= count; i += kPartial * kFloats) {
#pragma GCC unroll 4
    for (int j = 0; j < kPartial; ++j) partial[j] = combine(partial[j], step(Load(x + i + j * kFloats)));
  }
  for (; i + kFloats <= count; i += kFloats) partial[0] = combine(partial[0], step(Load(x + i)));
  if (i < count) partial[1] = combine(partial[1], step(LoadRest(x, count, count - i, start)));
  Floats total = combine(combine(partial[0], partial[1]), combine(partial[2], partial[3]));
#pragma GCC unroll 4
  for (int width = kFloats / 2; width > 0; width /= 2) {
    total = combine(total, __builtin_shuffle(total, (LaneNumbers() + width) & (kFloats - 1)));
  }
  return total[0];
}

#define INFIMUM_STEP [=](Floats v) __attribute__((always_inline))
#define INFIMUM_COMBINE [](Floats a, Floats b) __attribute__((always_inline))

INFIMUM_INLINE Floats Absolute(Floats v) { return (Floats)((Integers)v & 0x7fffffff); }

}  // namespace

float SumRow(const float* x, std::int64_t count) {
  return Fold(
      x, count, 0, INFIMUM_STEP { return v; }, INFIMUM_COMBINE { return a + b; });
}
float SumSquareRow(const float* x, std::int64_t count) {
  return Fold(
      x, count, 0, INFIMUM_STEP { return v * v; }, INFIMUM_COMBINE { return a + b; });
}
float SumAbsoluteRow(const float* x, std::int64_t count) {
  return Fold(
      x, count, 0, INFIMUM_STEP { return Absolute(v); }, INFIMUM_COMBINE { return a + b; });
}
float ProductRow(const float* x, std::int64_t count) {
  return Fold(
      x, count, 1, INFIMUM_STEP { return v; }, INFIMUM_COMBINE { return a * b; });
}
float MaximumRow(const float* x, std::int64_t count) {
  return Fold(
      x, count, -__builtin_inff(), INFIMUM_STEP { return v; }, INFIMUM_COMBINE { return a > b ? a : b; });
}
float MinimumRow(const float* x, std::int64_t count) {
  return Fold(
      x, count, __builtin_inff(), INFIMUM_STEP { return v; }, INFIMUM_COMBINE { return a < b ? a : b; });
}

float SumDeviationRow(const float* x, float mean, std::int64_t count) {
  // What is left is folded apart, lane by lane: a difference of a padding lane must not count.
  const std::int64_t whole = count / kFloats * kFloats;
  float sum = Fold(
      x, whole, 0, INFIMUM_STEP { return (v - mean) * (v - mean); }, INFIMUM_COMBINE { return a + b; });
  for (std::int64_t i = whole; i < count; ++i) sum += (x[i] - mean) * (x[i] - mean);
  return sum;
}

float ExponentialsRow(const float* x, float shift, float* y, std::int64_t count) {
  float sum = 0;
  if (y == nullptr) {
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < count; ++i) sum += ExpOfNonPositive(x[i] - shift);
    return sum;
  }
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i) {
    const float e = ExpOfNonPositive(x[i] - shift);
    y[i] = e;
    sum += e;
  }
  return sum;
}

namespace {

// The place of the first element that equals the extreme one: two passes, both in vectors.
std::int64_t FirstEqual(const float* x, float value, std::int64_t count) {
  constexpr std::int64_t kBlock = 64;
  std::int64_t begin = 0;
  for (; begin + kBlock <= count; begin += kBlock) {
    std::int32_t found = 0;
#pragma omp simd reduction(| : found)
    for (std::int64_t i = 0; i < kBlock; ++i) found |= x[begin + i] == value ? 1 : 0;
    if (found != 0) break;
  }
  for (std::int64_t i = begin; i < count; ++i) {
    if (x[i] == value) return i;
  }
  return 0;
}

}  // namespace

std::int64_t ArgMaximumRow(const float* x, std::int64_t count) { return FirstEqual(x, MaximumRow(x, count), count); }
std::int64_t ArgMinimumRow(const float* x, std::int64_t count) { return FirstEqual(x, MinimumRow(x, count), count); }

void AffineRow(const float* x, float scale, float shift, float* y, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] * scale + shift;
}

void NormalizeRow(const float* __restrict x, float mean, float inverse, const float* __restrict scale,
                  const float* __restrict bias, float* __restrict y, std::int64_t count) {
  if (scale != nullptr && bias != nullptr) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * inverse * scale[i] + bias[i];
  } else if (scale != nullptr) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * inverse * scale[i];
  } else if (bias != nullptr) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * inverse + bias[i];
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * inverse;
  }
}

#define INFIMUM_ACCUMULATE(name, expression)                                                      \
  void Accumulate##name(float* __restrict total, const float* __restrict x, std::int64_t count) { \
    _Pragma("omp simd") for (std::int64_t i = 0; i < count; ++i) { total[i] = (expression); }     \
  }
INFIMUM_ACCUMULATE(Sum, total[i] + x[i])
INFIMUM_ACCUMULATE(SumSquare, total[i] + x[i] * x[i])
INFIMUM_ACCUMULATE(SumAbsolute, total[i] + __builtin_fabsf(x[i]))
INFIMUM_ACCUMULATE(Product, total[i] * x[i])
INFIMUM_ACCUMULATE(Maximum, total[i] > x[i] ? total[i] : x[i])
INFIMUM_ACCUMULATE(Minimum, total[i] < x[i] ? total[i] : x[i])
#undef INFIMUM_ACCUMULATE

void AccumulateExponentials(float* __restrict total, const float* __restrict x, const float* __restrict shift,
                            float* __restrict y, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float e = ExpOfNonPositive(x[i] - shift[i]);
    y[i] = e;
    total[i] += e;
  }
}

void MultiplyRow(const float* x, const float* factor, float* y, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] * factor[i];
}

void SubtractRow(const float* x, const float* other, float* y, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] - other[i];
}

void ResponseRow(const float* __restrict x, const float* __restrict squares, float factor, float k, float* __restrict y,
                 std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float root = __builtin_sqrtf(k + factor * squares[i]);
    y[i] = x[i] / (root * __builtin_sqrtf(root));
  }
}

void BlendTwo(const float* __restrict a, const float* __restrict b, float wa, float wb, float* __restrict y,
              std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = a[i] * wa + b[i] * wb;
}

}  // namespace infimum::cpu::INFIMUM_ISA
