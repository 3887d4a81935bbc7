// What one thread of a product with stored weights does: sums of eight columns over its warp's share of the depth,
// then, behind a barrier, the sums of all warps. An integer q becomes a float by its bits: 2^23 + q is 0x4b000000 | q.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/stored_call.h"

namespace infimum::cuda {

// What `bits` say; subnormal ones by a product that moves the exponent from one bias to the other.
INFIMUM_HOST_DEVICE inline float FloatOfStored(StoredNumber number, std::uint32_t bits) {
  switch (number) {
    case StoredNumber::kF8E4M3:
      return FloatFromE4M3(bits);
    case StoredNumber::kF8E5M2:
      return FloatFromE5M2(bits);
    case StoredNumber::kF8E8M0:
      return BitsAs<float>(bits == 0 ? 0x00400000U : bits == 0xff ? 0x7fc00000U : bits << 23);
    case StoredNumber::kF4E2M1:
      return BitsAs<float>((bits & 8) << 28 | BitsAs<std::uint32_t>(BitsAs<float>((bits & 7) << 22) * 0x1p126F));
    default:
      return 0;
  }
}

INFIMUM_HOST_DEVICE inline std::uint8_t StoredOfFloat(StoredNumber number, float value) {
  switch (number) {
    case StoredNumber::kF8E4M3:
      return E4M3FromFloat(value);
    case StoredNumber::kF8E5M2:
      return E5M2FromFloat(value);
    case StoredNumber::kF8E8M0:
      return E8M0FromFloat(value);
    case StoredNumber::kF4E2M1:
      return E2M1FromFloat(value);
    default:
      return 0;
  }
}

template <int kBits, int kRows>
struct StoredThread {
  static constexpr int kWords = kBits * kStoredColumns / 32;  // of 32 bits, for a thread's columns in one row of b
  static constexpr std::uint32_t kMask = (1U << kBits) - 1;
  // Moves signed elements up by half of their range.
  static constexpr std::uint32_t kSigns = kBits == 4 ? 0x88888888U : 0x80808080U;
  static constexpr std::int64_t kSharedBytes = std::int64_t{4} * kStoredWarps * kRows * kStoredTile;

  const StoredProductCall& call;
  std::uint32_t block, part;
  int thread;
  float* shared;  // [warps][rows][columns of the tile]

  INFIMUM_HOST_DEVICE std::uint32_t first_row() const { return call.tiles.Divide(block) * kRows; }
  INFIMUM_HOST_DEVICE std::uint32_t first_column() const {
    return (block - call.tiles.Divide(block) * call.tiles.divisor) * kStoredTile;
  }

  INFIMUM_HOST_DEVICE void Sum() const {
    const std::uint32_t column = first_column() + static_cast<std::uint32_t>(thread % 32 * kStoredColumns);
    float total[kRows][kStoredColumns] = {};
    if (column < call.columns) {
      const std::uint32_t part_end = Least(call.depth, (part + 1) * call.part_depth);
      const std::uint32_t each = call.part_depth / kStoredWarps;
      std::uint32_t row = part * call.part_depth + static_cast<std::uint32_t>(thread / 32) * each;
      const std::uint32_t end = Least(part_end, row + each);
      while (row < end) {
        const std::uint32_t of_block = row / call.block, block_end = Least(end, (of_block + 1) * call.block);
        SumBlock(of_block, row, block_end, column, total);
        row = block_end;
      }
    }
    INFIMUM_UNROLL
    for (int r = 0; r < kRows; ++r) {
      float* to = shared + (thread / 32 * kRows + r) * kStoredTile + thread % 32 * kStoredColumns;
      StorePack<ElementTraits<Element::kF32>>(to, 0, total[r]);
    }
  }

  // Neighbouring threads store neighbouring columns.
  INFIMUM_HOST_DEVICE void Leave() const {
    for (int i = thread; i < kRows * kStoredTile; i += kStoredThreads) {
      const auto row = first_row() + static_cast<std::uint32_t>(i / kStoredTile);
      const auto column = first_column() + static_cast<std::uint32_t>(i % kStoredTile);
      if (row >= call.rows || column >= call.columns) continue;
      float sum = 0;
      INFIMUM_UNROLL
      for (int warp = 0; warp < kStoredWarps; ++warp) sum += shared[warp * kRows * kStoredTile + i];
      const std::int64_t at = static_cast<std::int64_t>(row) * call.columns + column;
      if (call.states != nullptr) {
        call.states[static_cast<std::int64_t>(part) * call.rows * call.columns + at] = sum;
      } else {
        StoreWithBias(call, row, column, sum);
      }
    }
  }

