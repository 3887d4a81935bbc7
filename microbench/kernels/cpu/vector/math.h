// Elementary functions without branches or calls, so that loops over them become vectors. Errors are the
// largest seen against f64 over the whole range of floats (the tests repeat this), far within the 4e-5
// that the contract allows to transcendental functions.
//
//   Exp    3e-7 relative       Log    3e-7       Tanh, Sigmoid  4e-7 absolute      Erf  5e-7 absolute
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "microbench/kernels/cpu/vector/isa.h"
#include "src/core/layer/formulas.h"

namespace infimum::cpu::INFIMUM_ISA {

#define INFIMUM_INLINE inline __attribute__((always_inline))
#define INFIMUM_LAMBDA __attribute__((always_inline))

// Of f64, of integers, and of any type.
using formulas::Abs, formulas::Ceil, formulas::Floor, formulas::Round, formulas::Sqrt, formulas::Min, formulas::Max;
using formulas::Acos, formulas::Acosh, formulas::Asin, formulas::Asinh, formulas::Atan, formulas::Atanh;
using formulas::Cos, formulas::Cosh, formulas::Sin, formulas::Sinh, formulas::Tan, formulas::Tanh;
using formulas::Exp, formulas::Expm1, formulas::Log, formulas::Erf, formulas::Sigmoid, formulas::Softplus;
using formulas::Pow, formulas::Quotient, formulas::ShiftLeft, formulas::Wrap;

INFIMUM_INLINE float Abs(float x) { return __builtin_fabsf(x); }
INFIMUM_INLINE float Ceil(float x) { return __builtin_ceilf(x); }
INFIMUM_INLINE float Floor(float x) { return __builtin_floorf(x); }
INFIMUM_INLINE float Round(float x) { return __builtin_rintf(x); }
INFIMUM_INLINE float Sqrt(float x) { return __builtin_sqrtf(x); }

// Too rare for a polynomial: the C library's.
INFIMUM_INLINE float Asin(float x) { return __builtin_asinf(x); }
INFIMUM_INLINE float Acos(float x) { return __builtin_acosf(x); }
INFIMUM_INLINE float Atan(float x) { return __builtin_atanf(x); }
INFIMUM_INLINE float Sinh(float x) { return __builtin_sinhf(x); }
INFIMUM_INLINE float Asinh(float x) { return __builtin_asinhf(x); }
INFIMUM_INLINE float Acosh(float x) { return __builtin_acoshf(x); }
INFIMUM_INLINE float Atanh(float x) { return __builtin_atanhf(x); }

// Real numbers by a quotient that is rounded: a vector, where fmod is a loop.
INFIMUM_INLINE float Modulo(float a, float b) { return a - __builtin_floorf(a / b) * b; }
INFIMUM_INLINE double Modulo(double a, double b) { return a - __builtin_floor(a / b) * b; }
template <std::integral T>
INFIMUM_INLINE T Modulo(T a, T b) {
  return formulas::Modulo(a, b);
}

// By Horner's rule, the coefficients of the highest powers first.
template <class T, class... Coefficients>
INFIMUM_INLINE T Polynomial(T x, T first, Coefficients... others) {
  ((first = first * x + others), ...);
  return first;
}

// To the nearest integer, ties to even, for |x| < 2^22: adding 1.5 * 2^23 leaves no room for a fraction.
INFIMUM_INLINE float NearestSmall(float x) { return (x + 12582912.0F) - 12582912.0F; }

INFIMUM_INLINE float Exp(float x) {
  const float clamped = Min(88.73F, Max(-87.0F, x));
  const float n = NearestSmall(clamped * 1.44269504F);
  const float r = (clamped - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = Polynomial(r, 1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F,
                       5.0000001201e-1F);
  p = p * r * r + r + 1.0F;
  // 2^n in two factors: n may be 128.
  const auto half = static_cast<std::int32_t>(n) + 126;
  const float y = p * std::bit_cast<float>(half << 23) * 2.0F;
  const float high = x > 88.722839F ? std::numeric_limits<float>::infinity() : y;
  const float low = x < -87.0F ? 0.0F : high;
  return x == x ? low : x;
}

// exp(x) for x <= 0, as a softmax needs it; 0 where it would be no normal number.
INFIMUM_INLINE Floats ExpOfNonPositive(Floats x) {
  const Floats least = Floats{} - 87.0F;
  const Floats clamped = least > x ? least : x;  // in this order a NaN stays one
  // Adding 1.5 * 2^23 leaves the nearest integer n in the low bits.
  const Floats shifted = clamped * 1.44269504F + 12582912.0F;
  const Floats n = shifted - 12582912.0F;
  const Floats r = (clamped - n * 0.693359375F) + n * 2.12194440e-4F;
  const Floats p = Polynomial(r, Floats{} + 1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F,
                              1.6666665459e-1F, 5.0000001201e-1F, 1.0F, 1.0F);
  // Times 2^n, in the exponent's bits.
  const Integers y = (Integers)p + ((Integers)shifted << 23);
  return (Floats)(y & ~(x < least));
}

// exp(x) - 1 for x <= 0, without cancellation near 0.
INFIMUM_INLINE float Expm1(float x) {
  const float series = x * (1.0F + x * (0.5F + x * (1.6666667e-1F + x * (4.1666668e-2F + x * 8.3333338e-3F))));
  const float direct = Exp(x) - 1.0F;
  return x > -0.25F && x < 0.25F ? series : direct;
}

INFIMUM_INLINE float Log(float x) {
  // Denormals are brought into range by 2^23.
  const bool tiny = x < 1.17549435e-38F;
  const float scaled = tiny ? x * 8388608.0F : x;
  const auto bits = std::bit_cast<std::uint32_t>(scaled);
  // Mantissa in [sqrt(1/2), sqrt(2)). Unsigned, since it wraps for negative numbers (which give NaN below).
  const auto shifted = static_cast<std::int32_t>(bits - 0x3f3504f3U);
  const std::int32_t exponent = shifted >> 23;
  const float m = std::bit_cast<float>((shifted & 0x7fffff) + 0x3f3504f3) - 1.0F;
  const float p =
      Polynomial(m, 7.0376836292e-2F, -1.1514610310e-1F, 1.1676998740e-1F, -1.2420140846e-1F, 1.4249322787e-1F,
                 -1.6668057665e-1F, 2.0000714765e-1F, -2.4999993993e-1F, 3.3333331174e-1F);
  const float e = static_cast<float>(exponent) - (tiny ? 23.0F : 0.0F);
  const float square = m * m;
  float y = m * square * p;
  y += e * -2.12194440e-4F;
  y -= 0.5F * square;
  const float result = m + y + e * 0.693359375F;
  const float finite = x < std::numeric_limits<float>::infinity() ? result : x;
  const float positive =
      x > 0.0F ? finite
               : (x == 0.0F ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN());
  return x == x ? positive : x;
}

// Rational approximations, odd over even.
INFIMUM_INLINE float Tanh(float value) {
  const float x = Min(9.0F, Max(-9.0F, value));
  const float s = x * x;
  const float p =
      Polynomial(s, -2.76076847742355e-16F, 2.00018790482477e-13F, -8.60467152213735e-11F, 5.12229709037114e-08F,
                 1.48572235717979e-05F, 6.37261928875436e-04F, 4.89352455891786e-03F);
  const float q =
      Polynomial(s, 1.19825839466702e-06F, 1.18534705686654e-04F, 2.26843463243900e-03F, 4.89352518554385e-03F);
  const float y = x * p / q;
  return value == value ? y : value;
}

INFIMUM_INLINE float Sigmoid(float x) { return 0.5F * Tanh(0.5F * x) + 0.5F; }

INFIMUM_INLINE float Erf(float value) {
  const float x = Min(4.0F, Max(-4.0F, value));
  const float s = x * x;
  const float p =
      Polynomial(s, -2.72614225801306e-10F, 2.77068142495902e-08F, -2.10102402082508e-06F, -5.69250639462346e-05F,
                 -7.34990630326855e-04F, -2.95459980854025e-03F, -1.60960333262415e-02F);
  const float q = Polynomial(s, -1.45660718464996e-05F, -2.13374055278905e-04F, -1.68282697438203e-03F,
                             -7.37332916720468e-03F, -1.42647390514189e-02F);
  const float y = x * p / q;
  return value == value ? y : value;
}

INFIMUM_INLINE float Softplus(float x) {
  const float magnitude = x < 0 ? -x : x;
  return Max(0.0F, x) + Log(1.0F + Exp(-magnitude));
}

// In f64, so that the reduction by pi holds for arguments up to 1e9.
INFIMUM_INLINE double NearestDouble(double x) { return (x + 6755399441055744.0) - 6755399441055744.0; }

template <bool cosine>
INFIMUM_INLINE float SineOrCosine(float value) {
  const double x = value;
  const double turns = NearestDouble(x * 0.31830988618379067154 + (cosine ? 0.5 : 0.0)) - (cosine ? 0.5 : 0.0);
  const double r = (x - turns * 3.14159265358979311600) - turns * 1.22464679914735317723e-16;
  const double s = r * r;
  const double p = Polynomial(s, -7.6471637318198164759e-13, 1.6059043836821614599e-10, -2.5052108385441718775e-08,
                              2.7557319223985890653e-06, -1.9841269841269841270e-04, 8.3333333333333333333e-03,
                              -1.6666666666666666667e-01);
  const double sine = r + r * s * p;
  const double half = (turns + (cosine ? 0.5 : 0.0)) * 0.5;
  const double parity = half - NearestDouble(half - 0.25);  // 0 for even, 0.5 for odd
  const double sign = parity > 0.25 ? -1.0 : 1.0;
  return static_cast<float>(sign * sine);
}

INFIMUM_INLINE float Sin(float x) { return SineOrCosine<false>(x); }
INFIMUM_INLINE float Cos(float x) { return SineOrCosine<true>(x); }
INFIMUM_INLINE float Tan(float x) { return Sin(x) / Cos(x); }
INFIMUM_INLINE float Cosh(float x) { return 0.5F * (Exp(x) + Exp(-x)); }

// For a > 0 alone, through logarithm and exponential in f64.
INFIMUM_INLINE float Pow(float a, float b) {
  const double x = a;
  const auto bits = std::bit_cast<std::int64_t>(x);
  const std::int64_t shifted = bits - 0x3fe6a09e667f3bcdLL;
  const std::int64_t mantissa = (shifted & 0xfffffffffffffLL) + 0x3fe6a09e667f3bcdLL;
  // The exponent as a double without a conversion from 64 bits, which AVX2 lacks: it fits in 12 bits.
  const double e = std::bit_cast<double>(((shifted >> 52) + 2048) | 0x4330000000000000LL) - (4503599627370496.0 + 2048);
  const double m = std::bit_cast<double>(mantissa);
  const double z = (m - 1.0) / (m + 1.0), s = z * z;
  const double p = Polynomial(s, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0);
  double t = (z * p * 1.44269504088896340736 + e) * static_cast<double>(b);  // log2 of the result
  t = t < -160.0 ? -160.0 : t;
  t = t > 130.0 ? 130.0 : t;
  const double n = NearestDouble(t);
  const double r = (t - n) * 0.69314718055994530942;
  const double q =
      Polynomial(r, 2.7557319223985893e-06, 2.4801587301587302e-05, 1.9841269841269841e-04, 1.3888888888888889e-03,
                 8.3333333333333332e-03, 4.1666666666666664e-02, 1.6666666666666666e-01, 0.5, 1.0, 1.0);
  // n + 1023 into the exponent; n as an integer from the low bits of its shifted form.
  const auto integer = std::bit_cast<std::int64_t>(n + 6755399441055744.0) - 0x4338000000000000LL;
  return static_cast<float>(q * std::bit_cast<double>((integer + 1023) << 52));
}

}  // namespace infimum::cpu::INFIMUM_ISA
