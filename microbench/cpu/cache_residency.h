// How near to the core a working set stays that is gone through again and again.
//
//   ResidentShare(Bytes{105 << 20}, 41ms)   // 0.06: as if 6 % of it stayed in the second-level cache, and the rest
//                                           // came from memory each time
//
// Sizes of caches do not tell. A third-level cache of 105 MiB that 56 cores share, most of them other people's, keeps
// what they leave, and may be hardly faster than memory: what a layer's weights lose when the whole model runs is the
// nearness to the core that they have when the layer runs alone. So the time to read the working set is measured, and
// set between that of half a second-level cache and that of four times all caches. Each pass begins as long after the
// one before as an inference takes: meanwhile others fill the caches that they share.
#pragma once

#include <optional>

#include "infimum/base/clock.h"
#include "infimum/base/result.h"
#include "infimum/base/units.h"

namespace infimum::cpu {

// From 0 to 1, by one core; nullopt where the processor does not describe its caches, or where they are hardly faster
// than memory. Takes half a second at most.
Result<std::optional<double>> ResidentShare(Bytes working_set, Clock::Duration between);

}  // namespace infimum::cpu
