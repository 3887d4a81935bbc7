// What one thread of each kernel that moves elements does. Kernels are numbered as on the device: `block` blocks of
// `kThreads` threads.
#pragma once

#include "microbench/kernels/cuda/copy_call.h"
#include "microbench/kernels/cuda/element_access.h"

namespace infimum::cuda {

inline constexpr int kCopyThreads = 256;

// Loads and stores of what is used once.
template <bool kStreams, class Unit>
INFIMUM_HOST_DEVICE inline Unit LoadUnit(const Unit* from) {
#if INFIMUM_ON_DEVICE
  if constexpr (kStreams && sizeof(Unit) == 16) {
    return BitsAs<Unit>(__ldcs(reinterpret_cast<const uint4*>(from)));
  }
#endif
  return *from;
}
template <bool kStreams, class Unit>
INFIMUM_HOST_DEVICE inline void StoreUnit(Unit* to, Unit unit) {
#if INFIMUM_ON_DEVICE
  if constexpr (kStreams && sizeof(Unit) == 16) {
    __stcs(reinterpret_cast<uint4*>(to), BitsAs<uint4>(unit));
    return;
  }
#endif
  *to = unit;
}

// Each thread has kUnits units, kCopyThreads apart, so that a warp's are neighbours.
template <class Unit, int kUnits, bool kStreams>
INFIMUM_HOST_DEVICE inline void FlatCopyThread(const FlatCopyCall& call, std::int64_t block, int thread) {
  const Unit* from = static_cast<const Unit*>(call.from);
  Unit* to = static_cast<Unit*>(call.to);
  const std::int64_t units = call.bytes / static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t first = block * kCopyThreads * kUnits + thread;
  Unit held[kUnits];
  INFIMUM_UNROLL
  for (int i = 0; i < kUnits; ++i) {
    if (first + i * kCopyThreads < units) held[i] = LoadUnit<kStreams>(from + first + i * kCopyThreads);
  }
  INFIMUM_UNROLL
  for (int i = 0; i < kUnits; ++i) {
    if (first + i * kCopyThreads < units) StoreUnit<kStreams>(to + first + i * kCopyThreads, held[i]);
  }
  // Fewer bytes than a unit are left at most.
  const std::int64_t rest = units * static_cast<std::int64_t>(sizeof(Unit)) + thread;
  if (block == 0 && rest < call.bytes) {
    static_cast<std::uint8_t*>(call.to)[rest] = static_cast<const std::uint8_t*>(call.from)[rest];
  }
}

inline constexpr int kFillUnits = 4;

template <class Unit>
INFIMUM_HOST_DEVICE inline void FillThread(const FillCall& call, std::int64_t block, int thread) {
  const std::int64_t units = call.bytes / static_cast<std::int64_t>(sizeof(Unit));
  const std::int64_t first = block * kCopyThreads * kFillUnits + thread;
  Unit pattern;
  if constexpr (sizeof(Unit) == 16) {
    for (std::uint32_t& word : pattern.word) word = call.word;
  } else {
    pattern = static_cast<Unit>(call.word);
  }
  INFIMUM_UNROLL
  for (int i = 0; i < kFillUnits; ++i) {
    if (first + i * kCopyThreads < units) static_cast<Unit*>(call.to)[first + i * kCopyThreads] = pattern;
  }
  const std::int64_t rest = units * static_cast<std::int64_t>(sizeof(Unit)) + thread;
  if (block == 0 && rest < call.bytes) {
    static_cast<std::uint8_t*>(call.to)[rest] = static_cast<std::uint8_t>(call.word >> (rest % 4 * 8));
  }
}

// Both offsets of a position, and whether it is read.
template <CopyCall::Limit kLimit>
INFIMUM_HOST_DEVICE inline bool PlaceOf(const CopyCall& call, std::uint32_t number, std::int64_t& from,
                                        std::int64_t& to) {
  from = to = 0;
  bool inside = true;
  std::int32_t previous = 0;
  INFIMUM_UNROLL
  for (int d = 0; d < kMostDims; ++d) {
    if (d >= call.box.rank) break;
    std::uint32_t rest = 0;
    if (d + 1 < call.box.rank) rest = call.box.size[d].DivideInto(number);
    const auto at = static_cast<std::int32_t>(number);
    from += static_cast<std::int64_t>(at) * call.from_steps.at[d];
    to += static_cast<std::int64_t>(at) * call.to_steps.at[d];
    if constexpr (kLimit == CopyCall::Limit::kBox) inside = inside && at >= call.begin[d] && at < call.end[d];
    if constexpr (kLimit == CopyCall::Limit::kLowerTriangle) {
      if (d == 1) inside = previous <= at;
      previous = at;
    }
    number = rest;
  }
  return inside;
}

template <class Unit, int kUnits, CopyCall::Limit kLimit>
INFIMUM_HOST_DEVICE inline void CopyThread(const CopyCall& call, std::int64_t block, int thread) {
  const std::int64_t first = block * kCopyThreads * kUnits + thread;
  Unit held[kUnits];
  std::int64_t to[kUnits];
  INFIMUM_UNROLL
  for (int i = 0; i < kUnits; ++i) {
    const std::int64_t number = first + i * kCopyThreads;
    if (number >= call.count) break;
    std::int64_t from;
    const bool inside = PlaceOf<kLimit>(call, static_cast<std::uint32_t>(number), from, to[i]);
    held[i] = inside ? static_cast<const Unit*>(call.from)[from] : Unit{};
  }
  INFIMUM_UNROLL
  for (int i = 0; i < kUnits; ++i) {
    if (first + i * kCopyThreads < call.count) static_cast<Unit*>(call.to)[to[i]] = held[i];
  }
}

template <class Unit, int kUnits, bool kScatters>
INFIMUM_HOST_DEVICE inline void GatherThread(const GatherCall& call, std::int64_t block, int thread) {
  const std::int64_t first = block * kCopyThreads * kUnits + thread;
  Unit held[kUnits];
  std::int64_t place[kUnits];
  // All indices are on their way before the first of them is used.
  INFIMUM_UNROLL
  for (int i = 0; i < kUnits; ++i) {
    const std::int64_t number = first + i * kCopyThreads;
    if (number >= call.count) break;
    auto rest = static_cast<std::uint32_t>(number);
    std::int64_t at_index = 0;
    place[i] = 0;
    INFIMUM_UNROLL
    for (int d = 0; d < kMostDims; ++d) {
      if (d >= call.box.rank) break;
      std::uint32_t next = 0;
      if (d + 1 < call.box.rank) next = call.box.size[d].DivideInto(rest);
      place[i] += static_cast<std::int64_t>(rest) * call.data_steps.at[d];
      at_index += static_cast<std::int64_t>(rest) * call.index_steps.at[d];
      rest = next;
    }
    const std::int64_t index = call.index_element == Element::kS64
                                   ? static_cast<const std::int64_t*>(call.indices)[at_index]
                                   : static_cast<const std::int32_t*>(call.indices)[at_index];
    place[i] += (index < 0 ? index + call.axis_length : index) * call.axis_step;
  }
  INFIMUM_UNROLL
  for (int i = 0; i < kUnits; ++i) {
    const std::int64_t number = first + i * kCopyThreads;
    if (number >= call.count) break;
    held[i] = kScatters ? static_cast<const Unit*>(call.moved)[number] : static_cast<const Unit*>(call.data)[place[i]];
  }
  INFIMUM_UNROLL
  for (int i = 0; i < kUnits; ++i) {
    const std::int64_t number = first + i * kCopyThreads;
    if (number >= call.count) break;
    if constexpr (kScatters) {
      static_cast<Unit*>(const_cast<void*>(call.data))[place[i]] = held[i];
    } else {
      static_cast<Unit*>(call.moved)[number] = held[i];
    }
  }
}

// The place of the whole's unit `number` in its part.
template <class Unit>
INFIMUM_HOST_DEVICE inline Unit* PlaceInPart(const JoinCall& call, std::uint32_t number) {
  std::uint32_t column = number;
  const std::uint32_t row = call.row.DivideInto(column);
  int part = 0;
  std::uint32_t begin = 0;
  while (part + 1 < call.parts && column >= call.end[part]) begin = call.end[part++];
  const std::uint32_t width = call.end[part] - begin;
  return static_cast<Unit*>(call.part[part]) + static_cast<std::int64_t>(row) * width + (column - begin);
}

inline constexpr int kJoinUnits = 4;

template <class Unit, bool kSplits>
INFIMUM_HOST_DEVICE inline void JoinThread(const JoinCall& call, std::int64_t block, int thread) {
  const std::int64_t first = block * kCopyThreads * kJoinUnits + thread;
  Unit held[kJoinUnits];
  Unit* place[kJoinUnits];
  INFIMUM_UNROLL
  for (int i = 0; i < kJoinUnits; ++i) {
    const std::int64_t number = first + i * kCopyThreads;
    if (number >= call.count) break;
    place[i] = PlaceInPart<Unit>(call, static_cast<std::uint32_t>(number));
    held[i] = kSplits ? static_cast<const Unit*>(call.whole)[number] : *place[i];
  }
  INFIMUM_UNROLL
  for (int i = 0; i < kJoinUnits; ++i) {
    const std::int64_t number = first + i * kCopyThreads;
    if (number >= call.count) break;
    *(kSplits ? place[i] : static_cast<Unit*>(call.whole) + number) = held[i];
  }
}

INFIMUM_HOST_DEVICE inline void OneHotThread(const OneHotCall& call, std::int64_t block, int thread) {
  const std::int64_t number = block * kCopyThreads + thread;
  if (number >= call.count) return;
  auto place = static_cast<std::uint32_t>(number);
  const std::uint32_t row = call.depth.DivideInto(place);
  const auto hot = LoadOne<double>(call.indices, call.index_element, row);
  StoreOne<float>(call.to, call.element, number, hot == static_cast<double>(place) ? 1.0F : 0.0F);
}

// A tile of 32 kMerged x 32 kMerged elements as rows of 32 words. Word k of row r stands at k xor (r / kMerged): a warp
// meets each bank once, both where it writes a row and where it reads a word of 32 kMerged rows.
template <class Unit, int kMerged>
struct TransposeTile {
  using Stored = Unit;
  static constexpr int kWordElements = kMerged;
  static constexpr int kLanes = 32, kRows = 8;  // threads of a block
  static constexpr int kElements = 32 * kMerged;
  struct alignas(sizeof(Unit) * kMerged) Word {
    Unit element[kMerged];
  };
  static constexpr int kWords = kElements * 32;

