// Which idle time of a device follows a host that waited for it, and which a host that was busy with something else.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/findings/finding.h"

namespace infimum::findings {

struct HostGap {
  std::uint32_t gap = 0;              // index into ActivityReport::gaps
  std::uint32_t waited_in = kNoCall;  // the call that waited, ended within the gap, on the thread that then asked
  std::int64_t duration_ns = 0;       // host and launch time of the gap
  std::int64_t launch_ns = 0;         // of it, between asking and beginning
  std::int64_t input_ns = 0;          // of it, while the host got its next input (WaitsForInput)
};

// Whether a call gets the next input: PyTorch's "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__".
bool WaitsForInput(std::string_view host_call);

// Gaps in which the host had not asked yet.
std::vector<HostGap> HostGaps(const TimelineFacts& facts);

}  // namespace infimum::findings
