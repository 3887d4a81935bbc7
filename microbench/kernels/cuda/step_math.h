// What a step of an element-wise program does to numbers: Apply() for `kWidth` elements at a time, so that the kind is
// looked at once for all of them.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/pointwise_call.h"
#include "microbench/kernels/cuda/real_math.h"

namespace infimum::cuda {

INFIMUM_HOST_DEVICE inline float Parameter(const PointwiseCall::Step& step, int i, float) { return step.f32[i]; }
INFIMUM_HOST_DEVICE inline double Parameter(const PointwiseCall::Step& step, int i, double) { return step.f64[i]; }

// A step's parameters by the names that formulas have for them. A kind has at most two.
template <class T>
struct NamedParameters {
#define INFIMUM_PARAMETER(name, place, usual) T name;
#include "src/core/layer/pointwise_kinds.def"

  INFIMUM_HOST_DEVICE static NamedParameters Of(T first, T second) {
    return {
#define INFIMUM_PARAMETER(name, place, usual) place == 0 ? first : second,
#include "src/core/layer/pointwise_kinds.def"
    };
  }
};

// A case of Apply's switches.
#define INFIMUM_UNARY_STEP(kind, formula) \
  case StepKind::kind:                    \
    return each([=](T x, T) { return formula; });
#define INFIMUM_BINARY_STEP(kind, formula) \
  case StepKind::kind:                     \
    return each([](T a, T b) { return formula; });

// In place; with the second and third operand where the kind has them. Real numbers: f32 or f64.
template <int kWidth, class T>
INFIMUM_HOST_DEVICE inline void Apply(const PointwiseCall::Step& step, T (&values)[kWidth], const T (&seconds)[kWidth],
                                      const T (&thirds)[kWidth]) {
  const T first = Parameter(step, 0, T{}), second = Parameter(step, 1, T{});
  const auto p = NamedParameters<T>::Of(first, second);
  const auto each = [&](auto function) {
    INFIMUM_UNROLL
    for (int i = 0; i < kWidth; ++i) values[i] = static_cast<T>(function(values[i], seconds[i]));
  };
  switch (step.kind) {
#define INFIMUM_REAL_UNARY INFIMUM_UNARY_STEP
#define INFIMUM_REAL_BINARY INFIMUM_BINARY_STEP
#define INFIMUM_TRUTH_UNARY(kind, formula) INFIMUM_UNARY_STEP(kind, (formula) ? 1 : 0)
#define INFIMUM_TRUTH_BINARY(kind, formula) INFIMUM_BINARY_STEP(kind, (formula) ? 1 : 0)
#define INFIMUM_REAL_TRUTH INFIMUM_TRUTH_UNARY
#include "src/core/layer/pointwise_kinds.def"
    case StepKind::kWhere: {
      INFIMUM_UNROLL
      for (int i = 0; i < kWidth; ++i) values[i] = values[i] != 0 ? seconds[i] : thirds[i];
      return;
    }
    case StepKind::kTruncate:
      return each([](T v, T) { return Truncate(v); });
    case StepKind::kMultiplyAdd:
      return each([=](T v, T) { return first * v + second; });
    case StepKind::kInverseRoot:
      return each([=](T v, T) { return InverseRoot(v + first); });
    case StepKind::kQuantize:
      return each([=](T v, T) { return Round(v / first) + second; });
    case StepKind::kDequantize:
      return each([=](T v, T) { return (v - first) * second; });
    case StepKind::kRequantize: {
      const T third = Parameter(step, 2, T{});
      return each([=](T v, T) { return (v - first) * second + third; });
    }
    case StepKind::kDynamicQuantize: {
      // All elements have the same scale, from the smallest and the largest of them and 0.
      const T low = Min(seconds[0], T{0}), high = Max(thirds[0], T{0});
      const T scale = high > low ? (high - low) / 255 : T{1};
      const T zero = Round(Min(Max(-low / scale, T{0}), T{255}));
      return each([=](T v, T) { return Round(v / scale) + zero; });
    }
    default:
      return;
  }
}

using formulas::ShiftLeft, formulas::Wrap;
INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline std::int64_t Quotient(std::int64_t a, std::int64_t b) {
  return formulas::Quotient(a, b);
}
INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline std::int64_t Modulo(std::int64_t a, std::int64_t b) {
  return formulas::Modulo(a, b);
}
INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline std::int64_t Pow(std::int64_t a, std::int64_t b) {
  return formulas::Pow(a, b);
}

// Integers. What has no meaning for them is not offered; sums and products wrap at 64 bits.
template <int kWidth>
INFIMUM_HOST_DEVICE inline void Apply(const PointwiseCall::Step& step, std::int64_t (&values)[kWidth],
                                      const std::int64_t (&seconds)[kWidth], const std::int64_t (&thirds)[kWidth]) {
  using T = std::int64_t;
  const auto p = NamedParameters<double>::Of(step.f64[0], step.f64[1]);
  const auto each = [&](auto function) {
    INFIMUM_UNROLL
    for (int i = 0; i < kWidth; ++i) values[i] = static_cast<T>(function(values[i], seconds[i]));
  };
  switch (step.kind) {
#define INFIMUM_INTEGER_UNARY INFIMUM_UNARY_STEP
#define INFIMUM_INTEGER_BINARY INFIMUM_BINARY_STEP
#define INFIMUM_TRUTH_UNARY INFIMUM_UNARY_STEP
#define INFIMUM_TRUTH_BINARY INFIMUM_BINARY_STEP
#include "src/core/layer/pointwise_kinds.def"
    case StepKind::kWhere: {
      INFIMUM_UNROLL
      for (int i = 0; i < kWidth; ++i) values[i] = values[i] != 0 ? seconds[i] : thirds[i];
      return;
    }
    default:
      return;
  }
}

#undef INFIMUM_UNARY_STEP
#undef INFIMUM_BINARY_STEP

}  // namespace infimum::cuda
