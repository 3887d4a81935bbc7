// What one thread of a warp holds in a product of 16 x 16 and 16 x 8 elements (PTX's mma.m16n8k16), and rows as such
// products.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/mma_call.h"

namespace infimum::cuda {

// Two elements in a register, the first in its lower half. a: rows lane / 4 and 8 below, columns 2 (lane % 4) and the
// next one, then those 8 to the right. b: column lane / 4, rows 2 (lane % 4) and the next one, then 8 below. Sums: rows
// as a's, columns 2 (lane % 4) and the next one.
struct MmaA {
  std::uint32_t word[4];
};
struct MmaB {
  std::uint32_t word[2];
};
struct MmaSums {
  float at[4];
};

template <Element kElement>
INFIMUM_HOST_DEVICE inline float ElementOfWord(std::uint32_t word, int number) {
  return ElementTraits<kElement>::template Read<float>(static_cast<std::uint16_t>(word >> (16 * number)));
}

// The product without Tensor Cores: a(lane, word) and b(lane, word) are what other threads hold.
template <Element kElement, class A, class B>
INFIMUM_HOST_DEVICE inline void MultiplyAddAsWritten(int lane, const A& a, const B& b, MmaSums& sums) {
  INFIMUM_UNROLL
  for (int k = 0; k < 16; ++k) {
    const int holder = k % 8 / 2;
    INFIMUM_UNROLL
    for (int e = 0; e < 4; ++e) {
      const std::uint32_t own = a(lane / 4 * 4 + holder, e / 2 + 2 * (k / 8)),
                          other = b((2 * (lane % 4) + e % 2) * 4 + holder, k / 8);
      sums.at[e] += ElementOfWord<kElement>(own, k % 2) * ElementOfWord<kElement>(other, k % 2);
    }
  }
}

// Which elements a thread has of each chunk: 8 neighbours of two rows, as it has of the sums of a scan. A sum does not
// depend on the order of a's columns, so each of the two products of a chunk takes 4 of these 8.
template <Element kElement>
struct MmaRowThread {
  static constexpr std::uint32_t kOne = kElement == Element::kF16 ? 0x3c00 : 0x3f80;
  const MmaRowCall& call;
  std::uint32_t warp;
  int lane;

  INFIMUM_HOST_DEVICE std::uint32_t Row(int half) const {
    return warp * kMmaRows + static_cast<std::uint32_t>(lane / 4 + 8 * half);
  }
  INFIMUM_HOST_DEVICE std::uint32_t First(std::uint32_t chunk) const {
    return chunk * kMmaChunk + static_cast<std::uint32_t>(lane % 4 * 8);
  }
  INFIMUM_HOST_DEVICE bool IsThere(int half, std::uint32_t chunk) const {
    return Row(half) < call.rows && First(chunk) < call.length;
  }
  INFIMUM_HOST_DEVICE Bytes16 Load(int half, std::uint32_t chunk) const {
    Bytes16 own{};
    if (!IsThere(half, chunk)) return own;
    const auto* from =
        static_cast<const std::uint16_t*>(call.from) + std::int64_t{Row(half)} * call.length + First(chunk);
    if (call.is_aligned) return LoadWhole<Bytes16>(from);
    INFIMUM_UNROLL
    for (int i = 0; i < 8; ++i) own.word[i / 2] |= std::uint32_t{from[i]} << (16 * (i % 2));
    return own;
  }
  INFIMUM_HOST_DEVICE static MmaA PartOf(const Bytes16& upper, const Bytes16& lower, int product) {
    return {
        {upper.word[2 * product], lower.word[2 * product], upper.word[2 * product + 1], lower.word[2 * product + 1]}};
  }
  INFIMUM_HOST_DEVICE static MmaB Ones() { return {{kOne | kOne << 16, kOne | kOne << 16}}; }
  // Of a scan's columns, two neighbours of each thread's eight: ones where an element is not behind the column's.
  INFIMUM_HOST_DEVICE MmaB Triangle(int product, int pair) const {
    const int column = lane / 8 * 8 + 2 * pair + lane / 4 % 2, first = lane % 4 * 8 + 4 * product;
    const auto one = [&](int place) { return place <= column ? kOne : 0; };
    return {{one(first) | one(first + 1) << 16, one(first + 2) | one(first + 3) << 16}};
  }

  INFIMUM_HOST_DEVICE void StoreSum(const MmaSums& sums) const {
    INFIMUM_UNROLL
    for (int half = 0; half < 2; ++half) {
      if (lane % 4 == 0 && Row(half) < call.rows)
        StoreOne<float>(call.to, call.output_element, Row(half), sums.at[2 * half] / call.divisor);
    }
  }
  INFIMUM_HOST_DEVICE void StoreScan(std::uint32_t chunk, int pair, const MmaSums& sums) const {
    INFIMUM_UNROLL
    for (int e = 0; e < 4; ++e) {
      if (!IsThere(e / 2, chunk)) continue;
      const std::int64_t at = std::int64_t{Row(e / 2)} * call.length + First(chunk) + 2 * pair + e % 2;
      StoreOne<float>(call.to, call.output_element, at, sums.at[e]);
    }
  }
};

INFIMUM_HOST_DEVICE inline std::uint32_t MmaChunks(const MmaRowCall& call) {
  return (call.length + kMmaChunk - 1) / kMmaChunk;
}

}  // namespace infimum::cuda
