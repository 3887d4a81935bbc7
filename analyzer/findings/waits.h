// Which idle time of a device follows a host that waited for it, and which a host that was busy with something else.
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/analyzer/finding.h"

namespace infimum::findings {

struct HostGap {
  std::uint32_t gap = 0;              // index into ActivityReport::gaps
  std::uint32_t waited_in = kNoCall;  // the call that waited, ended within the gap, on the thread that then asked
  std::int64_t duration_ns = 0;       // host and launch time of the gap
};

// Gaps in which the host had not asked yet.
std::vector<HostGap> HostGaps(const TimelineFacts& facts);

}  // namespace infimum::findings
