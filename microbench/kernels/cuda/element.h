// Types of elements as device code knows them.
#pragma once

#include "microbench/kernels/cuda/host_device.h"

namespace infimum::cuda {

enum class Element : std::uint8_t {
  kNone,
  kF64,
  kF32,
  kF16,
  kBF16,
  kS64,
  kS32,
  kS16,
  kS8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool
};

INFIMUM_HOST_DEVICE constexpr int BytesOf(Element element) {
  switch (element) {
    case Element::kF64:
    case Element::kS64:
    case Element::kU64:
      return 8;
    case Element::kF32:
    case Element::kS32:
    case Element::kU32:
      return 4;
    case Element::kF16:
    case Element::kBF16:
    case Element::kS16:
    case Element::kU16:
      return 2;
    case Element::kNone:
      return 0;
    default:
      return 1;
  }
}

}  // namespace infimum::cuda
