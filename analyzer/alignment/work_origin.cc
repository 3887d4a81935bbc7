#include "analyzer/alignment/work_origin.h"

#include <unordered_map>

namespace infimum {

std::vector<std::uint32_t> EnclosingOperators(const Timeline& timeline) {
  return EnclosingCalls(timeline, [](const HostCall& call) { return call.kind == HostCallKind::kOperator; });
}

std::vector<std::uint32_t> EnclosingCalls(const Timeline& timeline,
                                          const std::function<bool(const HostCall&)>& counts) {
  std::vector<std::uint32_t> enclosing(timeline.host_calls.size(), kNoCall);
  std::vector<std::vector<std::uint32_t>> open(timeline.threads.size());  // those of each thread, innermost last
  std::uint32_t i = 0;
  for (const HostCall& call : timeline.host_calls) {
    std::vector<std::uint32_t>& stack = open[call.thread];
    const auto has_ended = [&](std::uint32_t outer) {
      const HostCall& other = timeline.host_calls[outer];
      return other.start_ns + other.duration_ns <= call.start_ns;
    };
    while (!stack.empty() && has_ended(stack.back())) stack.pop_back();
    if (!stack.empty()) enclosing[i] = stack.back();
    if (counts(call)) stack.push_back(i);
    ++i;
  }
  return enclosing;
}

std::vector<WorkOrigin> OriginsOfWork(const Timeline& timeline) {
  const std::vector<std::uint32_t> enclosing = EnclosingOperators(timeline);
  // The first of those that claim a number: later ones were wrapped by it.
  std::unordered_map<std::int64_t, std::uint32_t> calls, operators;
  std::uint32_t i = 0;
  for (const HostCall& call : timeline.host_calls) {
    if (call.kind == HostCallKind::kRuntime && call.correlation >= 0) calls.emplace(call.correlation, i);
    if (call.kind == HostCallKind::kOperator && call.external_id >= 0) operators.emplace(call.external_id, i);
    ++i;
  }
  const auto find = [](const auto& map, std::int64_t key) {
    const auto found = map.find(key);
    return found == map.end() ? kNoCall : found->second;
  };
  std::vector<WorkOrigin> origins;
  origins.reserve(timeline.device_work.size());
  for (const DeviceWork& work : timeline.device_work) {
    WorkOrigin& origin = origins.emplace_back();
    origin.call = find(calls, work.correlation);
    origin.operation = origin.call == kNoCall ? find(operators, work.external_id) : enclosing[origin.call];
    for (std::uint32_t at = origin.operation; at != kNoCall; at = enclosing[at]) origin.outermost = at;
  }
  return origins;
}

}  // namespace infimum
