#include "microbench/kernels/cpu/vector/math.h"
#include "microbench/reference/values.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

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

// to[i] = at(i) for all results.
template <Store write, class Out, class Function>
INFIMUM_INLINE void WriteRow(Out* __restrict to, std::int64_t count, Function at) {
  if constexpr (write == Store::kStreamed) return StreamFloats(to, count, at);
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] = at(i);
}

template <class In, class Out, Store write = Store::kCached, class Function>
INFIMUM_INLINE void MapRow(const void* x, void* y, std::int64_t count, Function function) {
  const In* __restrict from = static_cast<const In*>(x);
  WriteRow<write>(static_cast<Out*>(y), count, [=](std::int64_t i) INFIMUM_LAMBDA { return function(from[i]); });
}

// Calls of the C library do not become vectors: for kinds too rare to deserve a polynomial.
template <class T, class Function>
INFIMUM_INLINE void CallRow(const void* x, void* y, std::int64_t count, Function function) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  for (std::int64_t i = 0; i < count; ++i) to[i] = function(from[i]);
}

constexpr const PointwiseParameters& p = kUsualValues;

// Each of the following switches is made of the table's formulas (pointwise_kinds.def), with T as the number type.
template <class T, class Function>
constexpr Function OfType(Function function) {
  static_assert(std::is_same_v<T, double> || !std::is_same_v<decltype(function(T{})), double>,
                "a function of the formula has no overload for T, or a fraction is written without T()");
  return function;
}

template <Store write>
UnaryRow UnaryF32(PointwiseKind kind) {
  using T = float;
  switch (kind) {
#define INFIMUM_REAL_UNARY(kind, formula)                                                            \
  case PointwiseKind::kind:                                                                          \
    return [](const void* from, void* to, std::int64_t count) {                                      \
      MapRow<T, T, write>(from, to, count, OfType<T>([](T x) INFIMUM_LAMBDA { return (formula); })); \
    };
#define INFIMUM_LIBRARY_UNARY(kind, formula)                                 \
  case PointwiseKind::kind:                                                  \
    if (write == Store::kStreamed) return nullptr;                           \
    return [](const void* from, void* to, std::int64_t count) {              \
      CallRow<T>(from, to, count, OfType<T>([](T x) { return (formula); })); \
    };
#include "src/core/layer/pointwise_kinds.def"
    default:
      return nullptr;
  }
}

template <class T>
UnaryRow RealTruth(PointwiseKind kind) {
  switch (kind) {
#define INFIMUM_REAL_TRUTH(kind, formula)                                                     \
  case PointwiseKind::kind:                                                                   \
    return [](const void* from, void* to, std::int64_t count) {                               \
      MapRow<T, std::uint8_t>(from, to, count, [](T x) INFIMUM_LAMBDA { return (formula); }); \
    };
#include "src/core/layer/pointwise_kinds.def"
    default:
      return nullptr;
  }
}

UnaryRow UnaryF64(PointwiseKind kind) {
  using T = double;
  switch (kind) {
#define INFIMUM_REAL_UNARY(kind, formula)                                                        \
  case PointwiseKind::kind:                                                                      \
    return [](const void* from, void* to, std::int64_t count) {                                  \
      MapRow<T, T>(from, to, count, [](T x) INFIMUM_LAMBDA { return static_cast<T>(formula); }); \
    };
#include "src/core/layer/pointwise_kinds.def"
    default:
      return RealTruth<T>(kind);
  }
}

// Bytes compute what stays in a byte: selections, bits and truths.
template <class T>
constexpr bool ComputesIn(PointwiseKind kind) {
  const auto any = [=](auto... kinds) { return (... || (kind == kinds)); };
  return sizeof(T) > 1 ||
         any(PointwiseKind::kIdentity, PointwiseKind::kCast, PointwiseKind::kMinimum, PointwiseKind::kMaximum,
             PointwiseKind::kBitwiseAnd, PointwiseKind::kBitwiseOr, PointwiseKind::kBitwiseXor);
}

template <class T>
UnaryRow UnaryInteger(PointwiseKind kind) {
  switch (kind) {
#define INFIMUM_INTEGER_UNARY(kind, formula)                                                       \
  case PointwiseKind::kind:                                                                        \
    if constexpr (!ComputesIn<T>(PointwiseKind::kind))                                             \
      return nullptr;                                                                              \
    else                                                                                           \
      return [](const void* from, void* to, std::int64_t count) {                                  \
        MapRow<T, T>(from, to, count, [](T x) INFIMUM_LAMBDA { return static_cast<T>(formula); }); \
      };
#define INFIMUM_TRUTH_UNARY(kind, formula)                                                    \
  case PointwiseKind::kind:                                                                   \
    return [](const void* from, void* to, std::int64_t count) {                               \
      MapRow<T, std::uint8_t>(from, to, count, [](T x) INFIMUM_LAMBDA { return (formula); }); \
    };
#include "src/core/layer/pointwise_kinds.def"
    default:
      return nullptr;
  }
}

