// The largest rates that this processor was ever seen to reach: arithmetic out of registers, and the memory's curve
// (memory_peaks.h). A floor divides by them, so that each is the best of several ways: the probes.
//
//   for (const std::string& probe : PeakProbes(PeakDetail::kWhole)) MeasurePeaks(probe, 1);   // "memory", "f32
//   vectors", ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/measurement/device.h"
#include "infimum/microbench/backend.h"

namespace infimum::cpu {

// The probes that this processor has the instructions for.
std::vector<std::string> PeakProbes(PeakDetail detail);

// What one probe finds; all together take two seconds at first, some ten as a whole. Uses `threads` threads.
Result<std::vector<PeakRate>> MeasurePeaks(std::string_view probe, std::int64_t threads);

}  // namespace infimum::cpu