  // Eight columns of one row of the weights as numbers, for an `expands` call.
  INFIMUM_HOST_DEVICE void Expand(std::int64_t number) const {
    const std::int64_t groups = call.columns / kStoredColumns;
    if (number >= groups * call.depth) return;
    const auto row = static_cast<std::uint32_t>(number / groups);
    const auto column = static_cast<std::uint32_t>(number % groups * kStoredColumns);
    float scale[kStoredColumns], zero[kStoredColumns];
    LoadBlock(row / call.block, column, scale, zero);
    const Words words = LoadWords(call.weights, row, column);
    float weight[kStoredColumns];
    INFIMUM_UNROLL
    for (int c = 0; c < kStoredColumns; ++c) weight[c] = (NumberOf(words, c) - zero[c]) * scale[c];
    WithFloat(call.output_element, [&](auto traits) {
      StorePack<decltype(traits)>(call.to, static_cast<std::int64_t>(row) * call.columns + column, weight);
    });
  }

  INFIMUM_HOST_DEVICE static void StoreWithBias(const StoredProductCall& call, std::uint32_t row, std::uint32_t column,
                                                float sum) {
    if (call.bias_element != Element::kNone)
      sum += LoadOne<float>(call.bias, call.bias_element, static_cast<std::int64_t>(row) * call.bias_step + column);
    StoreOne<float>(call.to, call.output_element, static_cast<std::int64_t>(row) * call.columns + column, sum);
  }

 private:
  struct alignas(4 * kWords) Words {
    std::uint32_t word[kWords];
  };

