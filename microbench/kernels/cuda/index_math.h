// Positions in a box of up to eight dimensions, by multiplication where a division would cost as much as the rest of
// a kernel. Dimensions of calls are innermost first: the first is the one whose elements are neighbours.
//
//   FastDivisor seven(7);   seven.Divide(50) == 7;   exact for numbers below 2^31
#pragma once

#include "microbench/kernels/cuda/host_device.h"

namespace infimum::cuda {

// Rounded up.
constexpr std::int64_t Divided(std::int64_t count, std::int64_t each) { return (count + each - 1) / each; }

// Numbers below 2^31, by a divisor from 1 to 2^31 - 1: the quotient is (high half of multiplier * n + n) >> shift.
struct FastDivisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t shift = 0;

  constexpr FastDivisor() = default;
  constexpr explicit FastDivisor(std::int64_t by) : divisor(static_cast<std::uint32_t>(by)) {
    while (shift < 31 && (std::uint32_t{1} << shift) < divisor) ++shift;
    const std::uint64_t power = std::uint64_t{1} << shift;
    multiplier = static_cast<std::uint32_t>((std::uint64_t{1} << 32) * (power - divisor) / divisor + 1);
  }

  INFIMUM_HOST_DEVICE std::uint32_t Divide(std::uint32_t number) const {
#if INFIMUM_ON_DEVICE
    return (__umulhi(number, multiplier) + number) >> shift;
#else
    const std::uint64_t high = (static_cast<std::uint64_t>(number) * multiplier) >> 32;
    return static_cast<std::uint32_t>((high + number) >> shift);
#endif
  }
  // The quotient; `number` becomes the remainder.
  INFIMUM_HOST_DEVICE std::uint32_t DivideInto(std::uint32_t& number) const {
    const std::uint32_t quotient = Divide(number);
    number -= quotient * divisor;
    return quotient;
  }
};

// Sizes of up to eight dimensions, innermost first. All dimensions together hold less than 2^31 elements.
struct Box {
  int rank = 0;
  FastDivisor size[kMostDims];
};

// Steps between neighbours of each dimension in memory, in elements; negative ones go backwards, 0 repeats.
struct Steps {
  std::int32_t at[kMostDims] = {};
};

// Where element `number` of a box lies in a tensor with these steps.
INFIMUM_HOST_DEVICE inline std::int64_t OffsetOf(const Box& box, const Steps& steps, std::uint32_t number) {
  std::int64_t offset = 0;
  INFIMUM_UNROLL
  for (int d = 0; d < kMostDims - 1; ++d) {
    if (d + 1 >= box.rank) break;
    const std::uint32_t rest = box.size[d].DivideInto(number);
    offset += static_cast<std::int64_t>(static_cast<std::int32_t>(number)) * steps.at[d];
    number = rest;
  }
  if (box.rank > 0) offset += static_cast<std::int64_t>(static_cast<std::int32_t>(number)) * steps.at[box.rank - 1];
  return offset;
}

}  // namespace infimum::cuda
