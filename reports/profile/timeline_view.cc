#include "reports/profile/timeline_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/trace/host_time.h"

namespace infimum {

TimelineView ViewOf(const Timeline& timeline, std::string source) {
  const std::vector<WorkOrigin> origins = OriginsOfWork(timeline);
  ActivityReport activity = ActivityOf(timeline, origins);
  TimelineView view;
  view.source = std::move(source);
  view.profiler = timeline.profiler;
  view.events = timeline.events;
  view.span_ns = timeline.duration_ns();
  view.skipped_share = timeline.skipped_share;
  view.remarks = timeline.remarks;
  view.findings = FindingsOf({timeline, origins, activity});
  view.path = PathViewOf(timeline, origins);
  view.activity = std::move(activity.devices);
  for (const TimelineDevice& device : timeline.devices) {
    const bool worked = std::any_of(view.activity.begin(), view.activity.end(),
                                    [&](const DeviceActivity& of) { return of.device == device.number; });
    if (worked) view.devices.push_back(device);
  }
  for (const HostCall& call : timeline.host_calls) view.calls += call.kind == HostCallKind::kRuntime ? 1 : 0;

  for (const HostTotal& total : HostTotals(timeline)) {
    view.host.push_back({std::string(timeline.names.text(total.name)), total.count, total.total_ns, total.own_ns});
    view.host_ns += total.own_ns;
  }

  // Streams do not matter here: what one operator starts on several is one row.
  std::map<std::pair<NameId, NameId>, KernelRow> kernels;
  std::map<NameId, OperatorRow> operators;
  for (const WorkTotal& total : WorkTotals(timeline, origins)) {
    view.work_ns += total.total_ns;
    OperatorRow& operation = operators[total.operation];
    operation.started += total.count;
    operation.device_ns += total.total_ns;
    KernelRow& row = kernels[{total.name, total.operation}];
    row.least_ns = row.count == 0 ? total.least_ns : std::min(row.least_ns, total.least_ns);
    row.most_ns = std::max(row.most_ns, total.most_ns);
    row.count += total.count;
    row.total_ns += total.total_ns;
  }
  for (auto& [key, row] : kernels) {
    row.name = timeline.names.text(key.first);
    row.operation = timeline.names.text(key.second);
    view.kernels.push_back(std::move(row));
  }
  for (auto& [name, row] : operators) {
    row.name = timeline.names.text(name);
    view.operators.push_back(std::move(row));
  }
  std::stable_sort(view.kernels.begin(), view.kernels.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.total_ns > b.total_ns; });
  std::stable_sort(view.operators.begin(), view.operators.end(),
                   [](const OperatorRow& a, const OperatorRow& b) { return a.device_ns > b.device_ns; });
  return view;
}

}  // namespace infimum
