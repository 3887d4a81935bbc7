#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "infimum/base/quantity_text.h"
#include "reports/profile/profile_view.h"
#include "reports/run/finding_writers.h"
#include "reports/run/kernel_name.h"
#include "reports/run/path_view.h"
#include "reports/text/quantity_text.h"
#include "reports/text/table.h"
#include "reports/text/wrapped_text.h"

namespace infimum {
namespace {

constexpr std::size_t kShownRows = 10;
constexpr std::size_t kLongestRowName = 72;  // of a kernel

std::string TimeText(std::int64_t nanoseconds) { return FormatLatency(std::chrono::nanoseconds(nanoseconds)); }

std::string ShareText(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? PercentText(static_cast<double>(part) / static_cast<double>(whole)) : "-";
}

std::string NameOf(const TimelineView& view, std::int64_t number) {
  for (const TimelineDevice& device : view.devices)
    if (device.number == number && !device.name.empty()) return fmt::format("device {}, {}", number, device.name);
  return fmt::format("device {}", number);
}

std::string ActivityText(const TimelineView& view, const DeviceActivity& device, std::size_t width) {
  Table table{{{NameOf(view, device.device)}, {"time", Align::kRight}, {"share", Align::kRight}, {""}}, {}};
  const auto add = [&](const std::string& what, std::int64_t time, const std::string& note) {
    table.rows.push_back({what, TimeText(time), ShareText(time, device.span_ns()), note});
  };
  add("computing", device.computation_ns,
      fmt::format("{}", CountText(static_cast<std::size_t>(device.kernels + device.sets), "kernel")));
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
  return FormatTable(table, width);
}

std::string OperatorsText(const TimelineView& view, std::size_t width) {
  Table table{{{"operator", Align::kLeft, true},
               {"started", Align::kRight},
               {"device time", Align::kRight},
               {"share", Align::kRight}},
              {}};
  for (std::size_t i = 0; i < std::min(kShownRows, view.operators.size()); ++i) {
    const OperatorRow& row = view.operators[i];
    table.rows.push_back({row.name.empty() ? "(no operator known)" : row.name, std::to_string(row.started),
                          TimeText(row.device_ns), ShareText(row.device_ns, view.work_ns)});
  }
  std::string text = FormatTable(table, width);
  if (view.operators.size() > kShownRows) text += fmt::format("... and {} more\n", view.operators.size() - kShownRows);
  return text;
}

std::string HostText(const TimelineView& view, std::size_t width) {
  Table table{{{"on the host", Align::kLeft, true},
               {"times", Align::kRight},
               {"own time", Align::kRight},
               {"with calls", Align::kRight},
               {"share", Align::kRight}},
              {}};
  for (std::size_t i = 0; i < std::min(kShownRows, view.host.size()); ++i) {
    const HostRow& row = view.host[i];
    table.rows.push_back({row.name, std::to_string(row.count), TimeText(row.own_ns), TimeText(row.total_ns),
                          ShareText(row.own_ns, view.host_ns)});
  }
  std::string text = FormatTable(table, width);
  if (view.host.size() > kShownRows) text += fmt::format("... and {} more\n", view.host.size() - kShownRows);
  return text;
}

std::string KernelsText(const TimelineView& view, std::size_t width) {
  Table table{{{"kernel or copy", Align::kLeft, true},
               {"by", Align::kLeft, true},
               {"times", Align::kRight},
               {"each", Align::kRight},
               {"in all", Align::kRight},
               {"share", Align::kRight}},
              {}};
  for (std::size_t i = 0; i < std::min(kShownRows, view.kernels.size()); ++i) {
    const KernelRow& row = view.kernels[i];
    table.rows.push_back({ShortKernelName(row.name, kLongestRowName), row.operation, std::to_string(row.count),
                          TimeText(row.total_ns / row.count), TimeText(row.total_ns),
                          ShareText(row.total_ns, view.work_ns)});
  }
  std::string text = FormatTable(table, width);
  if (view.kernels.size() > kShownRows)
    text += fmt::format("... and {} more; --format csv or json has all\n", view.kernels.size() - kShownRows);
  return text;
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
  for (const DeviceActivity& device : view.activity) text += '\n' + ActivityText(view, device, width);
  // What to change stands before what it was found in.
  text += FindingsText(view.findings, {.width = width});
  if (view.path) text += '\n' + PathText(*view.path, width);
  if (!view.kernels.empty()) text += '\n' + OperatorsText(view, width) + '\n' + KernelsText(view, width);
  if (view.activity.empty()) text += "\nno device did anything in it\n";
  if (!view.host.empty()) text += '\n' + HostText(view, width);
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
  Table operators{
      {{"operator", Align::kLeft, true}, {"layers", Align::kRight}, {"time", Align::kRight}, {"share", Align::kRight}},
      {}};
  for (std::size_t i = 0; i < std::min(kShownRows, view.operators.size()); ++i) {
    const EngineOperatorRow& row = view.operators[i];
    operators.rows.push_back({row.op, std::to_string(row.layers), FormatLatency(row.time), share(row.time)});
  }
  text += FormatTable(operators, width);
  if (view.operators.size() > kShownRows) text += fmt::format("... and {} more\n", view.operators.size() - kShownRows);
  std::vector<const LayerRow*> order;
  for (const LayerRow& row : view.layers)
    if (row.median) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(),
                   [](const LayerRow* a, const LayerRow* b) { return *a->median > *b->median; });
  Table layers{{{"layer", Align::kLeft, true},
                {"operator", Align::kLeft, true},
                {"time", Align::kRight},
                {"share", Align::kRight}},
               {}};
  for (std::size_t i = 0; i < std::min(kShownRows, order.size()); ++i)
    layers.rows.push_back({order[i]->name, order[i]->op, FormatLatency(*order[i]->median), share(*order[i]->median)});
  text += '\n' + FormatTable(layers, width);
  if (order.size() > kShownRows)
    text += fmt::format("... and {} more; --format csv or json has all\n", order.size() - kShownRows);
  return text + RemarksText(view.remarks, width);
}

}  // namespace

std::string ProfileText(const ProfileView& view, std::size_t width) {
  return std::visit([width](const auto& known) { return TextOf(known, width); }, view);
}

}  // namespace infimum
