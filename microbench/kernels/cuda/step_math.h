// What a step of an element-wise program does to numbers: Apply() for `kWidth` elements at a time, so that the kind is
// looked at once for all of them.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/pointwise_call.h"
#include "microbench/kernels/cuda/real_math.h"

namespace infimum::cuda {

INFIMUM_HOST_DEVICE inline float Parameter(const PointwiseCall::Step& step, int i, float) { return step.f32[i]; }
INFIMUM_HOST_DEVICE inline double Parameter(const PointwiseCall::Step& step, int i, double) { return step.f64[i]; }

// What is too long to stand in a kernel once for each element of a thread.
template <class T>
INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline T RareFunction(StepKind kind, T x, T y) {
  switch (kind) {
    case StepKind::kPower:
      return Power(x, y);
    case StepKind::kModulo: {
      const T remainder = Remainder(x, y);
      return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
    }
    case StepKind::kSine:
      return ::sin(x);
    case StepKind::kCosine:
      return ::cos(x);
    case StepKind::kTangent:
      return ::tan(x);
    case StepKind::kArcSine:
      return ::asin(x);
    case StepKind::kArcCosine:
      return ::acos(x);
    case StepKind::kArcTangent:
      return ::atan(x);
    case StepKind::kHyperbolicSine:
      return ::sinh(x);
    case StepKind::kHyperbolicCosine:
      return ::cosh(x);
    case StepKind::kArcHyperbolicSine:
      return ::asinh(x);
    case StepKind::kArcHyperbolicCosine:
      return ::acosh(x);
    case StepKind::kArcHyperbolicTangent:
      return ::atanh(x);
    default:
      return x;
  }
}

// x in place; y and z where the kind has them. Real numbers: f32 or f64.
template <int kWidth, class T>
INFIMUM_HOST_DEVICE inline void Apply(const PointwiseCall::Step& step, T (&x)[kWidth], const T (&y)[kWidth],
                                      const T (&z)[kWidth]) {
  const T a = Parameter(step, 0, T{}), b = Parameter(step, 1, T{});
  const auto each = [&](auto function) {
    INFIMUM_UNROLL
    for (int i = 0; i < kWidth; ++i) x[i] = static_cast<T>(function(x[i], y[i]));
  };
  switch (step.kind) {
    case StepKind::kIdentity:
      return;
    case StepKind::kAdd:
      return each([](T v, T w) { return v + w; });
    case StepKind::kSubtract:
      return each([](T v, T w) { return v - w; });
    case StepKind::kMultiply:
      return each([](T v, T w) { return v * w; });
    case StepKind::kDivide:
      return each([](T v, T w) { return v / w; });
    case StepKind::kMinimum:
      return each([](T v, T w) { return Smaller(v, w); });
    case StepKind::kMaximum:
      return each([](T v, T w) { return Larger(v, w); });
    case StepKind::kPRelu:
      return each([](T v, T w) { return v < 0 ? v * w : v; });
    case StepKind::kAnd:
      return each([](T v, T w) { return v != 0 && w != 0 ? 1 : 0; });
    case StepKind::kOr:
      return each([](T v, T w) { return v != 0 || w != 0 ? 1 : 0; });
    case StepKind::kXor:
      return each([](T v, T w) { return (v != 0) != (w != 0) ? 1 : 0; });
    case StepKind::kEqual:
      return each([](T v, T w) { return v == w ? 1 : 0; });
    case StepKind::kGreater:
      return each([](T v, T w) { return v > w ? 1 : 0; });
    case StepKind::kGreaterOrEqual:
      return each([](T v, T w) { return v >= w ? 1 : 0; });
    case StepKind::kLess:
      return each([](T v, T w) { return v < w ? 1 : 0; });
    case StepKind::kLessOrEqual:
      return each([](T v, T w) { return v <= w ? 1 : 0; });
    case StepKind::kWhere: {
      INFIMUM_UNROLL
      for (int i = 0; i < kWidth; ++i) x[i] = x[i] != 0 ? y[i] : z[i];
      return;
    }
    case StepKind::kNot:
      return each([](T v, T) { return v == 0 ? 1 : 0; });
    case StepKind::kIsNaN:
      return each([](T v, T) { return v != v ? 1 : 0; });
    case StepKind::kIsInf:
      return each([](T v, T) { return Absolute(v) == static_cast<T>(HUGE_VAL) ? 1 : 0; });
    case StepKind::kAbsolute:
      return each([](T v, T) { return Absolute(v); });
    case StepKind::kNegative:
      return each([](T v, T) { return -v; });
    case StepKind::kSign:
      return each([](T v, T) { return v > 0 ? 1 : v < 0 ? -1 : 0; });
    case StepKind::kCeil:
      return each([](T v, T) { return Ceil(v); });
    case StepKind::kFloor:
      return each([](T v, T) { return Floor(v); });
    case StepKind::kRound:
      return each([](T v, T) { return RoundToEven(v); });
    case StepKind::kTruncate:
      return each([](T v, T) { return Truncate(v); });
    case StepKind::kReciprocal:
      return each([](T v, T) { return 1 / v; });
    case StepKind::kSquareRoot:
      return each([](T v, T) { return SquareRoot(v); });
    case StepKind::kSquare:
      return each([](T v, T) { return v * v; });
    case StepKind::kCube:
      return each([](T v, T) { return v * v * v; });
    case StepKind::kExponential:
      return each([](T v, T) { return Exponential(v); });
    case StepKind::kLogarithm:
      return each([](T v, T) { return Logarithm(v); });
    case StepKind::kErrorFunction:
      return each([](T v, T) { return ErrorFunction(v); });
    case StepKind::kClip:
      return each([=](T v, T) { return Smaller(Larger(v, a), b); });
    case StepKind::kMultiplyAdd:
      return each([=](T v, T) { return a * v + b; });
    case StepKind::kInverseRoot:
      return each([=](T v, T) { return InverseRoot(v + a); });
    case StepKind::kRelu:
      return each([](T v, T) { return Larger(v, T{0}); });
    case StepKind::kLeakyRelu:
      return each([=](T v, T) { return v < 0 ? a * v : v; });
    case StepKind::kElu:
      return each([=](T v, T) { return v < 0 ? a * ExponentialLessOne(v) : v; });
    case StepKind::kCelu:
      return each([=](T v, T) { return v < 0 ? a * ExponentialLessOne(v / a) : v; });
    case StepKind::kSelu:
      return each([=](T v, T) { return b * (v > 0 ? v : a * ExponentialLessOne(v)); });
    case StepKind::kThresholdedRelu:
      return each([=](T v, T) { return v > a ? v : T{0}; });
    case StepKind::kSigmoid:
      return each([](T v, T) { return Sigmoid(v); });
    case StepKind::kHardSigmoid:
      return each([=](T v, T) { return Smaller(Larger(a * v + b, T{0}), T{1}); });
    case StepKind::kTanh:
      return each([](T v, T) { return HyperbolicTangent(v); });
    case StepKind::kHardSwish:
      return each([](T v, T) { return v * Smaller(Larger(v * static_cast<T>(1.0 / 6) + T(0.5), T{0}), T{1}); });
    case StepKind::kSwish:
      return each([](T v, T) { return QuotientByLarge(v, 1 + Exponential(-v)); });
    case StepKind::kGeluErf:
      return each([](T v, T) { return T(0.5) * v * (1 + ErrorFunction(v * static_cast<T>(0.70710678118654752))); });
    case StepKind::kGeluTanh:
      // (1 + tanh(y)) / 2 is the sigmoid of 2 y.
      return each([](T v, T) {
        return v * Sigmoid(static_cast<T>(1.5957691216057308) * (v + static_cast<T>(0.044715) * v * v * v));
      });
    case StepKind::kQuickGelu:
      return each([=](T v, T) { return v * Sigmoid(a * v); });
    case StepKind::kSoftplus:
      return each([](T v, T) { return SoftPlus(v); });
    case StepKind::kSoftsign:
      return each([](T v, T) { return v / (1 + Absolute(v)); });
    case StepKind::kMish:
      return each([](T v, T) { return v * HyperbolicTangent(SoftPlus(v)); });
    case StepKind::kShrink:
      return each([=](T v, T) { return v < -a || v > a ? v : T{0}; });
    case StepKind::kQuantize:
      return each([=](T v, T) { return RoundToEven(v / a) + b; });
    case StepKind::kDequantize:
      return each([=](T v, T) { return (v - a) * b; });
    case StepKind::kRequantize: {
      const T c = Parameter(step, 2, T{});
      return each([=](T v, T) { return (v - a) * b + c; });
    }
    case StepKind::kDynamicQuantize: {
      // All elements have the same scale, from the smallest and the largest of them and 0.
      const T low = Smaller(y[0], T{0}), high = Larger(z[0], T{0});
      const T scale = high > low ? (high - low) / 255 : T{1};
      const T zero = RoundToEven(Smaller(Larger(-low / scale, T{0}), T{255}));
      return each([=](T v, T) { return RoundToEven(v / scale) + zero; });
    }
    default:
      return each([&](T v, T w) { return RareFunction(step.kind, v, w); });
  }
}

INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline std::int64_t RareFunction(StepKind kind, std::int64_t x,
                                                                         std::int64_t y) {
  using Bits = std::uint64_t;
  switch (kind) {
    case StepKind::kDivide:
      return y == 0 ? 0 : y == -1 ? static_cast<std::int64_t>(-static_cast<Bits>(x)) : x / y;
    case StepKind::kModulo: {
      const std::int64_t remainder = y == 0 || y == -1 ? 0 : x % y;
      return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
    }
    case StepKind::kPower: {
      if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
      Bits result = 1, square = static_cast<Bits>(x);
      for (auto rest = static_cast<Bits>(y); rest != 0; rest >>= 1) {
        if (rest & 1) result *= square;
        square *= square;
      }
      return static_cast<std::int64_t>(result);
    }
    default:
      return x;
  }
}

// Integers. What has no meaning for them is not offered; sums and products wrap at 64 bits.
template <int kWidth>
INFIMUM_HOST_DEVICE inline void Apply(const PointwiseCall::Step& step, std::int64_t (&x)[kWidth],
                                      const std::int64_t (&y)[kWidth], const std::int64_t (&z)[kWidth]) {
  using T = std::int64_t;
  using Bits = std::uint64_t;
  const auto each = [&](auto function) {
    INFIMUM_UNROLL
    for (int i = 0; i < kWidth; ++i) x[i] = static_cast<T>(function(x[i], y[i]));
  };
  switch (step.kind) {
    case StepKind::kIdentity:
    case StepKind::kCeil:
    case StepKind::kFloor:
    case StepKind::kRound:
    case StepKind::kTruncate:
      return;
    case StepKind::kAdd:
      return each([](T v, T w) { return static_cast<Bits>(v) + static_cast<Bits>(w); });
    case StepKind::kSubtract:
      return each([](T v, T w) { return static_cast<Bits>(v) - static_cast<Bits>(w); });
    case StepKind::kMultiply:
      return each([](T v, T w) { return static_cast<Bits>(v) * static_cast<Bits>(w); });
    case StepKind::kMinimum:
      return each([](T v, T w) { return Smaller(v, w); });
    case StepKind::kMaximum:
      return each([](T v, T w) { return Larger(v, w); });
    case StepKind::kPRelu:
      return each([](T v, T w) { return v < 0 ? v * w : v; });
    case StepKind::kBitShift:
      return each([](T v, T w) { return static_cast<Bits>(v) << (w & 63); });
    case StepKind::kAnd:
      return each([](T v, T w) { return v != 0 && w != 0; });
    case StepKind::kOr:
      return each([](T v, T w) { return v != 0 || w != 0; });
    case StepKind::kXor:
      return each([](T v, T w) { return (v != 0) != (w != 0); });
    case StepKind::kBitwiseAnd:
      return each([](T v, T w) { return v & w; });
    case StepKind::kBitwiseOr:
      return each([](T v, T w) { return v | w; });
    case StepKind::kBitwiseXor:
      return each([](T v, T w) { return v ^ w; });
    case StepKind::kEqual:
      return each([](T v, T w) { return v == w; });
    case StepKind::kGreater:
      return each([](T v, T w) { return v > w; });
    case StepKind::kGreaterOrEqual:
      return each([](T v, T w) { return v >= w; });
    case StepKind::kLess:
      return each([](T v, T w) { return v < w; });
    case StepKind::kLessOrEqual:
      return each([](T v, T w) { return v <= w; });
    case StepKind::kWhere: {
      INFIMUM_UNROLL
      for (int i = 0; i < kWidth; ++i) x[i] = x[i] != 0 ? y[i] : z[i];
      return;
    }
    case StepKind::kNot:
      return each([](T v, T) { return v == 0; });
    case StepKind::kBitwiseNot:
      return each([](T v, T) { return ~v; });
    case StepKind::kAbsolute:
      return each([](T v, T) { return Absolute(v); });
    case StepKind::kNegative:
      return each([](T v, T) { return -static_cast<Bits>(v); });
    case StepKind::kSign:
      return each([](T v, T) { return v > 0 ? 1 : v < 0 ? -1 : 0; });
    case StepKind::kSquare:
      return each([](T v, T) { return static_cast<Bits>(v) * static_cast<Bits>(v); });
    case StepKind::kCube:
      return each([](T v, T) { return static_cast<Bits>(v) * static_cast<Bits>(v) * static_cast<Bits>(v); });
    case StepKind::kClip: {
      const auto low = static_cast<T>(step.f64[0]), high = static_cast<T>(step.f64[1]);
      return each([=](T v, T) { return Smaller(Larger(v, low), high); });
    }
    case StepKind::kRelu:
      return each([](T v, T) { return Larger(v, T{0}); });
    default:
      return each([&](T v, T w) { return RareFunction(step.kind, v, w); });
  }
}

}  // namespace infimum::cuda
