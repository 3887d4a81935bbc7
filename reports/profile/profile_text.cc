#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "infimum/base/quantity_text.h"
#include "reports/profile/profile_view.h"
#include "reports/run/finding_writers.h"
#include "reports/run/path_view.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"
#include "reports/text/section.h"
#include "reports/text/terminal_text.h"

namespace infimum {
namespace {

constexpr std::size_t kShownRows = 10;
constexpr std::size_t kLongestRowName = 72;  // of a kernel
constexpr const char* kAllInFormats = "--format csv or json has all";

std::string TimeText(std::int64_t nanoseconds) { return FormatLatency(std::chrono::nanoseconds(nanoseconds)); }

std::string ShareText(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? PercentText(static_cast<double>(part) / static_cast<double>(whole)) : "-";
}

std::string NameOf(const TimelineView& view, std::int64_t number) {
  for (const TimelineDevice& device : view.devices)
    if (device.number == number && !device.name.empty()) return fmt::format("device {}, {}", number, device.name);
  return fmt::format("device {}", number);
}

Section ActivitySection(const TimelineView& view, const DeviceActivity& device) {
  Section section{.columns = {NameOf(view, device.device), NumberColumn("time"), NumberColumn("share"), ""}};
  const auto add = [&](const std::string& what, std::int64_t time, const std::string& note) {
    section.rows.push_back({what, TimeText(time), ShareText(time, device.span_ns()), note});
  };
  add("computing", device.computation_ns, CountText(static_cast<std::size_t>(device.kernels + device.sets), "kernel"));
  if (device.communication_ns > 0)
    add("communicating, not hidden", device.exposed_communication_ns,
        fmt::format("of {} in all", TimeText(device.communication_ns)));
  if (device.copies > 0)
    add("copying, not hidden", device.exposed_copy_ns,
        fmt::format("of {} in {}", TimeText(device.copy_ns),
                    device.copies == 1 ? "1 copy" : fmt::format("{} copies", device.copies)));
  if (device.host_ns > 0) add("idle: not asked yet", device.host_ns, "the host was late");
  if (device.launch_ns > 0) add("idle: asked, not begun", device.launch_ns, "what a launch takes");
  if (device.queued_ns > 0) add("idle: between queued work", device.queued_ns, "asked for in time");
  if (device.unknown_ns > 0) add("idle: cause not known", device.unknown_ns, "no call is known for what came next");
  add("from first to last", device.span_ns(), "");
  return section;
}

Section OperatorsSection(const TimelineView& view) {
  Section section{
      .columns = {NameColumn("operator"), NumberColumn("started"), NumberColumn("device time"), NumberColumn("share")}};
  AddRows(view.operators, kShownRows, section, [&view](const OperatorRow& row) {
    return TableRow{row.name.empty() ? "(no operator known)" : row.name, std::to_string(row.started),
                    TimeText(row.device_ns), ShareText(row.device_ns, view.work_ns)};
  });
  return section;
}

Section HostSection(const TimelineView& view) {
  Section section{.columns = {NameColumn("on the host"), NumberColumn("times"), NumberColumn("own time"),
                              NumberColumn("with calls"), NumberColumn("share")}};
  AddRows(view.host, kShownRows, section, [&view](const HostRow& row) {
    return TableRow{row.name, std::to_string(row.count), TimeText(row.own_ns), TimeText(row.total_ns),
                    ShareText(row.own_ns, view.host_ns)};
  });
  return section;
}

Section KernelsSection(const TimelineView& view) {
  Section section{.columns = {NameColumn("kernel or copy"), NameColumn("by"), NumberColumn("times"),
                              NumberColumn("each"), NumberColumn("in all"), NumberColumn("share")},
                  .rest = kAllInFormats};
  AddRows(view.kernels, kShownRows, section, [&view](const KernelRow& row) {
    return TableRow{
        ShortKernelName(row.name, kLongestRowName), row.operation,          std::to_string(row.count),
        TimeText(row.total_ns / row.count),         TimeText(row.total_ns), ShareText(row.total_ns, view.work_ns)};
  });
  return section;
}

std::string RemarksText(const std::vector<std::string>& remarks, std::size_t width) {
  std::string text;
  for (const std::string& remark : remarks) text += IndentedText("note: ", remark, 2, width);
  return text.empty() ? text : '\n' + text;
}

std::string TextOf(const TimelineView& view, std::size_t width) {
  std::string text = IndentedText("",
                                  fmt::format("{}: {}, {} events over {}{}", view.source, view.profiler, view.events,
                                              TimeText(view.span_ns), SkippedText(view.skipped_share, "devices'")),
                                  2, width);
  const auto add = [&text, width](const Section& section) { text += '\n' + SectionTable(section, width); };
  for (const DeviceActivity& device : view.activity) add(ActivitySection(view, device));
  // What to change stands before what it was found in.
  text += FindingsText(view.findings, {.width = width});
  if (view.path) text += '\n' + PathText(*view.path, width);
  if (!view.kernels.empty()) {
    add(OperatorsSection(view));
    add(KernelsSection(view));
  }
  if (view.activity.empty()) text += "\nno device did anything in it\n";
  if (!view.host.empty()) add(HostSection(view));
  return text + RemarksText(view.remarks, width);
}

std::string TextOf(const LayersView& view, std::size_t width) {
  std::string text = fmt::format("{}: {}, {}, {} in layers", view.source, view.framework,
                                 CountText(view.layers.size(), "layer"), FormatLatency(view.layers_time));
  if (view.end_to_end) text += fmt::format(", {} end to end without a profiler", FormatLatency(*view.end_to_end));
  text += SkippedText(view.skipped_share, "layers'");
  if (!view.noisy.empty()) text += "; the run is noisy: " + view.noisy;
  text = IndentedText("", text, 2, width) + FindingsText(view.findings, {.width = width}) + '\n';
  const auto share = [&view](Latency time) {
    return view.layers_time.count() > 0 ? PercentText(time / view.layers_time) : std::string("-");
  };
  Section operators{
      .columns = {NameColumn("operator"), NumberColumn("layers"), NumberColumn("time"), NumberColumn("share")}};
  AddRows(view.operators, kShownRows, operators, [&share](const EngineOperatorRow& row) {
    return TableRow{row.op, std::to_string(row.layers), FormatLatency(row.time), share(row.time)};
  });
  std::vector<const LayerRow*> order;
  for (const LayerRow& row : view.layers)
    if (row.median) order.push_back(&row);
  std::ranges::stable_sort(order, [](const LayerRow* a, const LayerRow* b) { return *a->median > *b->median; });
  Section layers{.columns = {NameColumn("layer"), NameColumn("operator"), NumberColumn("time"), NumberColumn("share")},
                 .rest = kAllInFormats};
  AddRows(order, kShownRows, layers, [&share](const LayerRow* row) {
    return TableRow{row->name, row->op, FormatLatency(*row->median), share(*row->median)};
  });
  return text + SectionTable(operators, width) + '\n' + SectionTable(layers, width) + RemarksText(view.remarks, width);
}

}  // namespace

std::string ProfileText(const ProfileView& view, std::size_t width) {
  return std::visit([width](const auto& known) { return TextOf(known, width); }, view);
}

}  // namespace infimum
