// Elements of every type read as numbers of the type that a kernel computes in, and stored from it: rounded to nearest
// even, saturated where the type is an integer's, as HostTensor does it.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "microbench/kernels/cuda/element.h"

namespace infimum::cuda {

// The same bits as another type of the same size.
template <class To, class From>
INFIMUM_HOST_DEVICE inline To BitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

INFIMUM_HOST_DEVICE inline float FloatFromHalf(std::uint16_t bits) {
#if INFIMUM_ON_DEVICE
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#else
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) return BitsAs<float>(sign | 0x7f800000 | ((magnitude & 0x3ff) << 13));
  // Subnormal ones too: the product with 2^112 moves the exponent from one bias to the other.
  return BitsAs<float>(sign | BitsAs<std::uint32_t>(BitsAs<float>(magnitude << 13) * 0x1p112F));
#endif
}

INFIMUM_HOST_DEVICE inline std::uint16_t HalfFromFloat(float value) {
#if INFIMUM_ON_DEVICE
  std::uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
#else
  const std::uint32_t bits = BitsAs<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);  // 65520 and more
  if (magnitude < 0x38800000) {                                                   // below 2^-14: steps of 2^-24
    const float steps = std::rint(BitsAs<float>(magnitude) * 0x1p24F);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(steps));
  }
  const std::uint32_t rounded = magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
#endif
}

INFIMUM_HOST_DEVICE inline float FloatFromBrain(std::uint16_t bits) {
  return BitsAs<float>(static_cast<std::uint32_t>(bits) << 16);
}

INFIMUM_HOST_DEVICE inline std::uint16_t BrainFromFloat(float value) {
#if INFIMUM_ON_DEVICE && __CUDA_ARCH__ >= 800
  std::uint16_t brain;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(brain) : "f"(value));
  return brain;
#else
  const std::uint32_t bits = BitsAs<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fc0;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
#endif
}

// Floats of 8 and 4 bits (OFP8, e2m1); what is beyond the largest becomes that one. A product moves the exponent of
// subnormal ones too.
INFIMUM_HOST_DEVICE inline float FloatFromE4M3(std::uint32_t bits) {
  const std::uint32_t sign = (bits & 0x80) << 24, magnitude = bits & 0x7f;
  if (magnitude == 0x7f) return BitsAs<float>(0x7fc00000U);
  return BitsAs<float>(sign | BitsAs<std::uint32_t>(BitsAs<float>(magnitude << 20) * 0x1p120F));
}
INFIMUM_HOST_DEVICE inline float FloatFromE5M2(std::uint32_t bits) {
  return FloatFromHalf(static_cast<std::uint16_t>(bits << 8));
}
template <int kMantissa>
INFIMUM_HOST_DEVICE inline std::uint8_t SmallFromFloat(float value, float largest) {
  constexpr int kBias = kMantissa == 3 ? 7 : kMantissa == 2 ? 15 : 1, kDropped = 23 - kMantissa;
  constexpr std::uint32_t kNoNumber = kMantissa == 3 ? 0x7f : kMantissa == 2 ? 0x7e : 7;
  const std::uint32_t bits = BitsAs<std::uint32_t>(value), sign = bits >> 31 << (kMantissa == 1 ? 3 : 7);
  const float magnitude = BitsAs<float>(bits & 0x7fffffff);
  if (magnitude != magnitude) return static_cast<std::uint8_t>(sign | kNoNumber);
  const float kept = magnitude < largest ? magnitude : largest;
  const std::uint32_t number = BitsAs<std::uint32_t>(kept);
  if (number < std::uint32_t{128 - kBias} << 23) {  // subnormal: in steps
    constexpr float kSteps = kMantissa == 3 ? 0x1p9F : kMantissa == 2 ? 0x1p16F : 2;
    return static_cast<std::uint8_t>(sign | static_cast<std::uint32_t>(::rintf(kept * kSteps)));
  }
  const std::uint32_t half = (1U << (kDropped - 1)) - 1 + ((number >> kDropped) & 1);
  return static_cast<std::uint8_t>(sign | ((number - (std::uint32_t{127 - kBias} << 23) + half) >> kDropped));
}
INFIMUM_HOST_DEVICE inline std::uint8_t E4M3FromFloat(float value) { return SmallFromFloat<3>(value, 448); }
INFIMUM_HOST_DEVICE inline std::uint8_t E5M2FromFloat(float value) { return SmallFromFloat<2>(value, 57344); }
INFIMUM_HOST_DEVICE inline std::uint8_t E2M1FromFloat(float value) { return SmallFromFloat<1>(value, 6); }
// f8e8m0: the exponent of the power of two that is the nearest by its logarithm, from 0x1.6a09e6p0 on the next one.
INFIMUM_HOST_DEVICE inline std::uint8_t E8M0FromFloat(float value) {
  const std::uint32_t bits = BitsAs<std::uint32_t>(value);
  if (value != value) return 255;
  if (!(value > 0)) return 0;
  const std::uint32_t exponent = (bits >> 23) + ((bits & 0x7fffff) > 0x3504f3 ? 1 : 0);
  return static_cast<std::uint8_t>(exponent < 254 ? exponent : 254);
}