  INFIMUM_HOST_DEVICE static std::uint32_t Least(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

  // The thread's columns in row `row` of weights or zero points.
  INFIMUM_HOST_DEVICE Words LoadWords(const void* from, std::uint32_t row, std::uint32_t column) const {
    const std::int64_t element = static_cast<std::int64_t>(row) * call.columns + column;
    Words words = LoadWhole<Words>(static_cast<const unsigned char*>(from) + element * kBits / 8);
    INFIMUM_UNROLL
    for (int i = 0; i < kWords; ++i) words.word[i] ^= call.is_signed ? kSigns : 0U;
    return words;
  }
  INFIMUM_HOST_DEVICE static std::uint32_t BitsOf(const Words& words, int c) {
    constexpr int kOfWord = 32 / kBits;
    return (words.word[c / kOfWord] >> (c % kOfWord * kBits)) & kMask;
  }
  // Of a float; an integer is raised by 2^23, and by half of its range where it is signed.
  INFIMUM_HOST_DEVICE float NumberOf(const Words& words, int c) const {
    if (call.number != StoredNumber::kInteger) return FloatOfStored(call.number, BitsOf(words, c));
    return BitsAs<float>(0x4b000000U | BitsOf(words, c));
  }

  // What a block of rows has for the thread's columns; zero points raised as elements are.
  INFIMUM_HOST_DEVICE void LoadBlock(std::uint32_t of_block, std::uint32_t column, float (&scale)[kStoredColumns],
                                     float (&zero)[kStoredColumns]) const {
    const std::int64_t at = static_cast<std::int64_t>(of_block) * call.columns + column;
    if (call.scales == nullptr) {
      INFIMUM_UNROLL
      for (int c = 0; c < kStoredColumns; ++c) scale[c] = 1;
    } else if (call.scale_number != StoredNumber::kInteger) {
      INFIMUM_UNROLL
      for (int c = 0; c < kStoredColumns; ++c)
        scale[c] = FloatOfStored(call.scale_number, static_cast<const std::uint8_t*>(call.scales)[at + c]);
    } else {
      WithFloat(call.scale_element, [&](auto traits) { LoadPack<decltype(traits)>(call.scales, at, scale); });
    }
    const bool is_float = call.number != StoredNumber::kInteger;
    Words zeros = {};
    if (call.has_zeros) zeros = LoadWords(call.zeros, of_block, column);
    INFIMUM_UNROLL
    for (int c = 0; c < kStoredColumns; ++c)
      zero[c] = is_float ? 0 : call.has_zeros ? NumberOf(zeros, c) : 0x1p23F + (call.is_signed ? 1 << (kBits - 1) : 0);
  }

  INFIMUM_HOST_DEVICE void SumBlock(std::uint32_t of_block, std::uint32_t begin, std::uint32_t end,
                                    std::uint32_t column, float (&total)[kRows][kStoredColumns]) const {
    float scale[kStoredColumns], zero[kStoredColumns];
    LoadBlock(of_block, column, scale, zero);
    float sum[kRows][kStoredColumns] = {};
    for (std::uint32_t row = begin; row < end; row += kStoredStep) {
      Words words[kStoredStep];
      INFIMUM_UNROLL
      for (int i = 0; i < kStoredStep; ++i)
        words[i] = LoadWords(call.weights, row + static_cast<std::uint32_t>(i), column);
      float x[kRows][kStoredStep] = {};
      INFIMUM_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const std::uint32_t of_a = first_row() + static_cast<std::uint32_t>(r);
        if (of_a >= call.rows) continue;
        const std::int64_t first = static_cast<std::int64_t>(of_a) * call.depth + row;
        if (call.is_aligned) {
          WithFloat(call.element, [&](auto traits) { LoadPack<decltype(traits)>(call.from, first, x[r]); });
        } else {
          INFIMUM_UNROLL
          for (int i = 0; i < kStoredStep; ++i) x[r][i] = LoadOne<float>(call.from, call.element, first + i);
        }
      }
      INFIMUM_UNROLL
      for (int i = 0; i < kStoredStep; ++i) {
        INFIMUM_UNROLL
        for (int c = 0; c < kStoredColumns; ++c) {
          const float weight = NumberOf(words[i], c) - zero[c];
          INFIMUM_UNROLL
          for (int r = 0; r < kRows; ++r) sum[r][c] += x[r][i] * weight;
        }
      }
    }
    INFIMUM_UNROLL
    for (int r = 0; r < kRows; ++r) {
      INFIMUM_UNROLL
      for (int c = 0; c < kStoredColumns; ++c) total[r][c] += sum[r][c] * scale[c];
    }
  }
};

INFIMUM_HOST_DEVICE inline void StoredCombineThread(const StoredProductCall& call, std::int64_t number) {
  const std::int64_t count = static_cast<std::int64_t>(call.rows) * call.columns;
  if (number >= count) return;
  float sum = 0;
  for (std::uint32_t part = 0; part < call.parts; ++part) sum += call.states[part * count + number];
  const auto row = static_cast<std::uint32_t>(number / call.columns);
  StoredThread<4, 1>::StoreWithBias(call, row, static_cast<std::uint32_t>(number % call.columns), sum);
}

// One block; its numbers are read again rather than kept.
INFIMUM_HOST_DEVICE inline void BlockQuantizeThread(const BlockQuantizeCall& call, std::int64_t block) {
  if (block >= call.blocks) return;
  const std::int64_t first = block * call.block;
  const auto load = [&](std::uint32_t i, float(&x)[kStoredStep]) {
    if (call.is_aligned) {
      WithFloat(call.element, [&](auto traits) { LoadPack<decltype(traits)>(call.from, first + i, x); });
    } else {
      INFIMUM_UNROLL
      for (int j = 0; j < kStoredStep; ++j) x[j] = LoadOne<float>(call.from, call.element, first + i + j);
    }
  };
  float largest = 0, x[kStoredStep] = {};
  for (std::uint32_t i = 0; i < call.block; i += kStoredStep) {
    load(i, x);
    INFIMUM_UNROLL
    for (int j = 0; j < kStoredStep; ++j) largest = ::fmaxf(largest, ::fabsf(x[j]));
  }
  const std::uint8_t code = StoredOfFloat(call.scale_number, largest / call.unit);
  const float scale = FloatOfStored(call.scale_number, code);
  call.scales[block] = code;
  const bool is_half = call.number == StoredNumber::kF4E2M1;
  std::uint8_t* to = static_cast<std::uint8_t*>(call.to) + (is_half ? first / 2 : first);
  for (std::uint32_t i = 0; i < call.block; i += kStoredStep) {
    load(i, x);
    INFIMUM_UNROLL
    for (int j = 0; j < kStoredStep; j += 2) {
      const std::uint8_t low = StoredOfFloat(call.number, x[j] / scale);
      const std::uint8_t high = StoredOfFloat(call.number, x[j + 1] / scale);
      if (is_half) {
        *to++ = static_cast<std::uint8_t>(low | high << 4);
      } else {
        *to++ = low;
        *to++ = high;
      }
    }
  }
}

// Calls function(StoredThread<...>*) for a form that there is a kernel of.
template <class Function>
inline bool WithStoredThread(const StoredProductCall& call, const Function& function) {
  const auto with_rows = [&]<int kBits>() {
    if (call.rows_each == 1) return function(static_cast<StoredThread<kBits, 1>*>(nullptr)), true;
    if (call.rows_each == 2) return function(static_cast<StoredThread<kBits, 2>*>(nullptr)), true;
    if (call.rows_each == 4) return function(static_cast<StoredThread<kBits, 4>*>(nullptr)), true;
    if (call.rows_each == 8) return function(static_cast<StoredThread<kBits, 8>*>(nullptr)), true;
    return false;
  };
  return call.bits == 4 ? with_rows.template operator()<4>() : with_rows.template operator()<8>();
}

}  // namespace infimum::cuda
