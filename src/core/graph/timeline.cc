#include "infimum/graph/timeline.h"

#include <algorithm>
#include <tuple>

namespace infimum {

void SortByStart(Timeline& timeline) {
  const auto before = [](const auto& a, const auto& b) {
    return std::tuple(a.start_ns, b.duration_ns) < std::tuple(b.start_ns, a.duration_ns);
  };
  // Stable: of two that look the same the one that the profiler wrote first is the caller.
  const auto sort = [&](auto& entries) {
    if (!std::ranges::is_sorted(entries, before)) std::ranges::stable_sort(entries, before);
  };
  sort(timeline.host_calls);
  sort(timeline.device_work);
}

}  // namespace infimum