  INFIMUM_HOST_DEVICE static int At(int row, int word) { return row * 32 + (word ^ (row / kMerged)); }

  struct Place {
    std::int64_t from, to;
    std::uint32_t row, column;
  };
  INFIMUM_HOST_DEVICE static Place PlaceOf(const TransposeCall& call, std::int64_t tile) {
    const std::uint32_t tiles = call.row_tiles.divisor * call.column_tiles.divisor;
    const auto batch = static_cast<std::uint32_t>(tile / tiles);
    auto within = static_cast<std::uint32_t>(tile - static_cast<std::int64_t>(batch) * tiles);
    const std::uint32_t row = call.column_tiles.DivideInto(within);
    return {OffsetOf(call.batch, call.from_batch_steps, batch), OffsetOf(call.batch, call.to_batch_steps, batch),
            row * kElements, within * kElements};
  }

  // First all threads load, then all store.
  INFIMUM_HOST_DEVICE static void Load(const TransposeCall& call, std::int64_t tile, int lane, int thread_row,
                                       Word* shared) {
    const Place place = PlaceOf(call, tile);
    const std::uint32_t column = place.column + static_cast<std::uint32_t>(lane) * kMerged;
    if (column >= call.columns) return;
    const Unit* from = static_cast<const Unit*>(call.from) + place.from + column;
    INFIMUM_UNROLL
    for (int i = 0; i < kElements / kRows; ++i) {
      const int row = thread_row + i * kRows;
      const std::uint32_t at = place.row + static_cast<std::uint32_t>(row);
      if (at < call.rows) {
        StoreWhole(&shared[At(row, lane)], LoadWhole<Word>(from + static_cast<std::int64_t>(at) * call.from_row_step));
      }
    }
  }
  INFIMUM_HOST_DEVICE static void Store(const TransposeCall& call, std::int64_t tile, int lane, int thread_row,
                                        const Word* shared) {
    const Place place = PlaceOf(call, tile);
    const std::uint32_t row = place.row + static_cast<std::uint32_t>(lane) * kMerged;
    if (row >= call.rows) return;
    Unit* to = static_cast<Unit*>(call.to) + place.to + row;
    INFIMUM_UNROLL
    for (int i = 0; i < 32 / kRows; ++i) {
      const int word = thread_row + i * kRows;
      const std::uint32_t column = place.column + static_cast<std::uint32_t>(word) * kMerged;
      if (column >= call.columns) continue;
      Word read[kMerged];
      INFIMUM_UNROLL
      for (int r = 0; r < kMerged; ++r) read[r] = LoadWhole<Word>(&shared[At(lane * kMerged + r, word)]);
      INFIMUM_UNROLL
      for (int c = 0; c < kMerged; ++c) {
        Word turned;
        INFIMUM_UNROLL
        for (int r = 0; r < kMerged; ++r) turned.element[r] = read[r].element[c];
        StoreWhole(to + static_cast<std::int64_t>(column + static_cast<std::uint32_t>(c)) * call.to_column_step,
                   turned);
      }
    }
  }
};

// Calls function(unit, std::integral_constant<int, kMerged>()) with an element of the unit's type.
template <class Function>
inline void WithUnit(int bytes, const Function& function) {
  switch (bytes) {
    case 1:
      return function(std::uint8_t{});
    case 2:
      return function(std::uint16_t{});
    case 4:
      return function(std::uint32_t{});
    case 8:
      return function(std::uint64_t{});
    default:
      return function(Bytes16{});
  }
}

// The tiles that there are kernels for.
template <class Function>
inline void WithTile(int element_bytes, int merged, const Function& function) {
  switch (element_bytes * 16 + merged) {
    case 1 * 16 + 1:
      return function(TransposeTile<std::uint8_t, 1>());
    case 1 * 16 + 4:
      return function(TransposeTile<std::uint8_t, 4>());
    case 2 * 16 + 1:
      return function(TransposeTile<std::uint16_t, 1>());
    case 2 * 16 + 2:
      return function(TransposeTile<std::uint16_t, 2>());
    case 2 * 16 + 4:
      return function(TransposeTile<std::uint16_t, 4>());
    case 4 * 16 + 1:
      return function(TransposeTile<std::uint32_t, 1>());
    case 4 * 16 + 2:
      return function(TransposeTile<std::uint32_t, 2>());
    case 8 * 16 + 1:
      return function(TransposeTile<std::uint64_t, 1>());
    case 8 * 16 + 2:
      return function(TransposeTile<std::uint64_t, 2>());
    default:
      return function(TransposeTile<Bytes16, 1>());
  }
}

// How many units a thread has, of those numbers that there are kernels for: 8 in units of 16 bytes, 1 without limits
// and where nothing is scattered, else 4.
inline int UnitsPerThread(const FlatCopyCall& call) {
  if (call.streams) return 4;
  return call.units_per_thread == 8 && call.unit_bytes == 16 ? 8 : call.units_per_thread == 1 ? 1 : 4;
}
inline int UnitsPerThread(const CopyCall& call) {
  return call.units_per_thread == 1 && call.limit == CopyCall::Limit::kNone ? 1 : 4;
}
inline int UnitsPerThread(const GatherCall& call) { return call.units_per_thread == 1 && !call.scatters ? 1 : 4; }

// Blocks that `count` units take.
inline std::int64_t CopyBlocks(std::int64_t count, int units_per_thread) {
  const std::int64_t each = std::int64_t{kCopyThreads} * units_per_thread;
  return count <= each ? 1 : (count + each - 1) / each;
}

}  // namespace infimum::cuda
