// Sums, maxima and what normalisations make of them, over f32 rows. Several partial sums side by side:
// faster, and more accurate than one.
#include "microbench/kernels/cpu/vector/math.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

using formulas::Combined, formulas::Fold, formulas::Square;

constexpr int kPartial = 4;

INFIMUM_INLINE Floats Load(const float* x) { return *reinterpret_cast<const UnalignedFloats*>(x); }
INFIMUM_INLINE void Store(float* to, Floats values) { *reinterpret_cast<UnalignedFloats*>(to) = values; }

INFIMUM_INLINE Integers LaneNumbers() {
  Integers lanes{};
  for (int lane = 0; lane < kFloats; ++lane) lanes[lane] = lane;
  return lanes;
}

// The rest of a row that does not fill a vector, in a vector whose other lanes hold `start`.
INFIMUM_INLINE Floats LoadRest(const float* x, std::int64_t count, std::int64_t rest, float start) {
  if (count >= kFloats) {
    const Integers taken = LaneNumbers() >= static_cast<std::int32_t>(kFloats - rest);
    return taken ? Load(x + count - kFloats) : Floats{} + start;
  }
  float padded[kFloats];
  for (int lane = 0; lane < kFloats; ++lane) padded[lane] = lane < rest ? x[lane] : start;
  return Load(padded);
}

// All lanes combined.
template <class Combine>
INFIMUM_INLINE float Across(Floats total, Combine combine) {
#pragma GCC unroll 4
  for (int width = kFloats / 2; width > 0; width /= 2) {
    total = combine(total, __builtin_shuffle(total, (LaneNumbers() + width) & (kFloats - 1)));
  }
  return total[0];
}

// The fold of term(v) over a row: in vectors, then across the lanes. A sum's start leaves its term as it is: term(0) =
// 0.
template <Fold kFold, class Term>
INFIMUM_INLINE float FoldRow(const float* x, std::int64_t count, Term term) {
  constexpr float kStart = formulas::StartOf<float>(kFold);
  Floats partial[kPartial];
  for (Floats& p : partial) p = Floats{} + kStart;
  std::int64_t i = 0;
  for (; i + kPartial * kFloats <= count; i += kPartial * kFloats) {
#pragma GCC unroll 4
    for (int j = 0; j < kPartial; ++j) partial[j] = Combined<kFold>(partial[j], term(Load(x + i + j * kFloats)));
  }
  for (; i + kFloats <= count; i += kFloats) partial[0] = Combined<kFold>(partial[0], term(Load(x + i)));
  if (i < count) partial[1] = Combined<kFold>(partial[1], term(LoadRest(x, count, count - i, kStart)));
  return Across(Combined<kFold>(Combined<kFold>(partial[0], partial[1]), Combined<kFold>(partial[2], partial[3])),
                [](Floats a, Floats b) INFIMUM_LAMBDA { return Combined<kFold>(a, b); });
}

template <Fold kFold, class Term>
INFIMUM_INLINE void AccumulateRow(float* __restrict total, const float* __restrict x, std::int64_t count, Term term) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) total[i] = Combined<kFold>(total[i], term(x[i]));
}

INFIMUM_INLINE Floats Abs(Floats v) { return (Floats)((Integers)v & 0x7fffffff); }

}  // namespace

// The rows' terms are vectors, those of what is accumulated numbers, of one formula.
ReductionRows FindReduction(ReductionKind kind) {
  switch (kind) {
#define INFIMUM_EXPONENTIAL_REDUCTION(kind, name, flops, cudnn, fold, term, result)
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result)                                   \
  case ReductionKind::kind:                                                                               \
    return {[](const float* from, std::int64_t count) {                                                   \
              return FoldRow<Fold::fold>(from, count, [](Floats x) INFIMUM_LAMBDA { return term; });      \
            },                                                                                            \
            [](float* total, const float* from, std::int64_t count) {                                     \
              AccumulateRow<Fold::fold>(total, from, count, [](float x) INFIMUM_LAMBDA { return term; }); \
            },                                                                                            \
            formulas::StartOf<float>(Fold::fold)};
#include "src/core/layer/reduction_kinds.def"
    default:
      return {};
  }
}

