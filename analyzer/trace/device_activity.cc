#include "analyzer/trace/device_activity.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

namespace infimum {
namespace {

enum Class : std::size_t { kComputation, kCommunication, kCopying, kClasses };

// Lengths of unions of intervals that come by start.
class Union {
 public:
  void Add(std::int64_t start, std::int64_t end) {
    if (empty_ || start > end_) {
      length_ += std::max<std::int64_t>(0, end - start);
      end_ = end;
    } else if (end > end_) {
      length_ += end - end_;
      end_ = end;
    }
    empty_ = false;
  }
  bool empty() const { return empty_; }
  std::int64_t end() const { return end_; }
  std::int64_t length() const { return length_; }

 private:
  bool empty_ = true;
  std::int64_t end_ = 0;
  std::int64_t length_ = 0;
};

struct DeviceState {
  DeviceActivity activity;
  std::array<Union, kClasses> alone;  // each class by itself
  Union computing_or_communicating, any;
};

IdleGap GapBefore(std::uint32_t next, std::int64_t from, const Timeline& timeline, const WorkOrigin& origin) {
  const DeviceWork& work = timeline.device_work[next];
  IdleGap gap;
  gap.device = timeline.streams[work.stream].device;
  gap.start_ns = from;
  gap.next = next;
  if (origin.call == kNoCall) {
    gap.unknown_ns = work.start_ns - from;
    return gap;
  }
  const std::int64_t asked = timeline.host_calls[origin.call].start_ns;
  if (asked <= from) {
    gap.queued_ns = work.start_ns - from;
  } else {
    // A clock that is a little off may have the work begin before it was asked for.
    gap.host_ns = std::min(asked, work.start_ns) - from;
    gap.launch_ns = std::max<std::int64_t>(0, work.start_ns - asked);
  }
  return gap;
}

}  // namespace

bool IsCommunication(std::string_view kernel) {
  return kernel.find("nccl") != std::string_view::npos || kernel.find("rccl") != std::string_view::npos;
}

ActivityReport ActivityOf(const Timeline& timeline, const std::vector<WorkOrigin>& origins) {
  ActivityReport report;
  std::map<std::int64_t, DeviceState> devices;
  std::vector<signed char> communicates(timeline.names.size(), -1);  // by name; -1: not looked at yet
  std::uint32_t i = 0;
  for (const DeviceWork& work : timeline.device_work) {
    DeviceState& state = devices[timeline.streams[work.stream].device];
    DeviceActivity& activity = state.activity;
    const std::int64_t start = work.start_ns, end = work.start_ns + work.duration_ns;
    if (state.any.empty()) {
      activity.device = timeline.streams[work.stream].device;
      activity.first_ns = start;
    } else if (start > state.any.end()) {
      const IdleGap gap = GapBefore(i, state.any.end(), timeline, origins[i]);
      activity.host_ns += gap.host_ns;
      activity.launch_ns += gap.launch_ns;
      activity.queued_ns += gap.queued_ns;
      activity.unknown_ns += gap.unknown_ns;
      report.gaps.push_back(gap);
    }
    Class kind = kComputation;
    switch (work.kind) {
      case DeviceWorkKind::kCopy:
        ++activity.copies;
        kind = kCopying;
        break;
      case DeviceWorkKind::kSet:
        ++activity.sets;
        break;
      case DeviceWorkKind::kKernel: {
        ++activity.kernels;
        signed char& known = communicates[static_cast<std::size_t>(work.name)];
        if (known < 0) known = IsCommunication(timeline.names.text(work.name)) ? 1 : 0;
        if (known == 1) kind = kCommunication;
        break;
      }
    }
    state.alone[kind].Add(start, end);
    if (kind != kCopying) state.computing_or_communicating.Add(start, end);
    state.any.Add(start, end);
    ++i;
  }
  for (auto& [number, state] : devices) {
    DeviceActivity& activity = state.activity;
    activity.last_ns = state.any.end();
    activity.computation_ns = state.alone[kComputation].length();
    activity.communication_ns = state.alone[kCommunication].length();
    activity.copy_ns = state.alone[kCopying].length();
    activity.exposed_communication_ns = state.computing_or_communicating.length() - activity.computation_ns;
    activity.exposed_copy_ns = state.any.length() - state.computing_or_communicating.length();
    report.devices.push_back(activity);
  }
  return report;
}

std::vector<WorkTotal> WorkTotals(const Timeline& timeline, const std::vector<WorkOrigin>& origins) {
  std::map<std::tuple<NameId, NameId, std::uint32_t>, WorkTotal> totals;
  std::size_t i = 0;
  for (const DeviceWork& work : timeline.device_work) {
    const std::uint32_t operation = origins[i++].operation;
    const NameId name = operation == kNoCall ? kNoName : timeline.host_calls[operation].name;
    WorkTotal& total = totals[{work.name, name, work.stream}];
    if (total.count++ == 0) {
      total.name = work.name;
      total.operation = name;
      total.stream = work.stream;
      total.kind = work.kind;
      total.least_ns = work.duration_ns;
    }
    total.total_ns += work.duration_ns;
    total.least_ns = std::min(total.least_ns, work.duration_ns);
    total.most_ns = std::max(total.most_ns, work.duration_ns);
  }
  std::vector<WorkTotal> sorted;
  sorted.reserve(totals.size());
  for (const auto& [key, total] : totals) sorted.push_back(total);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const WorkTotal& a, const WorkTotal& b) { return a.total_ns > b.total_ns; });
  return sorted;
}

}  // namespace infimum
