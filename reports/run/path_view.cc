#include "reports/run/path_view.h"

namespace infimum {

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

}  // namespace infimum
