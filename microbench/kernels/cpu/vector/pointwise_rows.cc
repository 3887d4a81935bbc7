#include "microbench/kernels/cpu/vector/pointwise_rows.h"

#include "microbench/kernels/cpu/vector/math.h"
#include "microbench/kernels/cpu/vector/row_tables.h"
#include "microbench/reference/values.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

#define INFIMUM_LAMBDA __attribute__((always_inline))

// How a row's results are written: through the caches, or past them (vector_kernels.h says when).
enum class Store { kCached, kStreamed };

// As many results as a few vectors hold, computed in registers and then streamed out; what is left over, and
// a target that is not aligned for it, is written through the caches. `at(i)` is the i-th result.
constexpr std::int64_t kStreamedAtOnce = 4 * kFloats;

template <class Function>
INFIMUM_INLINE void StreamFloats(float* to, std::int64_t count, Function at) {
  std::int64_t i = 0;
  if (reinterpret_cast<std::uintptr_t>(to) % kBytes == 0) {
    for (; i + kStreamedAtOnce <= count; i += kStreamedAtOnce) {
      alignas(kBytes) float results[kStreamedAtOnce];
#pragma omp simd
      for (std::int64_t j = 0; j < kStreamedAtOnce; ++j) results[j] = at(i + j);
#pragma GCC unroll 4
      for (std::int64_t j = 0; j < kStreamedAtOnce; j += kFloats) {
        StreamWords(to + i + j, *reinterpret_cast<const AliasingWords*>(results + j));
      }
    }
  }
  for (; i < count; ++i) to[i] = at(i);
}

template <class T, Store write = Store::kCached, class Function>
INFIMUM_INLINE void MapRow(const void* x, void* y, std::int64_t count, Function function) {
  const T* __restrict from = static_cast<const T*>(x);
  T* __restrict to = static_cast<T*>(y);
  if constexpr (write == Store::kStreamed) {
    return StreamFloats(to, count, [=](std::int64_t i) INFIMUM_LAMBDA { return function(from[i]); });
  }
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] = function(from[i]);
}

// Calls of the C library do not become vectors: for kinds too rare to deserve a polynomial.
template <class T, class Function>
INFIMUM_INLINE void CallRow(const void* x, void* y, std::int64_t count, Function function) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  for (std::int64_t i = 0; i < count; ++i) to[i] = function(from[i]);
}

#define INFIMUM_F32(kind, expression)                                                             \
  case PointwiseKind::kind:                                                                       \
    return [](const void* from, void* to, std::int64_t count) {                                   \
      MapRow<float, write>(from, to, count, [](float x) INFIMUM_LAMBDA { return (expression); }); \
    };
#define INFIMUM_F32_CALL(kind, expression)                                   \
  case PointwiseKind::kind:                                                  \
    if (write == Store::kStreamed) return nullptr;                           \
    return [](const void* from, void* to, std::int64_t count) {              \
      CallRow<float>(from, to, count, [](float x) { return (expression); }); \
    };

constexpr float F(double value) { return static_cast<float>(value); }

