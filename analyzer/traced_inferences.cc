#include "analyzer/traced_inferences.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <tuple>

namespace infimum {
namespace {

constexpr double kLeastShare = 0.9;  // of the layers' time, for ranges to be inferences
constexpr std::string_view kProfilerStep = "ProfilerStep#";

struct Window {
  std::int64_t start_ns = 0, end_ns = 0;
};

// Which layers were asked for in each window; windows come by start and do not overlap.
TracedInferences LayersIn(const std::vector<Window>& windows, const std::vector<TracedLayer>& layers) {
  TracedInferences inferences;
  inferences.layers.resize(windows.size());
  std::size_t w = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    while (w < windows.size() && windows[w].end_ns <= layers[i].asked_ns) ++w;
    if (w < windows.size() && windows[w].start_ns <= layers[i].asked_ns)
      inferences.layers[w].push_back(i);
    else
      ++inferences.outside;
  }
  std::erase_if(inferences.layers, [](const std::vector<std::size_t>& list) { return list.empty(); });
  return inferences;
}

std::vector<Window> ProfilerSteps(const Timeline& timeline, const TracedNames& names) {
  std::vector<Window> steps;
  for (const HostCall& call : timeline.host_calls) {
    if (call.kind == HostCallKind::kRuntime || !names.of(call).op.starts_with(kProfilerStep)) continue;
    if (steps.empty() || call.start_ns >= steps.back().end_ns)
      steps.push_back({call.start_ns, call.start_ns + call.duration_ns});
  }
  return steps;
}

// "step 12" and "step 13" are ranges of one kind.
std::string_view Stem(std::string_view name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.remove_suffix(1);
  return name;
}

struct Ranges {
  std::string_view stem;
  std::vector<Window> windows;
  bool overlap = false;
};

// Annotations of one kind and thread that come at least twice, one after the other.
std::vector<Ranges> RepeatedRanges(const Timeline& timeline, const TracedNames& names) {
  std::map<std::pair<std::string_view, std::uint32_t>, Ranges> found;
  for (const HostCall& call : timeline.host_calls) {
    if (call.kind != HostCallKind::kAnnotation || names.of(call).is_operator) continue;
    const std::string_view stem = Stem(timeline.names.text(call.name));
    Ranges& ranges = found[{stem, call.thread}];
    ranges.stem = stem;
    ranges.overlap |= !ranges.windows.empty() && call.start_ns < ranges.windows.back().end_ns;
    ranges.windows.push_back({call.start_ns, call.start_ns + call.duration_ns});
  }
  std::vector<Ranges> repeated;
  for (auto& [key, ranges] : found)
    if (ranges.windows.size() > 1 && !ranges.overlap) repeated.push_back(std::move(ranges));
  return repeated;
}

std::int64_t TimeOf(const TracedInferences& inferences, const std::vector<std::int64_t>& times) {
  std::int64_t time = 0;
  for (const std::vector<std::size_t>& list : inferences.layers)
    for (const std::size_t i : list) time += times[i];
  return time;
}

// The least period of the whole sequence that it is a multiple of (Knuth, Morris and Pratt's failure function).
std::size_t PeriodOf(const std::vector<std::size_t>& keys) {
  std::vector<std::size_t> border(keys.size() + 1, 0);
  for (std::size_t i = 1, k = 0; i < keys.size(); ++i) {
    while (k > 0 && keys[i] != keys[k]) k = border[k];
    if (keys[i] == keys[k]) ++k;
    border[i + 1] = k;
  }
  const std::size_t period = keys.size() - border[keys.size()];
  return period > 0 && keys.size() % period == 0 ? period : keys.size();
}

}  // namespace

TracedInferences DivideIntoInferences(const Timeline& timeline, const TracedNames& names,
                                      const std::vector<TracedLayer>& layers, const std::vector<std::size_t>& keys,
                                      const std::vector<std::int64_t>& times) {
  TracedInferences best;
  if (const std::vector<Window> steps = ProfilerSteps(timeline, names); !steps.empty()) {
    best = LayersIn(steps, layers);
    best.how = "by ProfilerStep";
    if (!best.layers.empty()) return best;
  }
  // Of ranges within ranges the outer ones, which are fewer.
  const auto all = static_cast<double>(std::accumulate(times.begin(), times.end(), std::int64_t{0}));
  best = {};
  for (const Ranges& ranges : RepeatedRanges(timeline, names)) {
    TracedInferences candidate = LayersIn(ranges.windows, layers);
    if (candidate.layers.size() < 2 || static_cast<double>(TimeOf(candidate, times)) < kLeastShare * all) continue;
    if (!best.layers.empty() && best.layers.size() <= candidate.layers.size()) continue;
    best = std::move(candidate);
    best.how = "by the ranges '" + std::string(ranges.stem) + "'";
  }
  if (!best.layers.empty()) return best;
  const std::size_t period = PeriodOf(keys);
  for (std::size_t begin = 0; begin < layers.size(); begin += period) {
    std::vector<std::size_t>& list = best.layers.emplace_back(std::min(period, layers.size() - begin));
    std::iota(list.begin(), list.end(), begin);
  }
  best.how = period < layers.size() ? "where the operators repeat" : "as one, since nothing in it marks or repeats one";
  return best;
}

}  // namespace infimum
