// The memory's curve of this processor: of each working set, from what the nearest cache holds to eight times the last
// one, the best rate at which its threads read, write and copy it again and again.
//
//   MeasureMemory(PeakDetail::kFirst, 1)   // 16 KiB ... 8 MiB in powers of two, then 1/2, 2 and 8 times the last cache
//   MeasureMemory(PeakDetail::kWhole, 1)   // the same range in steps of the square root of 2
//
// A floor is made of these rates, so that several orders of access try for the best of each: forward, whose early
// bytes a cache has lost when the set is larger; to and fro, which finds what it touched last; a part that stays near
// while the rest is streamed past it.
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/measurement/device.h"
#include "infimum/microbench/backend.h"

namespace infimum::cpu {

// What each of the threads touches, ascending multiples of 4096 bytes. `last_level` is of all caches of the last level
// near the threads, `most` how much memory may be used.
std::vector<std::int64_t> MemoryParts(PeakDetail detail, std::int64_t last_level, std::int64_t most,
                                      std::int64_t threads);

// At most 1.5 seconds for a first look, some 8 for the whole and 16 beside other programs, but that each set is read
// once. At last how long shared caches keep what lies in them (retention.h).
Result<std::vector<PeakRate>> MeasureMemory(PeakDetail detail, std::int64_t threads);

}  // namespace infimum::cpu
