// The rules about timelines. Each returns nothing where its cause is not there, or where it is less than a hundredth of
// the device's span: nobody acts on less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/findings/finding.h"

namespace infimum::findings {

inline constexpr double kLeastShare = 0.01;

// The device idles because it was not asked for anything: many small launches, or a host that does other things.
std::optional<Finding> HostBound(const TimelineFacts& facts);
// The device idles while the host gets its next input.
std::optional<Finding> InputBound(const TimelineFacts& facts);
// The host stopped and waited for the device, which then idled until it was asked again.
std::optional<Finding> HostSynchronization(const TimelineFacts& facts);
// Copies while nothing else ran.
std::optional<Finding> ExposedCopies(const TimelineFacts& facts);

inline bool IsWorthTelling(std::int64_t part_ns, std::int64_t span_ns) {
  return part_ns > 0 && static_cast<double>(part_ns) >= kLeastShare * static_cast<double>(span_ns);
}

// Names of operators with their nanoseconds: the `count` largest, "a, b and 3 others" made by the caller.
std::vector<std::string> Largest(const std::vector<std::pair<std::string, std::int64_t>>& totals, std::size_t count);

// Whether a runtime call waits for the device: cudaStreamSynchronize, hipDeviceSynchronize, cudaMemcpy (not Async).
bool WaitsForDevice(std::string_view runtime_call);

}  // namespace infimum::findings
