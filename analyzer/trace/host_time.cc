#include "analyzer/trace/host_time.h"

#include <algorithm>
#include <map>
#include <utility>

namespace infimum {

std::vector<HostTotal> HostTotals(const Timeline& timeline) {
  std::map<std::pair<NameId, HostCallKind>, HostTotal> totals;
  struct Open {
    std::int64_t end_ns;
    HostTotal* total;
  };
  std::vector<std::vector<Open>> open(timeline.threads.size());  // of each thread, innermost last
  for (const HostCall& call : timeline.host_calls) {
    if (call.kind == HostCallKind::kAnnotation) continue;
    std::vector<Open>& stack = open[call.thread];
    while (!stack.empty() && stack.back().end_ns <= call.start_ns) stack.pop_back();
    HostTotal& total = totals[{call.name, call.kind}];
    total.name = call.name;
    total.kind = call.kind;
    ++total.count;
    total.total_ns += call.duration_ns;
    total.own_ns += call.duration_ns;
    const std::int64_t end = call.start_ns + call.duration_ns;
    // Only what lies within the caller was the caller's to give away.
    if (!stack.empty()) stack.back().total->own_ns -= std::min(end, stack.back().end_ns) - call.start_ns;
    stack.push_back({end, &total});
  }
  std::vector<HostTotal> sorted;
  sorted.reserve(totals.size());
  for (const auto& [key, total] : totals) sorted.push_back(total);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const HostTotal& a, const HostTotal& b) { return a.own_ns > b.own_ns; });
  return sorted;
}

}  // namespace infimum
