// The functions that formulas of pointwise_kinds.def and reduction_kinds.def use: of f64 through the C library, and of
// integers. Kernels add overloads of their own for f32. Everything is inlined always: sources that are compiled for
// several instruction sets include this too, and the linker must not choose among copies of one function.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

namespace infimum::formulas {

#if defined(__CUDACC__)
#define INFIMUM_FORMULA __host__ __device__ __forceinline__
#else
#define INFIMUM_FORMULA inline __attribute__((always_inline))
#endif

template <class T>
INFIMUM_FORMULA T Min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
INFIMUM_FORMULA T Max(T a, T b) {
  return a < b ? b : a;
}

INFIMUM_FORMULA double Abs(double x) { return std::fabs(x); }
INFIMUM_FORMULA double Ceil(double x) { return std::ceil(x); }
INFIMUM_FORMULA double Floor(double x) { return std::floor(x); }
INFIMUM_FORMULA double Round(double x) { return std::rint(x); }  // ties to even
INFIMUM_FORMULA double Sqrt(double x) { return std::sqrt(x); }
INFIMUM_FORMULA double Pow(double x, double y) { return std::pow(x, y); }
INFIMUM_FORMULA double Exp(double x) { return std::exp(x); }
INFIMUM_FORMULA double Expm1(double x) { return std::expm1(x); }
INFIMUM_FORMULA double Log(double x) { return std::log(x); }
INFIMUM_FORMULA double Erf(double x) { return std::erf(x); }
INFIMUM_FORMULA double Sin(double x) { return std::sin(x); }
INFIMUM_FORMULA double Cos(double x) { return std::cos(x); }
INFIMUM_FORMULA double Tan(double x) { return std::tan(x); }
INFIMUM_FORMULA double Asin(double x) { return std::asin(x); }
INFIMUM_FORMULA double Acos(double x) { return std::acos(x); }
INFIMUM_FORMULA double Atan(double x) { return std::atan(x); }
INFIMUM_FORMULA double Sinh(double x) { return std::sinh(x); }
INFIMUM_FORMULA double Cosh(double x) { return std::cosh(x); }
INFIMUM_FORMULA double Tanh(double x) { return std::tanh(x); }
INFIMUM_FORMULA double Asinh(double x) { return std::asinh(x); }
INFIMUM_FORMULA double Acosh(double x) { return std::acosh(x); }
INFIMUM_FORMULA double Atanh(double x) { return std::atanh(x); }
INFIMUM_FORMULA double Sigmoid(double x) { return 1 / (1 + Exp(-x)); }
// log(1 + exp(x)) without overflow.
INFIMUM_FORMULA double Softplus(double x) { return Max(x, 0.0) + std::log1p(Exp(-Abs(x))); }

// The remainder with the divisor's sign.
INFIMUM_FORMULA double Modulo(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// The same bits without a sign, so that sums and products wrap.
template <std::integral T>
INFIMUM_FORMULA std::make_unsigned_t<T> Wrap(T x) {
  return static_cast<std::make_unsigned_t<T>>(x);
}

template <class T>
INFIMUM_FORMULA T Square(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(Wrap(x) * Wrap(x));
  } else {
    return x * x;
  }
}
template <std::integral T>
INFIMUM_FORMULA T Abs(T x) {
  return x < 0 ? static_cast<T>(Wrap(T{0}) - Wrap(x)) : x;
}

// A division by zero gives zero, so that no value can stop a run.
template <std::integral T>
INFIMUM_FORMULA T Quotient(T a, T b) {
  if (b == 0) return 0;
  return std::is_signed_v<T> && b == static_cast<T>(-1) ? static_cast<T>(Wrap(T{0}) - Wrap(a)) : a / b;
}
template <std::integral T>
INFIMUM_FORMULA T Modulo(T a, T b) {
  if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
  const T remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
template <std::integral T>
INFIMUM_FORMULA T Pow(T base, T exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == static_cast<T>(-1) ? (exponent % 2 == 0 ? 1 : -1) : 0;
  unsigned long long result = 1, factor = static_cast<unsigned long long>(base);
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}
template <std::integral T>
INFIMUM_FORMULA std::make_unsigned_t<T> ShiftLeft(T a, T b) {
  return Wrap(a) << (Wrap(b) & (sizeof(T) * 8 - 1));
}

// Where a grid's number from -1 to 1 lies in a dimension of `size` elements (ONNX, GridSample).
template <class T>
INFIMUM_FORMULA T GridPosition(T number, T size, bool aligned_corners) {
  return aligned_corners ? (number + 1) / 2 * (size - 1) : ((number + 1) * size - 1) / 2;
}

// The weights of the four neighbours of a point that is `t` behind the second: cubic convolution, coefficient `a`.
template <class T>
INFIMUM_FORMULA void CubicWeights(T t, T a, T (&weights)[4]) {
  const auto near = [a](T s) { return ((a + 2) * s - (a + 3)) * s * s + 1; };
  const auto far = [a](T s) { return ((a * s - 5 * a) * s + 8 * a) * s - 4 * a; };
  weights[0] = far(t + 1);
  weights[1] = near(t);
  weights[2] = near(1 - t);
  weights[3] = far(2 - t);
}

// How a reduction goes from one element to the next.
enum class Fold { kSum, kProduct, kMaximum, kMinimum };

template <Fold kFold, class T>
INFIMUM_FORMULA T Combined(T a, T b) {
  if constexpr (kFold == Fold::kMaximum) {
    return Max(a, b);
  } else if constexpr (kFold == Fold::kMinimum) {
    return Min(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(kFold == Fold::kSum ? Wrap(a) + Wrap(b) : Wrap(a) * Wrap(b));
  } else if constexpr (kFold == Fold::kSum) {
    return a + b;
  } else {
    return a * b;
  }
}

// The neutral element of a fold.
template <class T>
consteval T StartOf(Fold fold) {
  using Limits = std::numeric_limits<T>;
  if (fold == Fold::kMaximum) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if (fold == Fold::kMinimum) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return fold == Fold::kProduct ? T{1} : T{0};
}

}  // namespace infimum::formulas