template <Store write>
UnaryRow UnaryF32(PointwiseKind kind) {
  switch (kind) {
    INFIMUM_F32(kIdentity, x)
    INFIMUM_F32(kCast, x)
    INFIMUM_F32(kAbsolute, __builtin_fabsf(x))
    INFIMUM_F32(kNegative, -x)
    INFIMUM_F32(kSign, (x > 0 ? 1.0F : 0.0F) - (x < 0 ? 1.0F : 0.0F))
    INFIMUM_F32(kCeil, __builtin_ceilf(x))
    INFIMUM_F32(kFloor, __builtin_floorf(x))
    INFIMUM_F32(kRound, __builtin_rintf(x))
    INFIMUM_F32(kReciprocal, 1.0F / x)
    INFIMUM_F32(kSquareRoot, __builtin_sqrtf(x))
    INFIMUM_F32(kSquare, x * x)
    INFIMUM_F32(kCube, x * x * x)
    INFIMUM_F32(kExponential, Exp(x))
    INFIMUM_F32(kLogarithm, Log(x))
    INFIMUM_F32(kErrorFunction, Erf(x))
    INFIMUM_F32(kClip, (x < F(kUsualValues.clip_low) ? F(kUsualValues.clip_low)
                                                     : (x > F(kUsualValues.clip_high) ? F(kUsualValues.clip_high) : x)))
    INFIMUM_F32(kSine, SineOrCosine<false>(x))
    INFIMUM_F32(kCosine, SineOrCosine<true>(x))
    INFIMUM_F32(kTangent, SineOrCosine<false>(x) / SineOrCosine<true>(x))
    INFIMUM_F32_CALL(kArcSine, std::asin(x))
    INFIMUM_F32_CALL(kArcCosine, std::acos(x))
    INFIMUM_F32_CALL(kArcTangent, std::atan(x))
    INFIMUM_F32_CALL(kHyperbolicSine, std::sinh(x))
    INFIMUM_F32(kHyperbolicCosine, 0.5F * (Exp(x) + Exp(-x)))
    INFIMUM_F32_CALL(kArcHyperbolicSine, std::asinh(x))
    INFIMUM_F32_CALL(kArcHyperbolicCosine, std::acosh(x))
    INFIMUM_F32_CALL(kArcHyperbolicTangent, std::atanh(x))
    INFIMUM_F32(kRelu, (x < 0 ? 0.0F : x))
    INFIMUM_F32(kLeakyRelu, (x < 0 ? F(kUsualValues.leaky_slope) * x : x))
    INFIMUM_F32(kElu, (x < 0 ? F(kUsualValues.elu_alpha) * ExpMinusOne(x) : x))
    INFIMUM_F32(kCelu, (x < 0 ? F(kUsualValues.elu_alpha) * ExpMinusOne(x / F(kUsualValues.elu_alpha)) : x))
    INFIMUM_F32(kSelu, F(kUsualValues.selu_gamma) * (x > 0 ? x : F(kUsualValues.selu_alpha) * ExpMinusOne(x)))
    INFIMUM_F32(kThresholdedRelu, (x > F(kUsualValues.threshold) ? x : 0.0F))
    INFIMUM_F32(kSigmoid, Sigmoid(x))
    INFIMUM_F32(kHardSigmoid,
                Least(Most(F(kUsualValues.hard_sigmoid_alpha) * x + F(kUsualValues.hard_sigmoid_beta), 0.0F), 1.0F))
    INFIMUM_F32(kTanh, Tanh(x))
    INFIMUM_F32(kHardSwish, x * Least(Most(x * F(1.0 / 6) + 0.5F, 0.0F), 1.0F))
    INFIMUM_F32(kSwish, x * Sigmoid(x))
    INFIMUM_F32(kGeluErf, 0.5F * x * (1.0F + Erf(x * F(0.70710678118654752440))))
    INFIMUM_F32(kGeluTanh, 0.5F * x * (1.0F + Tanh(F(0.79788456080286535588) * (x + 0.044715F * x * x * x))))
    INFIMUM_F32(kQuickGelu, x * Sigmoid(F(kUsualValues.quick_gelu_alpha) * x))
    INFIMUM_F32(kSoftplus, SoftPlus(x))
    INFIMUM_F32(kSoftsign, x / (1.0F + __builtin_fabsf(x)))
    INFIMUM_F32(kMish, x * Tanh(SoftPlus(x)))
    INFIMUM_F32(kShrink, (x < -F(kUsualValues.shrink_lambda) || x > F(kUsualValues.shrink_lambda) ? x : 0.0F))
    default:
      return nullptr;
  }
}

#undef INFIMUM_F32
#undef INFIMUM_F32_CALL
#define INFIMUM_ANY(kind, expression)                                              \
  case PointwiseKind::kind:                                                        \
    return [](const void* from, void* to, std::int64_t count) {                    \
      CallRow<T>(from, to, count, [](T x) { return static_cast<T>(expression); }); \
    };

