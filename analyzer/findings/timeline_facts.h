// What the rules about timelines ask: which idle time of a device follows a host that waited for it, and which a host
// that was busy with something else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
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

// Time that devices lose by one cause. They lose it side by side: the most that can be won is what one of them loses.
class LostTime {
 public:
  void Add(std::int64_t device, std::int64_t duration_ns) {
    most_ns_ = std::max(most_ns_, by_device_[device] += duration_ns);
  }
  std::int64_t most_ns() const { return most_ns_; }
  std::size_t devices() const { return by_device_.size(); }

 private:
  std::map<std::int64_t, std::int64_t> by_device_;
  std::int64_t most_ns_ = 0;
};

// Whether it is a hundredth of the longest span of a device, at least.
bool IsWorthReporting(std::int64_t part_ns, const ActivityReport& activity);

// Names of operators with their nanoseconds: the `count` largest, "a, b and 3 others" made by the caller.
std::vector<std::string> Largest(const std::vector<std::pair<std::string, std::int64_t>>& totals, std::size_t count);

}  // namespace infimum::findings
