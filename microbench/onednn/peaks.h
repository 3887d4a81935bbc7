// The largest rates that this processor was ever seen to reach: arithmetic out of registers, and reading,
// writing and copying over working sets from the nearest cache to memory. The certified floor divides by
// them, so that each is the best of several ways.
#pragma once

#include <vector>

#include "infimum/base/result.h"
#include "infimum/measurement/device.h"

namespace infimum::cpu {

// Takes three to five seconds; uses `threads` threads.
Result<std::vector<PeakRate>> MeasurePeaks(std::int64_t threads);

}  // namespace infimum::cpu