UnaryRow UnaryF64(PointwiseKind kind) {
  using T = double;
  switch (kind) {
    INFIMUM_ANY(kIdentity, x)
    INFIMUM_ANY(kCast, x)
    INFIMUM_ANY(kAbsolute, std::fabs(x))
    INFIMUM_ANY(kNegative, -x)
    INFIMUM_ANY(kSign, (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0))
    INFIMUM_ANY(kCeil, std::ceil(x))
    INFIMUM_ANY(kFloor, std::floor(x))
    INFIMUM_ANY(kRound, __builtin_rint(x))
    INFIMUM_ANY(kReciprocal, 1 / x)
    INFIMUM_ANY(kSquareRoot, std::sqrt(x))
    INFIMUM_ANY(kSquare, x * x)
    INFIMUM_ANY(kCube, x * x * x)
    INFIMUM_ANY(kExponential, std::exp(x))
    INFIMUM_ANY(kLogarithm, std::log(x))
    INFIMUM_ANY(kErrorFunction, std::erf(x))
    INFIMUM_ANY(kClip, (x < kUsualValues.clip_low ? kUsualValues.clip_low
                                                  : (x > kUsualValues.clip_high ? kUsualValues.clip_high : x)))
    INFIMUM_ANY(kSine, std::sin(x))
    INFIMUM_ANY(kCosine, std::cos(x))
    INFIMUM_ANY(kTangent, std::tan(x))
    INFIMUM_ANY(kArcSine, std::asin(x))
    INFIMUM_ANY(kArcCosine, std::acos(x))
    INFIMUM_ANY(kArcTangent, std::atan(x))
    INFIMUM_ANY(kHyperbolicSine, std::sinh(x))
    INFIMUM_ANY(kHyperbolicCosine, std::cosh(x))
    INFIMUM_ANY(kArcHyperbolicSine, std::asinh(x))
    INFIMUM_ANY(kArcHyperbolicCosine, std::acosh(x))
    INFIMUM_ANY(kArcHyperbolicTangent, std::atanh(x))
    INFIMUM_ANY(kRelu, (x < 0 ? 0 : x))
    INFIMUM_ANY(kLeakyRelu, (x < 0 ? kUsualValues.leaky_slope * x : x))
    INFIMUM_ANY(kElu, (x < 0 ? kUsualValues.elu_alpha * std::expm1(x) : x))
    INFIMUM_ANY(kCelu, (x < 0 ? kUsualValues.elu_alpha * std::expm1(x / kUsualValues.elu_alpha) : x))
    INFIMUM_ANY(kSelu, kUsualValues.selu_gamma * (x > 0 ? x : kUsualValues.selu_alpha * std::expm1(x)))
    INFIMUM_ANY(kThresholdedRelu, (x > kUsualValues.threshold ? x : 0))
    INFIMUM_ANY(kSigmoid, 1 / (1 + std::exp(-x)))
    INFIMUM_ANY(kHardSigmoid,
                std::fmin(std::fmax(kUsualValues.hard_sigmoid_alpha * x + kUsualValues.hard_sigmoid_beta, 0), 1))
    INFIMUM_ANY(kTanh, std::tanh(x))
    INFIMUM_ANY(kHardSwish, x * std::fmin(std::fmax(x / 6 + 0.5, 0), 1))
    INFIMUM_ANY(kSwish, x / (1 + std::exp(-x)))
    INFIMUM_ANY(kGeluErf, 0.5 * x * (1 + std::erf(x * 0.70710678118654752440)))
    INFIMUM_ANY(kGeluTanh, 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))))
    INFIMUM_ANY(kQuickGelu, x / (1 + std::exp(-kUsualValues.quick_gelu_alpha * x)))
    INFIMUM_ANY(kSoftplus, std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))))
    INFIMUM_ANY(kSoftsign, x / (1 + std::fabs(x)))
    INFIMUM_ANY(kMish, x * std::tanh(std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)))))
    INFIMUM_ANY(kShrink, (x < -kUsualValues.shrink_lambda || x > kUsualValues.shrink_lambda ? x : 0))
    default:
      return nullptr;
  }
}

template <class T>
UnaryRow UnaryInteger(PointwiseKind kind) {
  switch (kind) {
    INFIMUM_ANY(kIdentity, x)
    INFIMUM_ANY(kCast, x)
    INFIMUM_ANY(kCeil, x)
    INFIMUM_ANY(kFloor, x)
    INFIMUM_ANY(kRound, x)
    INFIMUM_ANY(kAbsolute, (x < 0 ? -x : x))
    INFIMUM_ANY(kNegative, -x)
    INFIMUM_ANY(kSign, (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0))
    INFIMUM_ANY(kSquare, x * x)
    INFIMUM_ANY(kCube, x * x * x)
    INFIMUM_ANY(kRelu, (x < 0 ? 0 : x))
    INFIMUM_ANY(kClip,
                (x < 0 ? 0 : (x > static_cast<T>(kUsualValues.clip_high) ? static_cast<T>(kUsualValues.clip_high) : x)))
    INFIMUM_ANY(kBitwiseNot, ~x)
    INFIMUM_ANY(kNot, x == 0)
    default:
      return nullptr;
  }
}

UnaryRow UnaryU8(PointwiseKind kind) {
  using T = std::uint8_t;
  switch (kind) {
    INFIMUM_ANY(kIdentity, x)
    INFIMUM_ANY(kCast, x)
    INFIMUM_ANY(kNot, x == 0)
    default:
      return nullptr;
  }
}