// The three ways that steps can be: both whole rows, or one of them a single element.
template <class In, class Out, Store write = Store::kCached, class Function>
INFIMUM_INLINE void CombineRow(const void* a, int a_step, const void* b, int b_step, void* y, std::int64_t count,
                               Function function) {
  const In* __restrict x = static_cast<const In*>(a);
  const In* __restrict z = static_cast<const In*>(b);
  Out* __restrict to = static_cast<Out*>(y);
  if (a_step == 1 && b_step == 1)
    return WriteRow<write>(to, count, [=](std::int64_t i) INFIMUM_LAMBDA { return function(x[i], z[i]); });
  if (a_step == 1)
    return WriteRow<write>(to, count, [=, only = z[0]](std::int64_t i) INFIMUM_LAMBDA { return function(x[i], only); });
  WriteRow<write>(to, count,
                  [=, only = x[0]](std::int64_t i) INFIMUM_LAMBDA { return function(only, z[b_step == 1 ? i : 0]); });
}

#define INFIMUM_COMBINE(Out, write, formula)                                                                    \
  return [](const void* left, int left_step, const void* right, int right_step, void* to, std::int64_t count) { \
    CombineRow<T, Out, write>(left, left_step, right, right_step, to, count,                                    \
                              [](T a, T b) INFIMUM_LAMBDA { return static_cast<Out>(formula); });               \
  };

// Comparisons in every type; logic in bytes alone.
template <class T>
BinaryRow Truth(PointwiseKind kind) {
  switch (kind) {
#define INFIMUM_TRUTH_BINARY(kind, formula)                                     \
  case PointwiseKind::kind:                                                     \
    if constexpr (sizeof(T) > 1 && PointwiseKind::kind < PointwiseKind::kEqual) \
      return nullptr;                                                           \
    else                                                                        \
      INFIMUM_COMBINE(std::uint8_t, Store::kCached, formula)
#include "src/core/layer/pointwise_kinds.def"
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
    if (e == 2.0F) return MapRow<float, float>(a, y, count, [](float v) INFIMUM_LAMBDA { return v * v; });
    if (e == 3.0F) return MapRow<float, float>(a, y, count, [](float v) INFIMUM_LAMBDA { return v * v * v; });
    if (e == 0.5F) return MapRow<float, float>(a, y, count, [](float v) INFIMUM_LAMBDA { return Sqrt(v); });
    if (e == -1.0F) return MapRow<float, float>(a, y, count, [](float v) INFIMUM_LAMBDA { return 1.0F / v; });
  }
  CombineRow<float, float>(a, a_step, b, b_step, y, count,
                           [](float base, float e) INFIMUM_LAMBDA { return Pow(base, e); });
  for (std::int64_t i = 0; i < count; ++i) {
    const float base = x[i * a_step], e = exponents[i * b_step];
    const bool usual = base >= 1e-30F && base < 1e30F && e > -100.0F && e < 100.0F;
    if (!usual) to[i] = std::pow(base, e);
  }
}

// Streams are for kinds that memory limits; these take longer than their writes, or go over their result again.
template <Store write>
constexpr bool Writes(PointwiseKind kind) {
  return write == Store::kCached ||
         !(kind == PointwiseKind::kPower || kind == PointwiseKind::kModulo || kind == PointwiseKind::kMean);
}

template <class T, Store write = Store::kCached>
BinaryRow BinaryFloating(PointwiseKind kind) {
  if (std::is_same_v<T, float> && kind == PointwiseKind::kPower && write == Store::kCached) return PowerRowF32;
  switch (kind) {
#define INFIMUM_REAL_BINARY(kind, formula)             \
  case PointwiseKind::kind:                            \
    if constexpr (!Writes<write>(PointwiseKind::kind)) \
      return nullptr;                                  \
    else                                               \
      INFIMUM_COMBINE(T, write, formula)
#include "src/core/layer/pointwise_kinds.def"
    default:
      return write == Store::kCached ? Truth<T>(kind) : nullptr;
  }
}

template <class T>
BinaryRow BinaryInteger(PointwiseKind kind) {
  switch (kind) {
#define INFIMUM_INTEGER_BINARY(kind, formula)          \
  case PointwiseKind::kind:                            \
    if constexpr (!ComputesIn<T>(PointwiseKind::kind)) \
      return nullptr;                                  \
    else                                               \
      INFIMUM_COMBINE(T, Store::kCached, formula)
#include "src/core/layer/pointwise_kinds.def"
    default:
      return Truth<T>(kind);
  }
}

#undef INFIMUM_COMBINE

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
      if (const UnaryRow row = UnaryF32<Store::kCached>(kind)) return row;
      return RealTruth<float>(kind);
    case ComputeType::kF64:
      return UnaryF64(kind);
    case ComputeType::kS32:
      return UnaryInteger<std::int32_t>(kind);
    case ComputeType::kS64:
      return UnaryInteger<std::int64_t>(kind);
    case ComputeType::kU8:
      return UnaryInteger<std::uint8_t>(kind);
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
      return BinaryInteger<std::uint8_t>(kind);
  }
  return nullptr;
}

UnaryRow FindUnaryStreamed(PointwiseKind kind) { return UnaryF32<Store::kStreamed>(kind); }
BinaryRow FindBinaryStreamed(PointwiseKind kind) { return BinaryFloating<float, Store::kStreamed>(kind); }

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

}  // namespace infimum::cpu::INFIMUM_ISA
