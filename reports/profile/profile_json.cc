#include <chrono>
#include <utility>

#include "reports/profile/profile_view.h"
#include "reports/run/finding_writers.h"
#include "reports/run/gate_writers.h"
#include "reports/run/path_writers.h"
#include "reports/text/csv.h"
#include "reports/text/json_values.h"

namespace infimum {
namespace {

double ToMicroseconds(std::int64_t nanoseconds) { return Latency(std::chrono::nanoseconds(nanoseconds)).count(); }

Json ActivityJson(const DeviceActivity& device) {
  return {{"device", device.device},
          {"span_us", ToMicroseconds(device.span_ns())},
          {"busy_us", ToMicroseconds(device.busy_ns())},
          {"computation_us", ToMicroseconds(device.computation_ns)},
          {"exposed_communication_us", ToMicroseconds(device.exposed_communication_ns)},
          {"exposed_copy_us", ToMicroseconds(device.exposed_copy_ns)},
          {"communication_us", ToMicroseconds(device.communication_ns)},
          {"copy_us", ToMicroseconds(device.copy_ns)},
          {"idle_us",
           {{"host", ToMicroseconds(device.host_ns)},
            {"launch", ToMicroseconds(device.launch_ns)},
            {"queued", ToMicroseconds(device.queued_ns)},
            {"unknown", ToMicroseconds(device.unknown_ns)}}},
          {"kernels", device.kernels},
          {"copies", device.copies},
          {"sets", device.sets}};
}

Json JsonOf(const TimelineView& view) {
  Json devices = Json::array(), activity = Json::array(), operators = Json::array(), kernels = Json::array();
  for (const TimelineDevice& device : view.devices)
    devices.push_back({{"device", device.number}, {"name", device.name}, {"multiprocessors", device.multiprocessors}});
  for (const DeviceActivity& device : view.activity) activity.push_back(ActivityJson(device));
  for (const OperatorRow& row : view.operators)
    operators.push_back({{"name", row.name}, {"started", row.started}, {"device_us", ToMicroseconds(row.device_ns)}});
  Json host = Json::array();
  for (const HostRow& row : view.host)
    host.push_back({{"name", row.name},
                    {"count", row.count},
                    {"total_us", ToMicroseconds(row.total_ns)},
                    {"own_us", ToMicroseconds(row.own_ns)}});
  for (const KernelRow& row : view.kernels)
    kernels.push_back({{"name", row.name},
                       {"operator", row.operation},
                       {"count", row.count},
                       {"total_us", ToMicroseconds(row.total_ns)},
                       {"min_us", ToMicroseconds(row.least_ns)},
                       {"max_us", ToMicroseconds(row.most_ns)}});
  return {{"kind", "timeline"},
          {"source", view.source},
          {"profiler", view.profiler},
          {"events", view.events},
          {"span_us", ToMicroseconds(view.span_ns)},
          {"skipped_share", view.skipped_share},
          {"runtime_calls", view.calls},
          {"devices", std::move(devices)},
          {"activity", std::move(activity)},
          {"critical_path", view.path ? PathJson(*view.path) : Json(nullptr)},
          {"operators", std::move(operators)},
          {"host", std::move(host)},
          {"kernels", std::move(kernels)},
          {"findings", FindingsJson(view.findings)},
          {"remarks", view.remarks}};
}

Json JsonOf(const LayersView& view) {
  Json operators = Json::array(), layers = Json::array();
  for (const EngineOperatorRow& row : view.operators)
    operators.push_back({{"name", row.op}, {"layers", row.layers}, {"latency_us", row.time.count()}});
  for (const LayerRow& row : view.layers)
    layers.push_back({{"name", row.name},
                      {"op", row.op},
                      {"algorithm", row.algorithm.empty() ? Json(nullptr) : Json(row.algorithm)},
                      {"nodes", row.nodes},
                      {"samples", row.samples},
                      {"latency_us", MicrosecondsOrNull(row.median)},
                      {"min_us", row.least.count()},
                      {"max_us", row.most.count()}});
  return {{"kind", "layers"},
          {"source", view.source},
          {"framework", view.framework},
          {"noisy", view.noisy.empty() ? Json(nullptr) : Json(view.noisy)},
          {"measured_us", MicrosecondsOrNull(view.end_to_end)},
          {"layers_us", view.layers_time.count()},
          {"skipped_share", view.skipped_share},
          {"operators", std::move(operators)},
          {"layers", std::move(layers)},
          {"findings", FindingsJson(view.findings)},
          {"remarks", view.remarks}};
}

Table CsvTable() { return {{{"source"}, {"name"}, {"operator"}, {"count"}, {"total_us"}, {"min_us"}, {"max_us"}}, {}}; }

std::string NumberText(double number) { return Json(number).dump(); }

void AddRows(const TimelineView& view, Table& table) {
  for (const KernelRow& row : view.kernels)
    table.rows.push_back({view.source, row.name, row.operation, std::to_string(row.count),
                          NumberText(ToMicroseconds(row.total_ns)), NumberText(ToMicroseconds(row.least_ns)),
                          NumberText(ToMicroseconds(row.most_ns))});
}

void AddRows(const LayersView& view, Table& table) {
  for (const LayerRow& row : view.layers)
    table.rows.push_back({view.source, row.name, row.op, std::to_string(row.samples), NumberText(row.total.count()),
                          NumberText(row.least.count()), NumberText(row.most.count())});
}

}  // namespace

std::string ProfilesJson(const std::vector<ProfileView>& views, std::span<const Gate> gates) {
  Json runs = Json::array();
  for (const ProfileView& view : views)
    runs.push_back(std::visit([](const auto& known) { return JsonOf(known); }, view));
  return DumpJson({{"schema", "infimum.compare/1"}, {"runs", std::move(runs)}, {"gates", GatesJson(gates)}}, 1) + '\n';
}

std::string ProfilesCsv(const std::vector<ProfileView>& views) {
  Table table = CsvTable();
  for (const ProfileView& view : views) std::visit([&table](const auto& known) { AddRows(known, table); }, view);
  return FormatCsv(table);
}

}  // namespace infimum
