#include "reports/run/path_view.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <span>
#include <utility>

#include "infimum/base/quantity_text.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"
#include "reports/text/section.h"

namespace infimum {
namespace {

constexpr std::size_t kShown = 5;
constexpr std::size_t kWritten = 20;
constexpr std::size_t kLongestName = 60;

struct PartWords {
  PathPart part;
  const char* title;
  const char* note;
};

// In the order in which they are shown.
constexpr PartWords kParts[] = {
    {PathPart::kOperator, "host: operators", "of the framework, without what they call"},
    {PathPart::kRuntime, "host: calls of the runtime", ""},
    {PathPart::kBetweenCalls, "host: between calls", "the program itself"},
    {PathPart::kWaiting, "synchronisation", "a blocking call, no work being what it waited for"},
    {PathPart::kLaunch, "launches", "asked for, the stream idle, and not begun"},
    {PathPart::kQueue, "between queued work", "on one stream, one after the other"},
    {PathPart::kKernel, "kernels", ""},
    {PathPart::kCommunication, "communication", ""},
    {PathPart::kCopy, "copies", ""},
    {PathPart::kUnlinked, "not linked", "nothing tells what led there"},
};
static_assert(std::size(kParts) == kPathParts);

const char* TitleOf(PathPart part) { return std::ranges::find(kParts, part, &PartWords::part)->title; }

std::string NanosecondsText(std::int64_t nanoseconds) { return FormatLatency(std::chrono::nanoseconds(nanoseconds)); }

}  // namespace

std::optional<PathView> PathViewOf(const Timeline& timeline, const std::vector<WorkOrigin>& origins) {
  if (timeline.host_calls.empty() || timeline.device_work.empty()) return std::nullopt;
  const CriticalPath path = CriticalPathOf(timeline, origins);
  // Annotations alone are no host, and a trace may be longer than a path can be.
  const std::int64_t host = path.of(PathPart::kOperator) + path.of(PathPart::kRuntime) + path.of(PathPart::kWaiting);
  if (path.segments.empty() || (host == 0 && path.of(PathPart::kLaunch) == 0)) return std::nullopt;
  PathView view;
  view.length_ns = path.length_ns();
  view.by_part = path.by_part;
  for (const PathTotal& total : PathTotals(timeline, path))
    view.items.push_back({std::string(timeline.names.text(total.name)), total.part, total.count, total.total_ns});
  return view;
}

std::string PathText(const PathView& view, std::size_t width) {
  const auto share = [&view](std::int64_t part) {
    return PercentText(static_cast<double>(part) / static_cast<double>(view.length_ns));
  };
  Section parts{.columns = {"critical path over the whole trace", NumberColumn(NanosecondsText(view.length_ns)),
                            NumberColumn("share"), NameColumn("")}};
  for (const PartWords& words : kParts) {
    const std::int64_t time = view.by_part[static_cast<std::size_t>(words.part)];
    if (time > 0) parts.rows.push_back({words.title, NanosecondsText(time), share(time), words.note});
  }
  if (view.items.empty()) return SectionTable(parts, width);
  Section items{.columns = {NameColumn("the longest on it"), "part", NumberColumn("times"), NumberColumn("time"),
                            NumberColumn("share")}};
  AddRows(std::span(view.items).first(std::min(kShown, view.items.size())), 0, items, [&share](const PathItem& item) {
    return TableRow{ShortKernelName(item.name, kLongestName), TitleOf(item.part), std::to_string(item.count),
                    NanosecondsText(item.total_ns), share(item.total_ns)};
  });
  return SectionTable(parts, width) + '\n' + SectionTable(items, width);
}

static void to_json(OrderedJson& json, const PathItem& item) {
  json = {{"name", item.name},
          {"part", NameOf(item.part)},
          {"count", item.count},
          {"latency_us", OfNanoseconds(item.total_ns)}};
}

void to_json(OrderedJson& json, const PathView& view) {
  OrderedJson parts = OrderedJson::array();
  for (const PartWords& words : kParts)
    parts.push_back({{"part", NameOf(words.part)},
                     {"latency_us", OfNanoseconds(view.by_part[static_cast<std::size_t>(words.part)])}});
  const std::span<const PathItem> items(view.items.data(), std::min(kWritten, view.items.size()));
  json = {{"length_us", OfNanoseconds(view.length_ns)},
          {"parts", std::move(parts)},
          {"items", std::vector<PathItem>(items.begin(), items.end())}};
}

}  // namespace infimum
