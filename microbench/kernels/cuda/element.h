// Types of elements as device code knows them.
#pragma once

#include "microbench/kernels/cuda/host_device.h"

namespace infimum::cuda {

// Each with what it is stored as.
#define INFIMUM_ELEMENTS(DO) \
  DO(kF64, double)           \
  DO(kF32, float)            \
  DO(kF16, std::uint16_t)    \
  DO(kBF16, std::uint16_t)   \
  DO(kF8E4M3, std::uint8_t)  \
  DO(kF8E5M2, std::uint8_t)  \
  DO(kS64, std::int64_t)     \
  DO(kS32, std::int32_t)     \
  DO(kS16, std::int16_t)     \
  DO(kS8, std::int8_t)       \
  DO(kU64, std::uint64_t)    \
  DO(kU32, std::uint32_t)    \
  DO(kU16, std::uint16_t)    \
  DO(kU8, std::uint8_t)      \
  DO(kBool, std::uint8_t)

enum class Element : std::uint8_t {
  kNone,
#define INFIMUM_VALUE(name, stored) name,
  INFIMUM_ELEMENTS(INFIMUM_VALUE)
#undef INFIMUM_VALUE
};

INFIMUM_HOST_DEVICE constexpr bool IsIntegerElement(Element element) { return element > Element::kF8E5M2; }

INFIMUM_HOST_DEVICE constexpr int BytesOf(Element element) {
  switch (element) {
#define INFIMUM_CASE(name, stored) \
  case Element::name:              \
    return sizeof(stored);
    INFIMUM_ELEMENTS(INFIMUM_CASE)
#undef INFIMUM_CASE
    default:
      return 0;
  }
}

}  // namespace infimum::cuda
