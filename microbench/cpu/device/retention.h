// How long the caches that a processor's cores share keep what lies in them while its owner does something else. Others
// use them too: programs on other cores, and on a virtual machine other machines that nobody here sees.
//
//   a set of 14 MiB in a third-level cache of 32 MiB, read again after a pause, on a virtual machine of two cores:
//     0 ms  0.12 ms (117 GB/s)     1 ms  73 GB/s     4 ms  43 GB/s     16 ms  35 GB/s, as from memory
//   -> {retention, working set 2 MiB (the threads' own caches), 0.0019 s}
//
// The curve of the memory, which reads again at once and counts the best, says nothing of it: a layer's weights are
// read once an inference.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "infimum/measurement/device.h"
#include "infimum/microbench/backend.h"

namespace infimum::cpu {

// What of a set in the caches was still there after a pause.
struct KeptShare {
  double seconds = 0;
  double share = 0;  // 0 to 1
};

inline constexpr double kLongestRetention = 100;  // seconds: nobody takes anything

// The time constant of exp(-t / tau) that lies nearest to these, by least squares; from 0.1 ms to kLongestRetention.
double FittedRetention(std::span<const KeptShare> shares);

// `read` reads the first bytes of every thread's memory, so many each; `far` is what a byte takes from memory. nullopt
// where the processor has no caches that it shares, or none that is faster than memory. Takes 0.1 seconds, of the whole
// 0.3.
std::optional<PeakRate> MeasureRetention(PeakDetail detail, std::int64_t threads, std::int64_t last_level,
                                         double far_seconds_of_byte,
                                         const std::function<void(std::int64_t bytes)>& read);

}  // namespace infimum::cpu
