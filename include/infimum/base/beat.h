// The metronome: two fixed loops, timed around every measurement by the threads that measure.
//
//   {29 us, 52 us}   a quiet machine
//   {38 us, 53 us}   its clock is 31 % slower: so are layers that compute
//   {29 us, 91 us}   a neighbour reads memory: so do layers that read weights from there
//
// What clocks and neighbours do to a layer they do to the loops, so that times of different moments, or days, can be
// held against them (analyzer/rows/pace.h).
#pragma once

#include <optional>
#include <span>

#include "infimum/base/units.h"

namespace infimum {

struct Beat {
  Latency arithmetic{0};  // steps of integers in registers, one after the other: so many cycles of the clock
  Latency memory{0};      // a read of bytes that were last read long ago

  friend bool operator==(const Beat&, const Beat&) = default;
};

// The mean of those that were taken; absent without any.
inline std::optional<Beat> MeanOf(std::span<const std::optional<Beat>> beats) {
  Beat sum;
  double count = 0;
  for (const std::optional<Beat>& beat : beats) {
    if (!beat) continue;
    sum.arithmetic += beat->arithmetic;
    sum.memory += beat->memory;
    ++count;
  }
  return count > 0 ? std::optional(Beat{sum.arithmetic / count, sum.memory / count}) : std::nullopt;
}

}  // namespace infimum
