// Functions of real numbers in f32 and f64, as short as the contracts allow: in f32 on a device, exponentials and
// logarithms are those of the special function unit. Errors against f64, relative to the result or to 1, whichever is
// larger: exp 2 ulp + 1.2 |x| ulp, log 2^-21, and what is made of them less than 1e-6; kernels that are bound by memory
// have some 30 instructions for an element. On the host they are the C library's.
#pragma once

#include <cmath>

#include "microbench/kernels/cuda/host_device.h"
#include "src/core/layer/formulas.h"

namespace infimum::cuda {

using formulas::Abs, formulas::Ceil, formulas::Erf, formulas::Exp, formulas::Expm1, formulas::Floor, formulas::Log,
    formulas::Softplus, formulas::Sqrt, formulas::Tanh;
using formulas::Max, formulas::Min;

INFIMUM_HOST_DEVICE inline float Exp(float x) {
#if INFIMUM_ON_DEVICE
  return __expf(x);
#else
  return ::expf(x);
#endif
}

INFIMUM_HOST_DEVICE inline float Log(float x) {
#if INFIMUM_ON_DEVICE
  return __logf(x);
#else
  return ::logf(x);
#endif
}

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

INFIMUM_HOST_DEVICE inline float Sqrt(float x) { return ::sqrtf(x); }
INFIMUM_HOST_DEVICE inline float Erf(float x) { return ::erff(x); }
INFIMUM_HOST_DEVICE inline float Abs(float x) { return ::fabsf(x); }
INFIMUM_HOST_DEVICE inline std::int64_t Abs(std::int64_t x) { return x < 0 ? -x : x; }
INFIMUM_HOST_DEVICE inline float Floor(float x) { return ::floorf(x); }
INFIMUM_HOST_DEVICE inline float Ceil(float x) { return ::ceilf(x); }
INFIMUM_HOST_DEVICE inline float Truncate(float x) { return ::truncf(x); }
INFIMUM_HOST_DEVICE inline double Truncate(double x) { return ::trunc(x); }

// Too long to be in a kernel once for each element of a thread, and rarely used: called.
#define INFIMUM_CALLED(Name, function)                                                            \
  INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline float Name(float x) { return ::function##f(x); } \
  INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline double Name(double x) { return ::function(x); }
INFIMUM_CALLED(Sin, sin)
INFIMUM_CALLED(Cos, cos)
INFIMUM_CALLED(Tan, tan)
INFIMUM_CALLED(Asin, asin)
INFIMUM_CALLED(Acos, acos)
INFIMUM_CALLED(Atan, atan)
INFIMUM_CALLED(Sinh, sinh)
INFIMUM_CALLED(Cosh, cosh)
INFIMUM_CALLED(Asinh, asinh)
INFIMUM_CALLED(Acosh, acosh)
INFIMUM_CALLED(Atanh, atanh)
#undef INFIMUM_CALLED
INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline float Pow(float x, float y) { return ::powf(x, y); }
INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline double Pow(double x, double y) { return ::pow(x, y); }
INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline float Modulo(float x, float y) {
  const float remainder = ::fmodf(x, y);
  return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
}
INFIMUM_OUT_OF_LINE INFIMUM_HOST_DEVICE inline double Modulo(double x, double y) { return formulas::Modulo(x, y); }

template <class T>
INFIMUM_HOST_DEVICE inline T Sigmoid(T x) {
  return QuotientByLarge(T{1}, 1 + Exp(-x));
}

// Where exp would lose all digits to the 1 beside it the result is small, and only its absolute error counts.
INFIMUM_HOST_DEVICE inline float Tanh(float x) { return 1 - 2 * QuotientByLarge(1.0F, 1 + Exp(2 * x)); }

// exp(x) - 1 for negative x.
INFIMUM_HOST_DEVICE inline float Expm1(float x) {
  // Below 2^-5 three terms leave 4e-8.
  return x > -0.03125F ? x * (1 + x * (0.5F + x * (1.0F / 6))) : Exp(x) - 1;
}

// log(1 + exp(x)) without overflow.
INFIMUM_HOST_DEVICE inline float Softplus(float x) { return Max(x, 0.0F) + Log(1 + Exp(-::fabsf(x))); }

}  // namespace infimum::cuda