INFIMUM_HOST_DEVICE inline float Round(float value) { return ::rintf(value); }
INFIMUM_HOST_DEVICE inline double Round(double value) { return ::rint(value); }

// A number as an integer type stores it. int64_t becomes uint64_t bit by bit.
template <class Integer, class T>
INFIMUM_HOST_DEVICE inline Integer Saturated(T value) {
  constexpr Integer kLeast = std::numeric_limits<Integer>::min(), kMost = std::numeric_limits<Integer>::max();
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if constexpr (sizeof(Integer) == 8) {
      return static_cast<Integer>(value);
    } else {
      return static_cast<Integer>(value < kLeast ? kLeast : value > kMost ? kMost : value);
    }
  } else {
    const T rounded = Round(value);
    // Bounds of 64 bits are no numbers of T: at or above them everything saturates. NaN becomes 0.
    if (rounded >= static_cast<T>(kMost)) return kMost;
    if (rounded <= static_cast<T>(kLeast)) return kLeast;
    return rounded == rounded ? static_cast<Integer>(rounded) : Integer{0};
  }
}

// An element that is stored as a number of the machine.
template <class StoredType>
struct PlainTraits {
  using Stored = StoredType;
  template <class T>
  INFIMUM_HOST_DEVICE static T Read(Stored stored) {
    return static_cast<T>(stored);
  }
  template <class T>
  INFIMUM_HOST_DEVICE static Stored Write(T value) {
    if constexpr (std::is_integral_v<Stored>) {
      return Saturated<Stored>(value);
    } else {
      return static_cast<Stored>(value);
    }
  }
};
template <Element kElement>
struct StoredAs;
#define INFIMUM_STORED(name, stored) \
  template <>                        \
  struct StoredAs<Element::name> {   \
    using Type = stored;             \
  };
INFIMUM_ELEMENTS(INFIMUM_STORED)
#undef INFIMUM_STORED

// How an element lies in memory, and what it means: Traits<Element::kF16>::Stored is uint16_t.
template <Element kElement>
struct ElementTraits : PlainTraits<typename StoredAs<kElement>::Type> {};
// One that is a float of fewer bits.
template <class StoredType, auto kToFloat, auto kFromFloat>
struct ConvertedTraits {
  using Stored = StoredType;
  template <class T>
  INFIMUM_HOST_DEVICE static T Read(Stored stored) {
    return static_cast<T>(kToFloat(stored));
  }
  template <class T>
  INFIMUM_HOST_DEVICE static Stored Write(T value) {
    return kFromFloat(static_cast<float>(value));
  }
};
template <>
struct ElementTraits<Element::kF16> : ConvertedTraits<std::uint16_t, FloatFromHalf, HalfFromFloat> {};
template <>
struct ElementTraits<Element::kBF16> : ConvertedTraits<std::uint16_t, FloatFromBrain, BrainFromFloat> {};
template <>
struct ElementTraits<Element::kF8E4M3> : ConvertedTraits<std::uint8_t, FloatFromE4M3, E4M3FromFloat> {};
template <>
struct ElementTraits<Element::kF8E5M2> : ConvertedTraits<std::uint8_t, FloatFromE5M2, E5M2FromFloat> {};
template <>
struct ElementTraits<Element::kBool> {
  using Stored = std::uint8_t;
  template <class T>
  INFIMUM_HOST_DEVICE static T Read(Stored stored) {
    return stored != 0 ? T{1} : T{0};
  }
  template <class T>
  INFIMUM_HOST_DEVICE static Stored Write(T value) {
    return value != T{0} ? 1 : 0;
  }
};

// Calls function(ElementTraits<element>()).
template <class Function>
INFIMUM_HOST_DEVICE inline void WithElement(Element element, const Function& function) {
  switch (element) {
#define INFIMUM_CASE(name, stored) \
  case Element::name:              \
    return function(ElementTraits<Element::name>());
    INFIMUM_ELEMENTS(INFIMUM_CASE)
#undef INFIMUM_CASE
    default:
      return;
  }
}

// Whether something is computed from the type in T: f32 has all but the longest, integers have no floats. Less code.
template <class T>
constexpr bool IsSource(Element element) {
  if (std::is_same_v<T, std::int64_t>) return IsIntegerElement(element);
  if (!std::is_same_v<T, float>) return true;
  return element != Element::kU32 && BytesOf(element) < 8;
}

template <class T, class Function>
INFIMUM_HOST_DEVICE inline void WithSource(Element element, const Function& function) {
  if constexpr (!std::is_same_v<T, std::int64_t>) {  // the usual ones first
    if (element == Element::kF32) return function(ElementTraits<Element::kF32>());
    if (element == Element::kF16) return function(ElementTraits<Element::kF16>());
    if (element == Element::kBF16) return function(ElementTraits<Element::kBF16>());
  }
  switch (element) {
#define INFIMUM_CASE(name, stored)                                                      \
  case Element::name:                                                                   \
    if constexpr (IsSource<T>(Element::name)) function(ElementTraits<Element::name>()); \
    return;
    INFIMUM_ELEMENTS(INFIMUM_CASE)
#undef INFIMUM_CASE
    default:
      return;
  }
}

