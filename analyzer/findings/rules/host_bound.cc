#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "analyzer/findings/rules.h"
#include "analyzer/findings/timeline_facts.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {

std::optional<Finding> HostBound(const TimelineFacts& facts) {
  LostTime lost;
  std::int64_t waiting = 0, launching = 0, span = 0, busy = 0, work = 0, calls = 0;
  std::map<std::string, std::int64_t> by_operator;
  std::int64_t gaps = 0;
  for (const HostGap& gap : HostGaps(facts)) {
    const std::int64_t duration = gap.duration_ns - gap.input_ns;
    if (gap.waited_in != kNoCall || duration <= 0) continue;
    ++gaps;
    waiting += duration;
    launching += gap.launch_ns;
    lost.Add(facts.activity.gaps[gap.gap].device, duration);
    const WorkOrigin& origin = facts.origins[facts.activity.gaps[gap.gap].next];
    const std::uint32_t caller = origin.operation == kNoCall ? origin.call : origin.operation;
    by_operator[std::string(facts.timeline.names.text(facts.timeline.host_calls[caller].name))] += duration;
  }
  for (const DeviceActivity& device : facts.activity.devices) {
    span += device.span_ns();
    busy += device.busy_ns();
    work += device.kernels + device.copies + device.sets;
  }
  if (!IsWorthReporting(lost.most_ns(), facts.activity)) return std::nullopt;
  for (const HostCall& call : facts.timeline.host_calls) calls += call.kind == HostCallKind::kRuntime ? 1 : 0;

  Finding finding;
  finding.kind = kHostBound;
  finding.gain = std::chrono::nanoseconds(lost.most_ns());
  const std::vector<std::pair<std::string, std::int64_t>> operators(by_operator.begin(), by_operator.end());
  finding.layers = Largest(operators, 5);
  const auto per_work = [&](std::int64_t total) {
    return FormatLatency(Latency(std::chrono::nanoseconds(total)) /
                         static_cast<double>(std::max<std::int64_t>(1, work)));
  };
  finding.evidence =
      "the device was idle in " + std::to_string(gaps) + (gaps == 1 ? " gap" : " gaps") +
      " because the host had not launched work yet: " + FormatLatency(std::chrono::nanoseconds(waiting - launching)) +
      ", and " + FormatLatency(std::chrono::nanoseconds(launching)) + " from launch to start, of " +
      FormatLatency(std::chrono::nanoseconds(span)) + (lost.devices() > 1 ? " of all devices" : "") + "; " +
      std::to_string(work) + " kernels and copies of " + per_work(busy) + " each start every " + per_work(span) + " (" +
      std::to_string(calls) + " runtime calls)";
  finding.action =
      "launch more at a time: capture the step as a CUDA graph (torch.cuda.graph, "
      "torch.compile(mode=\"reduce-overhead\"); "
      "ONNX Runtime: enable_cuda_graph), fuse small operators, or raise the batch";
  return finding;
}

}  // namespace infimum::findings
