#include "analyzer/trace/traced_inferences.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>
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

// Time of the layers asked for in a window, found by halving: a trace may have many kinds of ranges.
class LayerTimes {
 public:
  LayerTimes(const std::vector<TracedLayer>& layers, const std::vector<std::int64_t>& times) : layers_(layers) {
    before_.reserve(times.size() + 1);
    for (const std::int64_t time : times) before_.push_back(before_.back() + time);
  }

  double all() const { return static_cast<double>(before_.back()); }
  double In(const Window& window) const {
    return static_cast<double>(before_[Place(window.end_ns)] - before_[Place(window.start_ns)]);
  }

 private:
  std::size_t Place(std::int64_t moment) const {
    const auto place = std::ranges::lower_bound(layers_, moment, {}, &TracedLayer::asked_ns);
    return static_cast<std::size_t>(place - layers_.begin());
  }

  const std::vector<TracedLayer>& layers_;
  std::vector<std::int64_t> before_{0};  // time of the layers before each
};

// Those that hold nearly all of the time, in two windows or more; of ranges within ranges the outer, which are fewer.
std::optional<Ranges> OutermostRanges(std::vector<Ranges> repeated, const LayerTimes& times) {
  std::optional<Ranges> chosen;
  for (Ranges& ranges : repeated) {
    std::erase_if(ranges.windows, [&times](const Window& window) { return times.In(window) <= 0; });
    double time = 0;
    for (const Window& window : ranges.windows) time += times.In(window);
    if (ranges.windows.size() < 2 || time < kLeastShare * times.all()) continue;
    if (!chosen || ranges.windows.size() < chosen->windows.size()) chosen = std::move(ranges);
  }
  return chosen;
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
  if (const auto ranges = OutermostRanges(RepeatedRanges(timeline, names), LayerTimes(layers, times))) {
    best = LayersIn(ranges->windows, layers);
    best.how = "by the ranges '" + std::string(ranges->stem) + "'";
    return best;
  }
  best = {};
  const std::size_t period = PeriodOf(keys);
  for (std::size_t begin = 0; begin < layers.size(); begin += period) {
    std::vector<std::size_t>& list = best.layers.emplace_back(std::min(period, layers.size() - begin));
    std::iota(list.begin(), list.end(), begin);
  }
  best.how = period < layers.size() ? "where the operators repeat" : "as one, since nothing in it marks or repeats one";
  return best;
}

}  // namespace infimum