#undef INFIMUM_ANY

// The three ways that steps can be: both whole rows, or one of them a single element.
template <class In, class Out, Store write = Store::kCached, class Function>
INFIMUM_INLINE void CombineRow(const void* a, int a_step, const void* b, int b_step, void* y, std::int64_t count,
                               Function function) {
  const In* __restrict x = static_cast<const In*>(a);
  const In* __restrict z = static_cast<const In*>(b);
  Out* __restrict to = static_cast<Out*>(y);
  if constexpr (write == Store::kStreamed) {
    if (a_step == 1 && b_step == 1) {
      return StreamFloats(to, count, [=](std::int64_t i) INFIMUM_LAMBDA { return function(x[i], z[i]); });
    }
    if (a_step == 1) {
      return StreamFloats(to, count, [=, only = z[0]](std::int64_t i) INFIMUM_LAMBDA { return function(x[i], only); });
    }
    return StreamFloats(
        to, count, [=, only = x[0]](std::int64_t i) INFIMUM_LAMBDA { return function(only, z[b_step == 1 ? i : 0]); });
  }
  if (a_step == 1 && b_step == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) to[i] = function(x[i], z[i]);
  } else if (a_step == 1) {
    const In only = z[0];
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) to[i] = function(x[i], only);
  } else {
    const In only = x[0];
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) to[i] = function(only, z[b_step == 1 ? i : 0]);
  }
}

#define INFIMUM_BINARY(kind, expression)                                                                          \
  case PointwiseKind::kind:                                                                                       \
    return [](const void* left, int left_step, const void* right, int right_step, void* to, std::int64_t count) { \
      CombineRow<T, T>(left, left_step, right, right_step, to, count,                                             \
                       [](T a, T b) INFIMUM_LAMBDA { return static_cast<T>(expression); });                       \
    };
#define INFIMUM_COMPARE(kind, expression)                                                                         \
  case PointwiseKind::kind:                                                                                       \
    return [](const void* left, int left_step, const void* right, int right_step, void* to, std::int64_t count) { \
      CombineRow<T, std::uint8_t>(left, left_step, right, right_step, to, count,                                  \
                                  [](T a, T b) INFIMUM_LAMBDA { return static_cast<std::uint8_t>(expression); }); \
    };

template <class T>
BinaryRow Compare(PointwiseKind kind) {
  switch (kind) {
    INFIMUM_COMPARE(kEqual, a == b)
    INFIMUM_COMPARE(kGreater, a > b)
    INFIMUM_COMPARE(kGreaterOrEqual, a >= b)
    INFIMUM_COMPARE(kLess, a < b)
    INFIMUM_COMPARE(kLessOrEqual, a <= b)
    default:
      return nullptr;
  }
}

void PowerRowF32(const void* a, int a_step, const void* b, int b_step, void* y, std::int64_t count) {
  const float* x = static_cast<const float*>(a);
  const float* exponents = static_cast<const float*>(b);
  float* to = static_cast<float*>(y);
  // The exponents that models have: what any compiler or framework makes of them.
  if (b_step == 0 && a_step == 1) {
    const float e = exponents[0];
    if (e == 2.0F) return MapRow<float>(a, y, count, [](float v) INFIMUM_LAMBDA { return v * v; });
    if (e == 3.0F) return MapRow<float>(a, y, count, [](float v) INFIMUM_LAMBDA { return v * v * v; });
    if (e == 0.5F) return MapRow<float>(a, y, count, [](float v) INFIMUM_LAMBDA { return __builtin_sqrtf(v); });
    if (e == -1.0F) return MapRow<float>(a, y, count, [](float v) INFIMUM_LAMBDA { return 1.0F / v; });
  }
  CombineRow<float, float>(a, a_step, b, b_step, y, count,
                           [](float base, float e) INFIMUM_LAMBDA { return PowerPositive(base, e); });
  for (std::int64_t i = 0; i < count; ++i) {
    const float base = x[i * a_step], e = exponents[i * b_step];
    const bool usual = base >= 1e-30F && base < 1e30F && e > -100.0F && e < 100.0F;
    if (!usual) to[i] = std::pow(base, e);
  }
}

#define INFIMUM_STREAMED(kind, expression)                                                                        \
  case PointwiseKind::kind:                                                                                       \
    return [](const void* left, int left_step, const void* right, int right_step, void* to, std::int64_t count) { \
      CombineRow<float, float, Store::kStreamed>(left, left_step, right, right_step, to, count,                   \
                                                 [](float a, float b) INFIMUM_LAMBDA { return (expression); });   \
    };

