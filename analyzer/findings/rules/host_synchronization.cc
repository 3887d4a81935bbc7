#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "analyzer/findings/rules.h"
#include "analyzer/findings/timeline_facts.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {

std::optional<Finding> HostSynchronization(const TimelineFacts& facts) {
  std::map<std::int64_t, std::int64_t> by_device;
  std::int64_t gaps = 0, longest = 0;
  std::map<std::string, std::int64_t> by_caller;
  std::vector<std::uint32_t> enclosing;
  for (const HostGap& gap : HostGaps(facts)) {
    if (gap.waited_in == kNoCall) continue;
    if (enclosing.empty()) enclosing = EnclosingOperators(facts.timeline);
    ++gaps;
    by_device[facts.activity.gaps[gap.gap].device] += gap.duration_ns;
    const std::uint32_t outer = enclosing[gap.waited_in];
    std::string name(facts.timeline.names.text(facts.timeline.host_calls[gap.waited_in].name));
    if (outer != kNoCall)
      name += " in " + std::string(facts.timeline.names.text(facts.timeline.host_calls[outer].name));
    by_caller[name] += gap.duration_ns;
  }
  for (const DeviceActivity& device : facts.activity.devices) longest = std::max(longest, device.span_ns());
  // Devices wait at the same time: what one of them waits is the most that can be won.
  std::int64_t waiting = 0;
  for (const auto& [device, duration] : by_device) waiting = std::max(waiting, duration);
  if (!IsWorthReporting(waiting, longest)) return std::nullopt;
  Finding finding;
  finding.kind = kHostSynchronization;
  finding.gain = std::chrono::nanoseconds(waiting);
  finding.layers = Largest({by_caller.begin(), by_caller.end()}, 5);
  finding.evidence = "the host waited for the device " + (gaps == 1 ? "once" : std::to_string(gaps) + " times") +
                     ", and the device was then idle for " + FormatLatency(finding.gain) +
                     " in all until the next launch; most of it after " + finding.layers.front();
  finding.action =
      "remove what makes the host wait within a step: .item(), .cpu(), printing or comparing a tensor, copies from "
      "pageable "
      "memory; read results once, after the last launch";
  return finding;
}

}  // namespace infimum::findings
