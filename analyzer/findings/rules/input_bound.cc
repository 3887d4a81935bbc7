#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "analyzer/findings/rules.h"
#include "analyzer/findings/timeline_facts.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {

std::optional<Finding> InputBound(const TimelineFacts& facts) {
  LostTime waiting;
  std::int64_t gaps = 0;
  for (const HostGap& gap : HostGaps(facts)) {
    if (gap.waited_in != kNoCall || gap.input_ns == 0) continue;
    ++gaps;
    waiting.Add(facts.activity.gaps[gap.gap].device, gap.input_ns);
  }
  if (!IsWorthReporting(waiting.most_ns(), facts.activity)) return std::nullopt;
  std::int64_t longest = 0;
  for (const DeviceActivity& device : facts.activity.devices) longest = std::max(longest, device.span_ns());
  std::map<std::string, std::int64_t> by_call;
  for (const HostCall& call : facts.timeline.host_calls)
    if (const std::string_view name = facts.timeline.names.text(call.name); WaitsForInput(name))
      by_call[std::string(name)] += call.duration_ns;
  Finding finding;
  finding.kind = kInputBound;
  finding.gain = std::chrono::nanoseconds(waiting.most_ns());
  finding.layers = Largest({by_call.begin(), by_call.end()}, 3);
  finding.evidence = "the device was idle for " + FormatLatency(finding.gain) + " of " +
                     FormatLatency(std::chrono::nanoseconds(longest)) + " in " + std::to_string(gaps) +
                     (gaps == 1 ? " gap" : " gaps") + " while the host got its next input from the DataLoader";
  finding.action =
      "load inputs while the device computes: more workers (num_workers), prefetch_factor, pin_memory=True, decoding "
      "on the device (DALI, nvJPEG), or data that is decoded already";
  return finding;
}

}  // namespace infimum::findings
