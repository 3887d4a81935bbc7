// How many copies of a run's constants make it read them from memory each time, whatever the caches do.
//
//   A run that goes through its copies in turn comes back to one when all others were read since: with 2 x the
//   last-level cache of them in all, nothing of it is left there. Operands, outputs and code are the same in each run
//   and stay warm.
//
//   last-level cache 32 MiB, weights of 9 MiB    8 copies in turn
//                            weights of 80 MiB   none: a run passes more than the caches hold by itself
//                            weights of 2 KiB    not even kMostCopies fill the caches: they are flushed before each
//                                                sample, of which each launch has a copy of its own
#pragma once

#include <cstddef>

#include "infimum/base/units.h"

namespace infimum {

struct ConstantRotation {
  // A copy takes a page at least, and a place in a list.
  static constexpr std::size_t kMostCopies = 16384;

  std::size_t copies = 1;  // 1: the constants as they are
  bool flushes = false;    // the caches, before each sample; `copies` is then the most that a sample may use

  // `constants` is more than nothing.
  static ConstantRotation For(Bytes constants, Bytes last_level_cache);

  friend bool operator==(const ConstantRotation&, const ConstantRotation&) = default;
};

}  // namespace infimum
