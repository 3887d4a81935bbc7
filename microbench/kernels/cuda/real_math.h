// Functions of real numbers in f32 and f64, as short as the contracts allow: in f32 on a device, exponentials and
// logarithms are those of the special function unit. Errors against f64, relative to the result or to 1, whichever is
// larger: exp 2 ulp + 1.2 |x| ulp, log 2^-21, and what is made of them less than 1e-6; kernels that are bound by memory
// have some 30 instructions for an element. On the host they are the C library's.
#pragma once

#include <cmath>

#include "microbench/kernels/cuda/host_device.h"

namespace infimum::cuda {

INFIMUM_HOST_DEVICE inline float Exponential(float x) {
#if INFIMUM_ON_DEVICE
  return __expf(x);
#else
  return ::expf(x);
#endif
}
INFIMUM_HOST_DEVICE inline double Exponential(double x) { return ::exp(x); }

INFIMUM_HOST_DEVICE inline float Logarithm(float x) {
#if INFIMUM_ON_DEVICE
  return __logf(x);
#else
  return ::logf(x);
#endif
}
INFIMUM_HOST_DEVICE inline double Logarithm(double x) { return ::log(x); }

// a / b within 2 ulp, for b from 1 to infinity.
INFIMUM_HOST_DEVICE inline float QuotientByLarge(float a, float b) {
#if INFIMUM_ON_DEVICE
  return __fdividef(a, b);
#else
  return a / b;
#endif
}
INFIMUM_HOST_DEVICE inline double QuotientByLarge(double a, double b) { return a / b; }

INFIMUM_HOST_DEVICE inline float InverseRoot(float x) {
#if INFIMUM_ON_DEVICE
  return ::rsqrtf(x);
#else
  return 1 / ::sqrtf(x);
#endif
}
INFIMUM_HOST_DEVICE inline double InverseRoot(double x) { return 1 / ::sqrt(x); }

INFIMUM_HOST_DEVICE inline float SquareRoot(float x) { return ::sqrtf(x); }
INFIMUM_HOST_DEVICE inline double SquareRoot(double x) { return ::sqrt(x); }
INFIMUM_HOST_DEVICE inline float ErrorFunction(float x) { return ::erff(x); }
INFIMUM_HOST_DEVICE inline double ErrorFunction(double x) { return ::erf(x); }
INFIMUM_HOST_DEVICE inline float Power(float x, float y) { return ::powf(x, y); }
INFIMUM_HOST_DEVICE inline double Power(double x, double y) { return ::pow(x, y); }
INFIMUM_HOST_DEVICE inline float Absolute(float x) { return ::fabsf(x); }
INFIMUM_HOST_DEVICE inline double Absolute(double x) { return ::fabs(x); }
INFIMUM_HOST_DEVICE inline std::int64_t Absolute(std::int64_t x) { return x < 0 ? -x : x; }
INFIMUM_HOST_DEVICE inline float Floor(float x) { return ::floorf(x); }
INFIMUM_HOST_DEVICE inline double Floor(double x) { return ::floor(x); }
INFIMUM_HOST_DEVICE inline float Ceil(float x) { return ::ceilf(x); }
INFIMUM_HOST_DEVICE inline double Ceil(double x) { return ::ceil(x); }
INFIMUM_HOST_DEVICE inline float Truncate(float x) { return ::truncf(x); }
INFIMUM_HOST_DEVICE inline double Truncate(double x) { return ::trunc(x); }
INFIMUM_HOST_DEVICE inline float Remainder(float x, float y) { return ::fmodf(x, y); }
INFIMUM_HOST_DEVICE inline double Remainder(double x, double y) { return ::fmod(x, y); }

template <class T>
INFIMUM_HOST_DEVICE inline T Smaller(T a, T b) {
  return b < a ? b : a;
}
template <class T>
INFIMUM_HOST_DEVICE inline T Larger(T a, T b) {
  return a < b ? b : a;
}

template <class T>
INFIMUM_HOST_DEVICE inline T Sigmoid(T x) {
  return QuotientByLarge(T{1}, 1 + Exponential(-x));
}

// Where exp would lose all digits to the 1 beside it the result is small, and only its absolute error counts.
INFIMUM_HOST_DEVICE inline float HyperbolicTangent(float x) {
  return 1 - 2 * QuotientByLarge(1.0F, 1 + Exponential(2 * x));
}
INFIMUM_HOST_DEVICE inline double HyperbolicTangent(double x) { return ::tanh(x); }

// exp(x) - 1 for negative x.
INFIMUM_HOST_DEVICE inline float ExponentialLessOne(float x) {
  // Below 2^-5 three terms leave 4e-8.
  return x > -0.03125F ? x * (1 + x * (0.5F + x * (1.0F / 6))) : Exponential(x) - 1;
}
INFIMUM_HOST_DEVICE inline double ExponentialLessOne(double x) { return ::expm1(x); }

// log(1 + exp(x)) without overflow.
INFIMUM_HOST_DEVICE inline float SoftPlus(float x) { return Larger(x, 0.0F) + Logarithm(1 + Exponential(-::fabsf(x))); }
INFIMUM_HOST_DEVICE inline double SoftPlus(double x) { return Larger(x, 0.0) + ::log1p(::exp(-::fabs(x))); }

}  // namespace infimum::cuda