#define INFIMUM_ITSELF [](auto v) INFIMUM_LAMBDA { return v; }
#define INFIMUM_SQUARE [](auto v) INFIMUM_LAMBDA { return v * v; }
float SumRow(const float* x, std::int64_t count) { return FoldRow<Fold::kSum>(x, count, INFIMUM_ITSELF); }
float SumSquareRow(const float* x, std::int64_t count) { return FoldRow<Fold::kSum>(x, count, INFIMUM_SQUARE); }
float MaximumRow(const float* x, std::int64_t count) { return FoldRow<Fold::kMaximum>(x, count, INFIMUM_ITSELF); }
float MinimumRow(const float* x, std::int64_t count) { return FoldRow<Fold::kMinimum>(x, count, INFIMUM_ITSELF); }
void AccumulateSum(float* total, const float* x, std::int64_t count) {
  AccumulateRow<Fold::kSum>(total, x, count, INFIMUM_ITSELF);
}
void AccumulateSumSquare(float* total, const float* x, std::int64_t count) {
  AccumulateRow<Fold::kSum>(total, x, count, INFIMUM_SQUARE);
}
void AccumulateMaximum(float* total, const float* x, std::int64_t count) {
  AccumulateRow<Fold::kMaximum>(total, x, count, INFIMUM_ITSELF);
}

float SumDeviationRow(const float* x, float mean, std::int64_t count) {
  // The rest is summed lane by lane: a difference of a padding lane must not count.
  const std::int64_t whole = count / kFloats * kFloats;
  float sum = FoldRow<Fold::kSum>(x, whole, [=](Floats v) INFIMUM_LAMBDA { return (v - mean) * (v - mean); });
  for (std::int64_t i = whole; i < count; ++i) sum += (x[i] - mean) * (x[i] - mean);
  return sum;
}

// The rest is computed in a padded vector: a scalar exponential takes as long as a vector of them.
float ExponentialsRow(const float* x, float shift, float* y, std::int64_t count) {
  Floats sums[2] = {};
  std::int64_t i = 0;
  for (; i + 2 * kFloats <= count; i += 2 * kFloats) {
    const Floats a = ExpOfNonPositive(Load(x + i) - shift);
    const Floats b = ExpOfNonPositive(Load(x + i + kFloats) - shift);
    sums[0] += a;
    sums[1] += b;
    if (y == nullptr) continue;
    Store(y + i, a);
    Store(y + i + kFloats, b);
  }
  if (i + kFloats <= count) {
    const Floats a = ExpOfNonPositive(Load(x + i) - shift);
    sums[0] += a;
    if (y != nullptr) Store(y + i, a);
    i += kFloats;
  }
  if (i < count) {
    const Floats a = ExpOfNonPositive(LoadRest(x, count, count - i, -__builtin_inff()) - shift);
    sums[1] += a;
    // The rest is in the last lanes where it was loaded together with elements before it.
    for (std::int64_t lane = count >= kFloats ? kFloats - (count - i) : 0; y != nullptr && i < count; ++lane, ++i) {
      y[i] = a[lane];
    }
  }
  return Across(sums[0] + sums[1], [](Floats a, Floats b) INFIMUM_LAMBDA { return a + b; });
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

void AccumulateExponentials(float* __restrict total, const float* __restrict x, const float* __restrict shift,
                            float* __restrict y, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kFloats <= count; i += kFloats) {
    const Floats e = ExpOfNonPositive(Load(x + i) - Load(shift + i));
    Store(y + i, e);
    Store(total + i, Load(total + i) + e);
  }
  if (i == count) return;
  const std::int64_t rest = count - i;
  const Floats e = ExpOfNonPositive(LoadRest(x, count, rest, 0) - LoadRest(shift, count, rest, 0));
  for (std::int64_t lane = count >= kFloats ? kFloats - rest : 0; i < count; ++lane, ++i) {
    y[i] = e[lane];
    total[i] += e[lane];
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
