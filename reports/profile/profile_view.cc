#include "reports/profile/profile_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/gap/run_latency.h"
#include "analyzer/trace/host_time.h"
#include "infimum/measurement/statistics.h"

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
    const bool worked =
        std::ranges::any_of(view.activity, [&](const DeviceActivity& of) { return of.device == device.number; });
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
  std::ranges::stable_sort(view.kernels, std::ranges::greater(), &KernelRow::total_ns);
  std::ranges::stable_sort(view.operators, std::ranges::greater(), &OperatorRow::device_ns);
  return view;
}

LayersView ViewOf(const RunProfile& run, std::string source) {
  LayersView view;
  view.source = std::move(source);
  view.framework = run.framework + (run.framework_version.empty() ? "" : " " + run.framework_version);
  view.findings = FindingsOf(run);
  view.skipped_share = run.skipped_share;
  view.noisy = run.noisy;
  view.remarks = run.warnings;
  view.end_to_end = EndToEndOf(run);
  std::map<std::string, EngineOperatorRow> operators;
  for (const ProfiledLayer& layer : run.layers) {
    LayerRow row;
    row.name = layer.name;
    row.op = layer.op;
    row.algorithm = layer.algorithm;
    row.nodes = layer.nodes;
    row.samples = static_cast<std::int64_t>(layer.samples.size());
    EngineOperatorRow& operation = operators[layer.op];
    operation.op = layer.op;
    ++operation.layers;
    if (!layer.samples.empty()) {
      row.median = Quantile(layer.samples, 0.5);
      const auto [least, most] = std::ranges::minmax_element(layer.samples);
      row.least = *least;
      row.most = *most;
      for (const Latency sample : layer.samples) row.total += sample;
      operation.time += *row.median;
      view.layers_time += *row.median;
    }
    view.layers.push_back(std::move(row));
  }
  for (auto& [op, row] : operators) view.operators.push_back(std::move(row));
  std::ranges::stable_sort(view.operators, std::ranges::greater(), &EngineOperatorRow::time);
  return view;
}

}  // namespace infimum
