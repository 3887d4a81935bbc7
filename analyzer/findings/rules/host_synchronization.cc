#include <chrono>
#include <map>
#include <string>

#include "analyzer/findings/rules.h"
#include "analyzer/findings/timeline_facts.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {

std::optional<Finding> HostSynchronization(const TimelineFacts& facts) {
  LostTime waiting;
  std::int64_t gaps = 0;
  std::map<std::string, std::int64_t> by_caller;
  std::vector<std::uint32_t> enclosing;
  for (const HostGap& gap : HostGaps(facts)) {
    if (gap.waited_in == kNoCall) continue;
    if (enclosing.empty()) enclosing = EnclosingOperators(facts.timeline);
    ++gaps;
    waiting.Add(facts.activity.gaps[gap.gap].device, gap.duration_ns);
    const std::uint32_t outer = enclosing[gap.waited_in];
    std::string name(facts.timeline.names.text(facts.timeline.host_calls[gap.waited_in].name));
    if (outer != kNoCall)
      name += " in " + std::string(facts.timeline.names.text(facts.timeline.host_calls[outer].name));
    by_caller[name] += gap.duration_ns;
  }
  if (!IsWorthReporting(waiting.most_ns(), facts.activity)) return std::nullopt;
  Finding finding;
  finding.kind = kHostSynchronization;
  finding.gain = std::chrono::nanoseconds(waiting.most_ns());
  finding.layers = Largest({by_caller.begin(), by_caller.end()}, 5);
  finding.evidence = "the host waited for the device " + (gaps == 1 ? "once" : std::to_string(gaps) + " times") +
                     ", and the device was then idle for " + FormatLatency(finding.gain) +
                     " in all until the next launch; most of it after " + finding.layers.front();
  finding.action =
      "remove what makes the host wait within a step: .item(), .cpu(), printing or comparing a tensor, copies from "
      "pageable memory; read results once, after the last launch";
  return finding;
}

}  // namespace infimum::findings
