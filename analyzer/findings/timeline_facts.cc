#include "analyzer/findings/timeline_facts.h"

#include "analyzer/findings/rules.h"

namespace infimum::findings {
namespace {

// Whether a runtime call waits for the device: cudaStreamSynchronize, hipDeviceSynchronize, cudaMemcpy (not Async).
bool WaitsForDevice(std::string_view runtime_call) {
  if (runtime_call.find("Synchronize") != std::string_view::npos) return true;
  const bool copies = runtime_call.find("Memcpy") != std::string_view::npos;
  return copies && runtime_call.find("Async") == std::string_view::npos;
}

struct Stretch {
  std::int64_t start_ns, end_ns;
};

// When the host got inputs, in time, without overlaps.
std::vector<Stretch> InputStretches(const Timeline& timeline) {
  std::vector<signed char> is_input(timeline.names.size(), -1);  // by name; -1: not looked at yet
  std::vector<Stretch> all;
  for (const HostCall& call : timeline.host_calls) {
    signed char& known = is_input[static_cast<std::size_t>(call.name)];
    if (known < 0) known = WaitsForInput(timeline.names.text(call.name)) ? 1 : 0;
    if (known == 1) all.push_back({call.start_ns, call.start_ns + call.duration_ns});
  }
  std::ranges::stable_sort(all, {}, &Stretch::start_ns);
  std::vector<Stretch> merged;
  for (const Stretch& one : all) {
    if (merged.empty() || one.start_ns > merged.back().end_ns)
      merged.push_back(one);
    else
      merged.back().end_ns = std::max(merged.back().end_ns, one.end_ns);
  }
  return merged;
}

std::int64_t Overlap(const std::vector<Stretch>& stretches, std::int64_t start_ns, std::int64_t end_ns) {
  std::int64_t sum = 0;
  for (auto one = std::ranges::upper_bound(stretches, start_ns, {}, &Stretch::end_ns);
       one != stretches.end() && one->start_ns < end_ns; ++one)
    sum += std::min(one->end_ns, end_ns) - std::max(one->start_ns, start_ns);
  return sum;
}

}  // namespace

bool IsWorthReporting(std::int64_t part_ns, const ActivityReport& activity) {
  std::int64_t span_ns = 0;
  for (const DeviceActivity& device : activity.devices) span_ns = std::max(span_ns, device.span_ns());
  return part_ns > 0 && static_cast<double>(part_ns) >= kLeastShare * static_cast<double>(span_ns);
}

std::vector<std::string> Largest(const std::vector<std::pair<std::string, std::int64_t>>& totals, std::size_t count) {
  std::vector<std::pair<std::string, std::int64_t>> sorted = totals;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i) names.push_back(sorted[i].first);
  return names;
}

bool WaitsForInput(std::string_view host_call) { return host_call.starts_with("enumerate(DataLoader)"); }

std::vector<HostGap> HostGaps(const TimelineFacts& facts) {
  const Timeline& timeline = facts.timeline;
  // Of each thread the calls that wait, by their end.
  struct Wait {
    std::int64_t end_ns;
    std::uint32_t call;
  };
  std::vector<std::vector<Wait>> waits(timeline.threads.size());
  std::vector<signed char> is_wait(timeline.names.size(), -1);  // by name; -1: not looked at yet
  std::uint32_t i = 0;
  for (const HostCall& call : timeline.host_calls) {
    if (call.kind == HostCallKind::kRuntime) {
      signed char& known = is_wait[static_cast<std::size_t>(call.name)];
      if (known < 0) known = WaitsForDevice(timeline.names.text(call.name)) ? 1 : 0;
      if (known == 1) waits[call.thread].push_back({call.start_ns + call.duration_ns, i});
    }
    ++i;
  }
  const auto by_end = [](const Wait& a, const Wait& b) { return a.end_ns < b.end_ns; };
  for (std::vector<Wait>& of_thread : waits) std::stable_sort(of_thread.begin(), of_thread.end(), by_end);

  const std::vector<Stretch> inputs = InputStretches(timeline);
  std::vector<HostGap> gaps;
  for (std::uint32_t g = 0; g < facts.activity.gaps.size(); ++g) {
    const IdleGap& gap = facts.activity.gaps[g];
    if (gap.host_ns == 0) continue;
    const HostCall& asked = timeline.host_calls[facts.origins[gap.next].call];
    HostGap host{g, kNoCall, gap.host_ns + gap.launch_ns, gap.launch_ns,
                 Overlap(inputs, gap.start_ns, gap.start_ns + gap.host_ns)};
    // The last wait of the asking thread that ended before it asked: it waited for the work before this gap when it
    // was still waiting as the device fell idle.
    const std::vector<Wait>& of_thread = waits[asked.thread];
    const auto after = std::upper_bound(of_thread.begin(), of_thread.end(), Wait{asked.start_ns, 0}, by_end);
    if (after != of_thread.begin() && std::prev(after)->end_ns >= gap.start_ns) {
      const std::uint32_t call = std::prev(after)->call;
      if (timeline.host_calls[call].start_ns <= gap.start_ns) host.waited_in = call;
    }
    gaps.push_back(host);
  }
  return gaps;
}

}  // namespace infimum::findings