// Only the floating point types, where no others can be: a third of the code.
template <class Function>
INFIMUM_HOST_DEVICE inline void WithFloat(Element element, const Function& function) {
  switch (element) {
    case Element::kF32:
      return function(ElementTraits<Element::kF32>());
    case Element::kF16:
      return function(ElementTraits<Element::kF16>());
    case Element::kBF16:
      return function(ElementTraits<Element::kBF16>());
    default:
      return function(ElementTraits<Element::kF64>());
  }
}

// So many bytes as the device loads and stores them by one instruction. Left to itself the compiler splits a piece of
// small elements into loads of at most four.
template <int kBytes>
struct RawBytes;
template <>
struct RawBytes<1> {
  using Type = std::uint8_t;
};
template <>
struct RawBytes<2> {
  using Type = std::uint16_t;
};
template <>
struct RawBytes<4> {
  using Type = std::uint32_t;
};
#if defined(__CUDACC__)
template <>
struct RawBytes<8> {
  using Type = uint2;
};
template <>
struct RawBytes<16> {
  using Type = uint4;
};
#endif

template <class Piece>
INFIMUM_HOST_DEVICE inline Piece LoadWhole(const void* from) {
#if INFIMUM_ON_DEVICE
  return BitsAs<Piece>(*static_cast<const typename RawBytes<sizeof(Piece)>::Type*>(from));
#else
  return *static_cast<const Piece*>(from);
#endif
}
template <class Piece>
INFIMUM_HOST_DEVICE inline void StoreWhole(void* to, const Piece& piece) {
#if INFIMUM_ON_DEVICE
  using Raw = typename RawBytes<sizeof(Piece)>::Type;
  *static_cast<Raw*>(to) = BitsAs<Raw>(piece);
#else
  *static_cast<Piece*>(to) = piece;
#endif
}

// `kCount` neighbouring elements; what the device loads or stores at a time are 16 bytes at most, for which the address
// is aligned.
template <class Stored, int kCount>
struct Pack {
  static constexpr int kBytes = static_cast<int>(sizeof(Stored)) * kCount;
  static constexpr int kPieceBytes = kBytes < 16 ? kBytes : 16;
  static constexpr int kPieces = kBytes / kPieceBytes;
  static constexpr int kEach = kCount / kPieces;
  struct alignas(kPieceBytes) Piece {
    Stored element[kEach];
  };
  Piece piece[kPieces];

  INFIMUM_HOST_DEVICE static Pack Load(const Stored* from) {
    Pack pack;
    INFIMUM_UNROLL
    for (int i = 0; i < kPieces; ++i) pack.piece[i] = LoadWhole<Piece>(from + i * kEach);
    return pack;
  }
  INFIMUM_HOST_DEVICE void Store(Stored* to) const {
    INFIMUM_UNROLL
    for (int i = 0; i < kPieces; ++i) StoreWhole(to + i * kEach, piece[i]);
  }
  INFIMUM_HOST_DEVICE Stored& operator[](int i) { return piece[i / kEach].element[i % kEach]; }
  INFIMUM_HOST_DEVICE const Stored& operator[](int i) const { return piece[i / kEach].element[i % kEach]; }
};

template <class Traits, int kCount, class T>
INFIMUM_HOST_DEVICE inline void LoadPack(const void* data, std::int64_t at, T (&values)[kCount]) {
  using Stored = typename Traits::Stored;
  const auto pack = Pack<Stored, kCount>::Load(static_cast<const Stored*>(data) + at);
  INFIMUM_UNROLL
  for (int i = 0; i < kCount; ++i) values[i] = Traits::template Read<T>(pack[i]);
}

template <class Traits, int kCount, class T>
INFIMUM_HOST_DEVICE inline void StorePack(void* data, std::int64_t at, const T (&values)[kCount]) {
  using Stored = typename Traits::Stored;
  Pack<Stored, kCount> pack;
  INFIMUM_UNROLL
  for (int i = 0; i < kCount; ++i) pack[i] = Traits::template Write<T>(values[i]);
  pack.Store(static_cast<Stored*>(data) + at);
}

template <class T>
INFIMUM_HOST_DEVICE inline T LoadOne(const void* data, Element element, std::int64_t at) {
  T value[1] = {};
  WithSource<T>(element, [&](auto traits) { LoadPack<decltype(traits)>(data, at, value); });
  return value[0];
}

template <class T>
INFIMUM_HOST_DEVICE inline void StoreOne(void* data, Element element, std::int64_t at, T value) {
  const T values[1] = {value};
  WithElement(element, [&](auto traits) { StorePack<decltype(traits)>(data, at, values); });
}

}  // namespace infimum::cuda
