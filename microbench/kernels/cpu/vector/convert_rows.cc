// Rows from one storage type to another. Casts to integers truncate towards zero and saturate;
// quantisation rounds to nearest even.
#include <bit>
#include <limits>
#include <type_traits>

#include "infimum/layer/number_types.h"
#include "microbench/kernels/cpu/vector/math.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace infimum::cpu::INFIMUM_ISA {
namespace {

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
struct Truth {
  std::uint8_t bits;
};

INFIMUM_INLINE float HalfToFloat(std::uint16_t bits) {
  // By the float unit itself: place exponent and mantissa, scale by 2^112, mend infinities.
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x0f800000U ? 0x7f800000U | (magnitude & 0x007fffffU) : 0U;
  const std::uint32_t value = special != 0U ? special : std::bit_cast<std::uint32_t>(scaled);
  return std::bit_cast<float>(value | static_cast<std::uint32_t>(bits & 0x8000) << 16);
}

INFIMUM_INLINE std::uint16_t FloatToHalf(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U, magnitude = bits & 0x7fffffffU;
  const std::uint32_t normal = (magnitude + 0xc8000fffU + ((magnitude >> 13) & 1U)) >> 13;
  const std::uint32_t tiny =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t finite = magnitude < 0x38800000U ? tiny : (magnitude >= 0x477ff000U ? 0x7c00U : normal);
  const std::uint32_t result = magnitude > 0x7f800000U ? 0x7e00U : finite;
  return static_cast<std::uint16_t>(sign | result);
}

INFIMUM_INLINE std::uint16_t FloatToBrain(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? 0x7fc0U : rounded);
}

template <class To>
INFIMUM_INLINE To Truncate(double value) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<To>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<To>::max());
  if (!(value > kLow)) return value == value ? std::numeric_limits<To>::min() : To{0};
  if (value >= kHigh) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <class From, class To>
INFIMUM_INLINE To ConvertOne(From from) {
  if constexpr (std::is_same_v<From, To>) {
    return from;
  } else if constexpr (std::is_same_v<From, Half>) {
    return ConvertOne<float, To>(HalfToFloat(from.bits));
  } else if constexpr (std::is_same_v<From, Brain>) {
    return ConvertOne<float, To>(std::bit_cast<float>(static_cast<std::uint32_t>(from.bits) << 16));
  } else if constexpr (std::is_same_v<From, Truth>) {
    return ConvertOne<std::uint8_t, To>(from.bits != 0 ? 1 : 0);
  } else if constexpr (std::is_same_v<To, Truth>) {
    return Truth{static_cast<std::uint8_t>(from != 0)};
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{FloatToHalf(static_cast<float>(from))};
  } else if constexpr (std::is_same_v<To, Brain>) {
    return Brain{FloatToBrain(static_cast<float>(from))};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (std::is_same_v<From, float> && sizeof(To) <= 2) {
      // Within s32, which vectors convert to.
      const float low = static_cast<float>(std::numeric_limits<To>::min());
      const float high = static_cast<float>(std::numeric_limits<To>::max());
      const float known = from == from ? from : 0.0F;
      return static_cast<To>(static_cast<std::int32_t>(Min(high, Max(low, known))));
    } else {
      return Truncate<To>(from);
    }
  } else {
    return static_cast<To>(from);  // between integers a cast wraps, as ONNX Runtime's does
  }
}

template <class From, class To>
void ConvertLoop(const void* x, void* y, std::int64_t count) {
  const From* __restrict from = static_cast<const From*>(x);
  To* __restrict to = static_cast<To*>(y);
  std::int64_t i = 0;
#if defined(__AVX2__)
  if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>) {
    for (; i + 8 <= count; i += 8) {
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
    }
  }
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Half>) {
    for (; i + 8 <= count; i += 8) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    }
  }
#endif
#pragma omp simd
  for (std::int64_t j = i; j < count; ++j) to[j] = ConvertOne<From, To>(from[j]);
}

// Calls use(T{}) with what an element of `type` is in memory; types without rows get nullptr.
template <class Use>
auto WithStored(DataType type, const Use& use) -> decltype(use(double{})) {
  if (type == DataType::kF16) return use(Half{});
  if (type == DataType::kBF16) return use(Brain{});
  if (type == DataType::kBool) return use(Truth{});
  return WithNumber(type, use, [] { return nullptr; });
}

template <class To>
void Quantize(const float* __restrict x, void* y, std::int64_t count, QuantizeValues values) {
  To* __restrict to = static_cast<To*>(y);
  const float scale = values.scale, zero = values.zero, low = values.low, high = values.high;
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float rounded = __builtin_rintf(x[i] / scale) + zero;
    to[i] = static_cast<To>(static_cast<std::int32_t>(Min(high, Max(low, rounded))));
  }
}

template <class From>
void Dequantize(const void* x, float* __restrict y, std::int64_t count, QuantizeValues values) {
  const From* __restrict from = static_cast<const From*>(x);
  const float scale = values.scale;
  const auto zero = static_cast<std::int32_t>(values.zero);
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = static_cast<float>(static_cast<std::int32_t>(from[i]) - zero) * scale;
  }
}

template <class From>
void Widen(const void* x, std::int16_t* __restrict y, std::int64_t count, std::int32_t zero) {
  const From* __restrict from = static_cast<const From*>(x);
  const auto less = static_cast<std::int16_t>(zero);
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = static_cast<std::int16_t>(static_cast<std::int16_t>(from[i]) - less);
}

template <class To>
void Requantize(const std::int32_t* __restrict sums, const float* __restrict scales, const float* __restrict shifts,
                void* y, std::int64_t count, QuantizeValues values) {
  To* __restrict to = static_cast<To*>(y);
  const float zero = values.zero, low = values.low, high = values.high;
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(sums[i]) * scales[i] + shifts[i];
    if constexpr (std::is_same_v<To, float>) {
      to[i] = value;
    } else {
      to[i] = static_cast<To>(static_cast<std::int32_t>(Min(high, Max(low, __builtin_rintf(value) + zero))));
    }
  }
}

}  // namespace

ConvertRow FindConvert(DataType from, DataType to) {
  return WithStored(from, [to]<class From>(From) {
    return WithStored(to, []<class To>(To) -> ConvertRow { return ConvertLoop<From, To>; });
  });
}

QuantizeRow FindQuantize(DataType to) {
  return WithStored(to, []<class To>(To) -> QuantizeRow {
    if constexpr (std::is_integral_v<To> && sizeof(To) <= 2) return Quantize<To>;
    return nullptr;
  });
}

DequantizeRow FindDequantize(DataType from) {
  return WithStored(from, []<class From>(From) -> DequantizeRow {
    if constexpr (std::is_integral_v<From> && (sizeof(From) <= 2 || std::is_same_v<From, std::int32_t>))
      return Dequantize<From>;
    return nullptr;
  });
}

WidenRow FindWiden(DataType from) {
  return WithStored(from, []<class From>(From) -> WidenRow {
    if constexpr (std::is_integral_v<From> && sizeof(From) == 1) return Widen<From>;
    return nullptr;
  });
}

RequantizeRow FindRequantize(DataType to) {
  return WithStored(to, []<class To>(To) -> RequantizeRow {
    if constexpr (std::is_same_v<To, float> || (std::is_integral_v<To> && sizeof(To) == 1)) return Requantize<To>;
    return nullptr;
  });
}

}  // namespace infimum::cpu::INFIMUM_ISA
