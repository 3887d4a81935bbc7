#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "analyzer/findings/rules.h"
#include "analyzer/findings/timeline_facts.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {

std::optional<Finding> ExposedCopies(const TimelineFacts& facts) {
  // Devices copy at the same time: what one of them waits is the most that can be won.
  std::int64_t exposed_ns = 0, copies = 0;
  for (const DeviceActivity& device : facts.activity.devices) {
    exposed_ns = std::max(exposed_ns, device.exposed_copy_ns);
    copies += device.copies;
  }
  if (!IsWorthReporting(exposed_ns, facts.activity)) return std::nullopt;
  const Latency exposed = std::chrono::nanoseconds(exposed_ns);
  std::map<std::string, std::int64_t> by_name;
  for (const DeviceWork& work : facts.timeline.device_work)
    if (work.kind == DeviceWorkKind::kCopy)
      by_name[std::string(facts.timeline.names.text(work.name))] += work.duration_ns;
  Finding finding;
  finding.kind = kExposedCopies;
  finding.gain = exposed;
  finding.layers = Largest({by_name.begin(), by_name.end()}, 3);
  finding.evidence = std::to_string(copies) + (copies == 1 ? " copy; during " : " copies; during ") +
                     FormatLatency(exposed) + " of them " +
                     (facts.activity.devices.size() > 1 ? "the device that copied the longest" : "the device") +
                     " computed nothing; the largest: " + finding.layers.front();
  // Names show which memory it is: "Memcpy HtoD (Pinned -> Device)".
  const auto says = [&by_name](std::string_view memory) {
    return std::ranges::any_of(by_name,
                               [&](const auto& entry) { return entry.first.find(memory) != std::string::npos; });
  };
  const bool is_pinned = says("Pinned") && !says("Pageable");
  finding.action =
      std::string("copy on a stream of its own ") +
      (is_pinned ? "(the memory is pinned already)" : "from pinned memory") +
      " while the step before computes (non_blocking=True), keep what every step needs on the device, bind "
      "outputs instead of copying them (ONNX Runtime: IOBinding)";
  return finding;
}

}  // namespace infimum::findings