// The kinds that memory limits; all others take longer than their writes.
BinaryRow BinaryStreamed(PointwiseKind kind) {
  switch (kind) {
    INFIMUM_STREAMED(kAdd, a + b)
    INFIMUM_STREAMED(kSubtract, a - b)
    INFIMUM_STREAMED(kMultiply, a * b)
    INFIMUM_STREAMED(kDivide, a / b)
    INFIMUM_STREAMED(kMinimum, (a < b ? a : b))
    INFIMUM_STREAMED(kMaximum, (a > b ? a : b))
    INFIMUM_STREAMED(kPRelu, (a < 0 ? a * b : a))
    default:
      return nullptr;
  }
}

#undef INFIMUM_STREAMED

template <class T>
BinaryRow BinaryFloating(PointwiseKind kind) {
  switch (kind) {
    INFIMUM_BINARY(kAdd, a + b)
    INFIMUM_BINARY(kMean, a + b)
    INFIMUM_BINARY(kSubtract, a - b)
    INFIMUM_BINARY(kMultiply, a * b)
    INFIMUM_BINARY(kDivide, a / b)
    INFIMUM_BINARY(kMinimum, (a < b ? a : b))
    INFIMUM_BINARY(kMaximum, (a > b ? a : b))
    INFIMUM_BINARY(kPRelu, (a < 0 ? a * b : a))
    INFIMUM_BINARY(kModulo, a - __builtin_floor(a / b) * b)
    case PointwiseKind::kPower:
      if constexpr (sizeof(T) == 4) return PowerRowF32;
      return [](const void* left, int left_step, const void* right, int right_step, void* to, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          static_cast<T*>(to)[i] =
              std::pow(static_cast<const T*>(left)[i * left_step], static_cast<const T*>(right)[i * right_step]);
        }
      };
    default:
      return Compare<T>(kind);
  }
}

template <class T>
T IntegerPower(T base, T exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1, factor = static_cast<std::uint64_t>(base);
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

// Wrapping like the hardware's; a division by zero gives zero, so that no value can stop a run.
template <class T>
BinaryRow BinaryInteger(PointwiseKind kind) {
  using U = std::make_unsigned_t<T>;
  switch (kind) {
    INFIMUM_BINARY(kAdd, static_cast<U>(a) + static_cast<U>(b))
    INFIMUM_BINARY(kMean, static_cast<U>(a) + static_cast<U>(b))
    INFIMUM_BINARY(kSubtract, static_cast<U>(a) - static_cast<U>(b))
    INFIMUM_BINARY(kMultiply, static_cast<U>(a) * static_cast<U>(b))
    INFIMUM_BINARY(kMinimum, (a < b ? a : b))
    INFIMUM_BINARY(kMaximum, (a > b ? a : b))
    INFIMUM_BINARY(kPRelu, (a < 0 ? a * b : a))
    INFIMUM_BINARY(kBitwiseAnd, a & b)
    INFIMUM_BINARY(kBitwiseOr, a | b)
    INFIMUM_BINARY(kBitwiseXor, a ^ b)
    INFIMUM_BINARY(kBitShift, static_cast<U>(a) << (static_cast<U>(b) & (sizeof(T) * 8 - 1)))
    case PointwiseKind::kDivide:
    case PointwiseKind::kModulo:
    case PointwiseKind::kPower: {
      static constexpr auto kLoop = [](const void* left, int left_step, const void* right, int right_step, void* to,
                                       std::int64_t count, auto function) {
        for (std::int64_t i = 0; i < count; ++i) {
          static_cast<T*>(to)[i] =
              function(static_cast<const T*>(left)[i * left_step], static_cast<const T*>(right)[i * right_step]);
        }
      };
      if (kind == PointwiseKind::kDivide) {
        return [](const void* left, int left_step, const void* right, int right_step, void* to, std::int64_t count) {
          kLoop(left, left_step, right, right_step, to, count, [](T a, T b) {
            return b == 0 ? T{0} : b == T(-1) ? static_cast<T>(U{0} - static_cast<U>(a)) : a / b;
          });
        };
      }
      if (kind == PointwiseKind::kModulo) {
        return [](const void* left, int left_step, const void* right, int right_step, void* to, std::int64_t count) {
          kLoop(left, left_step, right, right_step, to, count, [](T a, T b) -> T {
            if (b == 0 || b == T(-1)) return 0;
            const T remainder = a % b;
            return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
          });
        };
      }
      return [](const void* left, int left_step, const void* right, int right_step, void* to, std::int64_t count) {
        kLoop(left, left_step, right, right_step, to, count, [](T a, T b) { return IntegerPower<T>(a, b); });
      };
    }
    default:
      return Compare<T>(kind);
  }
}

BinaryRow BinaryU8(PointwiseKind kind) {
  using T = std::uint8_t;
  switch (kind) {
    INFIMUM_COMPARE(kAnd, (a != 0) & (b != 0))
    INFIMUM_COMPARE(kOr, (a | b) != 0)
    INFIMUM_COMPARE(kXor, (a != 0) != (b != 0))
    INFIMUM_BINARY(kBitwiseAnd, a & b)
    INFIMUM_BINARY(kBitwiseOr, a | b)
    INFIMUM_BINARY(kBitwiseXor, a ^ b)
    INFIMUM_BINARY(kMinimum, (a < b ? a : b))
    INFIMUM_BINARY(kMaximum, (a > b ? a : b))
    default:
      return Compare<T>(kind);
  }
}

#undef INFIMUM_BINARY
#undef INFIMUM_COMPARE

template <class T>
void Where(const std::uint8_t* condition, int condition_step, const void* a, int a_step, const void* b, int b_step,
           void* y, std::int64_t count) {
  const T* __restrict x = static_cast<const T*>(a);
  const T* __restrict z = static_cast<const T*>(b);
  T* __restrict to = static_cast<T*>(y);
  if (condition_step == 1 && a_step == 1 && b_step == 1) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) to[i] = condition[i] != 0 ? x[i] : z[i];
  } else if (condition_step == 1 && a_step == 1) {
    const T only = z[0];
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) to[i] = condition[i] != 0 ? x[i] : only;
  } else if (condition_step == 1 && b_step == 1) {
    const T only = x[0];
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) to[i] = condition[i] != 0 ? only : z[i];
  } else if (condition_step == 1) {
    const T first = x[0], second = z[0];
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) to[i] = condition[i] != 0 ? first : second;
  } else {
    const T* chosen = condition[0] != 0 ? x : z;
    const int step = condition[0] != 0 ? a_step : b_step;
    for (std::int64_t i = 0; i < count; ++i) to[i] = chosen[i * step];
  }
}

}  // namespace

