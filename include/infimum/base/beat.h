// The metronome: fixed loops, timed around every measurement by the threads that measure.
//
//   {29 us, 52 us, 20 us}   a quiet machine
//   {38 us, 53 us, 21 us}   its clock is 31 % slower: so are layers that compute
//   {29 us, 91 us, 27 us}   a neighbour reads memory: so do layers that read weights from there
//   {29 us, 52 us, 26 us}   a neighbour has a part of the last-level cache: weights that were in it no longer are
//
// What clocks and neighbours do to a layer they do to the loops, so that times of different moments, or days, can be
// held against them (analyzer/rows/pace.h, src/evaluation/verification.h).
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "infimum/base/units.h"

namespace infimum {

inline constexpr double kBeatBytes = 2 << 20;  // that `memory` and `cache` are of, on each thread

struct Beat {
  Latency arithmetic{0};  // steps of integers in registers, one after the other: so many cycles of the clock
  Latency memory{0};      // a read of bytes that were last read long ago
  // A read of bytes that were read just before, as many as fill most of the last-level cache. 0: not taken, as around a
  // candidate, whose operands it would drive out.
  Latency cache{0};

  friend bool operator==(const Beat&, const Beat&) = default;
};

// The mean of those that were taken; absent without any.
inline std::optional<Beat> MeanOf(std::span<const std::optional<Beat>> beats) {
  Beat sum;
  double count = 0, with_cache = 0;
  for (const std::optional<Beat>& beat : beats) {
    if (!beat) continue;
    sum.arithmetic += beat->arithmetic;
    sum.memory += beat->memory;
    sum.cache += beat->cache;
    ++count;
    if (beat->cache > Latency(0)) ++with_cache;
  }
  if (!(count > 0)) return std::nullopt;
  return Beat{sum.arithmetic / count, sum.memory / count, sum.cache / std::max(with_cache, 1.0)};
}

}  // namespace infimum
