#include <utility>

#include "reports/profile/profile_view.h"
#include "reports/run/finding_writers.h"
#include "reports/run/gate.h"
#include "reports/run/path_view.h"
#include "reports/text/csv.h"
#include "reports/text/json_values.h"

namespace infimum {

static void to_json(OrderedJson& json, const DeviceActivity& device) {
  json = {{"device", device.device},
          {"span_us", OfNanoseconds(device.span_ns())},
          {"busy_us", OfNanoseconds(device.busy_ns())},
          {"computation_us", OfNanoseconds(device.computation_ns)},
          {"exposed_communication_us", OfNanoseconds(device.exposed_communication_ns)},
          {"exposed_copy_us", OfNanoseconds(device.exposed_copy_ns)},
          {"communication_us", OfNanoseconds(device.communication_ns)},
          {"copy_us", OfNanoseconds(device.copy_ns)},
          {"idle_us",
           {{"host", OfNanoseconds(device.host_ns)},
            {"launch", OfNanoseconds(device.launch_ns)},
            {"queued", OfNanoseconds(device.queued_ns)},
            {"unknown", OfNanoseconds(device.unknown_ns)}}},
          {"kernels", device.kernels},
          {"copies", device.copies},
          {"sets", device.sets}};
}

static void to_json(OrderedJson& json, const TimelineDevice& device) {
  json = {{"device", device.number}, {"name", device.name}, {"multiprocessors", device.multiprocessors}};
}

static void to_json(OrderedJson& json, const OperatorRow& row) {
  json = {{"name", row.name}, {"started", row.started}, {"device_us", OfNanoseconds(row.device_ns)}};
}

static void to_json(OrderedJson& json, const HostRow& row) {
  json = {{"name", row.name},
          {"count", row.count},
          {"total_us", OfNanoseconds(row.total_ns)},
          {"own_us", OfNanoseconds(row.own_ns)}};
}

static void to_json(OrderedJson& json, const KernelRow& row) {
  json = {{"name", row.name},
          {"operator", row.operation},
          {"count", row.count},
          {"total_us", OfNanoseconds(row.total_ns)},
          {"min_us", OfNanoseconds(row.least_ns)},
          {"max_us", OfNanoseconds(row.most_ns)}};
}

static void to_json(OrderedJson& json, const EngineOperatorRow& row) {
  json = {{"name", row.op}, {"layers", row.layers}, {"latency_us", row.time}};
}

static void to_json(OrderedJson& json, const LayerRow& row) {
  json = {{"name", row.name},    {"op", row.op},           {"algorithm", TextOrNull(row.algorithm)},
          {"nodes", row.nodes},  {"samples", row.samples}, {"latency_us", row.median},
          {"min_us", row.least}, {"max_us", row.most}};
}

static void to_json(OrderedJson& json, const TimelineView& view) {
  json = {{"kind", "timeline"},
          {"source", view.source},
          {"profiler", view.profiler},
          {"events", view.events},
          {"span_us", OfNanoseconds(view.span_ns)},
          {"skipped_share", view.skipped_share},
          {"runtime_calls", view.calls},
          {"devices", view.devices},
          {"activity", view.activity},
          {"critical_path", view.path},
          {"operators", view.operators},
          {"host", view.host},
          {"kernels", view.kernels},
          {"findings", view.findings},
          {"remarks", view.remarks}};
}

static void to_json(OrderedJson& json, const LayersView& view) {
  json = {{"kind", "layers"},
          {"source", view.source},
          {"framework", view.framework},
          {"noisy", TextOrNull(view.noisy)},
          {"measured_us", view.end_to_end},
          {"layers_us", view.layers_time},
          {"skipped_share", view.skipped_share},
          {"operators", view.operators},
          {"layers", view.layers},
          {"findings", view.findings},
          {"remarks", view.remarks}};
}

namespace {

std::string NumberText(Latency latency) { return OrderedJson(latency).dump(); }

void AddCsv(const TimelineView& view, Section& section) {
  for (const KernelRow& row : view.kernels)
    section.rows.push_back({view.source, row.name, row.operation, std::to_string(row.count),
                            NumberText(OfNanoseconds(row.total_ns)), NumberText(OfNanoseconds(row.least_ns)),
                            NumberText(OfNanoseconds(row.most_ns))});
}

void AddCsv(const LayersView& view, Section& section) {
  for (const LayerRow& row : view.layers)
    section.rows.push_back({view.source, row.name, row.op, std::to_string(row.samples), NumberText(row.total),
                            NumberText(row.least), NumberText(row.most)});
}

}  // namespace

std::string ProfilesJson(const std::vector<ProfileView>& views, std::span<const Gate> gates) {
  OrderedJson runs = OrderedJson::array();
  for (const ProfileView& view : views)
    runs.push_back(std::visit([](const auto& known) { return OrderedJson(known); }, view));
  return DumpJson({{"schema", "infimum.compare/1"}, {"runs", std::move(runs)}, {"gates", gates}}, 1) + '\n';
}

std::string ProfilesCsv(const std::vector<ProfileView>& views) {
  Section section{.columns = {"source", "name", "operator", "count", "total_us", "min_us", "max_us"}};
  for (const ProfileView& view : views) std::visit([&section](const auto& known) { AddCsv(known, section); }, view);
  return SectionCsv(section);
}

}  // namespace infimum
