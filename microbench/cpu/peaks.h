// The largest rates that this processor was ever seen to reach: arithmetic out of registers, and reading,
// writing and copying over working sets from the nearest cache to memory. The certified floor divides by
// them, so that each is the best of several ways: the probes.
//
//   for (const std::string& probe : PeakProbes()) MeasurePeaks(probe, 1);   // "memory", "f32 vectors", "s8 tiles", ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/measurement/device.h"

namespace infimum::cpu {

// The probes that this processor has the instructions for.
std::vector<std::string> PeakProbes();

// What one probe finds; all together take one to five seconds. Uses `threads` threads.
Result<std::vector<PeakRate>> MeasurePeaks(std::string_view probe, std::int64_t threads);

}  // namespace infimum::cpu