UnaryRow FindUnary(PointwiseKind kind, ComputeType type) {
  switch (type) {
    case ComputeType::kF32:
      return UnaryF32<Store::kCached>(kind);
    case ComputeType::kF64:
      return UnaryF64(kind);
    case ComputeType::kS32:
      return UnaryInteger<std::int32_t>(kind);
    case ComputeType::kS64:
      return UnaryInteger<std::int64_t>(kind);
    case ComputeType::kU8:
      return UnaryU8(kind);
  }
  return nullptr;
}

BinaryRow FindBinary(PointwiseKind kind, ComputeType type) {
  switch (type) {
    case ComputeType::kF32:
      return BinaryFloating<float>(kind);
    case ComputeType::kF64:
      return BinaryFloating<double>(kind);
    case ComputeType::kS32:
      return BinaryInteger<std::int32_t>(kind);
    case ComputeType::kS64:
      return BinaryInteger<std::int64_t>(kind);
    case ComputeType::kU8:
      return BinaryU8(kind);
  }
  return nullptr;
}

UnaryRow FindUnaryStreamed(PointwiseKind kind) { return UnaryF32<Store::kStreamed>(kind); }
BinaryRow FindBinaryStreamed(PointwiseKind kind) { return BinaryStreamed(kind); }

WhereRow FindWhere(int bytes) {
  switch (bytes) {
    case 1:
      return Where<std::uint8_t>;
    case 2:
      return Where<std::uint16_t>;
    case 4:
      return Where<std::uint32_t>;
    default:
      return Where<std::uint64_t>;
  }
}

void TestRow(const void* x, int bytes, bool infinite, void* y, std::int64_t count) {
  auto* to = static_cast<std::uint8_t*>(y);
  if (bytes == 4) {
    const float* from = static_cast<const float*>(x);
    if (infinite) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = __builtin_fabsf(from[i]) == __builtin_inff();
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] != from[i];
    }
    return;
  }
  const double* from = static_cast<const double*>(x);
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = infinite ? __builtin_fabs(from[i]) == __builtin_inf() : from[i] != from[i];
  }
}

}  // namespace infimum::cpu::INFIMUM_ISA
