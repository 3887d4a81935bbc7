// What the rules about timelines ask: which idle time of a device follows a host that waited for it, and which a host
// that was busy with something else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/findings/finding.h"

namespace infimum::findings {

struct HostGap {
  std::uint32_t gap = 0;              // index into ActivityReport::gaps
  std::uint32_t waited_in = kNoCall;  // the call that waited, ended within the gap, on the thread that then launched
  std::int64_t duration_ns = 0;       // host and launch time of the gap
  std::int64_t launch_ns = 0;         // of it, between the launch and the start of the work
  std::int64_t input_ns = 0;          // of it, while the host got its next input (WaitsForInput)
};

// Whether a call gets the next input: PyTorch's "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__".
bool WaitsForInput(std::string_view host_call);

// Gaps in which the host had not launched the next work yet.
std::vector<HostGap> HostGaps(const TimelineFacts& facts);

bool IsWorthReporting(std::int64_t part_ns, std::int64_t span_ns);

// Names of operators with their nanoseconds: the `count` largest, "a, b and 3 others" made by the caller.
std::vector<std::string> Largest(const std::vector<std::pair<std::string, std::int64_t>>& totals, std::size_t count);

}  // namespace infimum::findings
