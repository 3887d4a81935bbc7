#include "analyzer/trace/timeline_run.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/trace/device_activity.h"
#include "analyzer/trace/traced_operators.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"
#include "src/core/graph/framework_names.h"

namespace infimum {
namespace {

// A trace divided into inferences: by what a person or the profiler's schedule marked, else by what repeats.
//
//   ProfilerStep#5 | ProfilerStep#6 | ProfilerStep#7      three inferences
//   "inference 0" ... "inference 1" ...                   ranges of one name, but for a number at its end, that hold at
//                                                         least 90 % of the layers' time
//   conv relu linear conv relu linear                     the same operators on the same shapes over and over: two
//   anything else                                         one
struct TracedInferences {
  std::vector<std::vector<std::size_t>> layers;  // of each inference: indices into the layers, ascending
  std::string how;                               // "by ProfilerStep", for remarks
  std::size_t outside = 0;                       // layers in none
};

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

// `keys` says what each layer is: equal for layers that may be the same one of different inferences. `times`: of each.
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

Latency Nanoseconds(std::int64_t count) { return Latency(static_cast<double>(count) / 1000); }

// The device with the most work; nothing without any.
std::optional<std::int64_t> MainDevice(const Timeline& timeline, std::size_t& devices) {
  std::map<std::int64_t, std::int64_t> busy;
  for (const DeviceWork& work : timeline.device_work) busy[timeline.streams[work.stream].device] += work.duration_ns;
  devices = busy.size();
  const auto most = std::ranges::max_element(busy, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == busy.end()) return std::nullopt;
  return most->first;
}

// When the layers of an inference ran, on the device or, without one, on the host.
struct Span {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t busy_ns = 0;  // each moment once
};

class RunBuilder {
 public:
  explicit RunBuilder(const Timeline& timeline)
      : timeline_(timeline), names_(timeline), origins_(OriginsOfWork(timeline)) {}

  RunProfile Build() {
    run_.framework = FrameworkOfProfiler(timeline_.profiler);
    run_.settings["profiler"] = timeline_.profiler;
    run_.skipped_share = timeline_.skipped_share;
    std::size_t devices = 0;
    const std::optional<std::int64_t> device = MainDevice(timeline_, devices);
    device_ = device.value_or(0);
    has_device_ = device.has_value();
    if (devices > 1)
      run_.warnings.push_back("of " + std::to_string(devices) +
                              " devices the one with the most work is taken, device " + std::to_string(device_));
    for (const TimelineDevice& known : timeline_.devices)
      if (has_device_ && known.number == device_ && !known.name.empty()) run_.settings["device_name"] = known.name;
    layers_ = TracedLayers(timeline_, names_, origins_, device_);
    if (layers_.empty()) {
      run_.warnings.push_back("neither device work nor operators");
      return std::move(run_);
    }
    ChooseInferences();
    AddLayers();
    TellBackwardPass();
    AddSpans();
    return std::move(run_);
  }

 private:
  std::string OpOf(const TracedLayer& layer) const {
    if (layer.call != kNoCall) return std::string(names_.of(timeline_.host_calls[layer.call]).op);
    return std::string(KernelClass(timeline_.names.text(timeline_.device_work[layer.work.front()].name)));
  }

  std::int64_t TimeOf(const TracedLayer& layer) const {
    if (layer.work.empty()) return timeline_.host_calls[layer.call].duration_ns;
    std::int64_t time = 0;
    for (const std::uint32_t work : layer.work) time += timeline_.device_work[work].duration_ns;
    return time;
  }

  // A number for each operator and its shapes.
  std::vector<std::size_t> Keys() const {
    std::map<std::pair<std::string, std::string_view>, std::size_t> numbers;
    std::vector<std::size_t> keys;
    for (const TracedLayer& layer : layers_) {
      const std::string_view shapes =
          layer.call == kNoCall ? std::string_view() : names_.ShapesOf(timeline_, timeline_.host_calls[layer.call]);
      keys.push_back(numbers.emplace(std::pair(OpOf(layer), shapes), numbers.size()).first->second);
    }
    return keys;
  }

  // All inferences of the trace, and of them the ones whose layers are the same as most others'.
  void ChooseInferences() {
    const std::vector<std::size_t> keys = Keys();
    std::vector<std::int64_t> times;
    for (const TracedLayer& layer : layers_) times.push_back(TimeOf(layer));
    TracedInferences divided = DivideIntoInferences(timeline_, names_, layers_, keys, times);
    inferences_ = std::move(divided.layers);
    const std::size_t count = inferences_.size();
    std::string taken = count == 1 ? "one inference, divided " + divided.how
                                   : std::to_string(count) + " inferences, divided " + divided.how +
                                         "; the first is left out as the warm-up";
    if (divided.outside > 0)
      taken +=
          "; " + std::to_string(divided.outside) +
          (divided.outside == 1 ? " operator outside of them is left out" : " operators outside of them are left out");
    run_.warnings.push_back(std::move(taken));
    std::map<std::vector<std::size_t>, std::vector<std::size_t>> alike;
    for (std::size_t i = count > 1 ? 1 : 0; i < count; ++i) {
      std::vector<std::size_t> sequence;
      for (const std::size_t layer : inferences_[i]) sequence.push_back(keys[layer]);
      alike[std::move(sequence)].push_back(i);
    }
    const auto most = std::ranges::max_element(alike, [](const auto& a, const auto& b) {
      return std::pair(a.second.size(), a.second.back()) < std::pair(b.second.size(), b.second.back());
    });
    chosen_ = most->second;
    const std::size_t others = count - (count > 1 ? 1 : 0) - chosen_.size();
    if (others > 0)
      run_.warnings.push_back(std::to_string(others) + (others == 1 ? " inference runs" : " inferences run") +
                              " other operators or shapes than those whose times are taken (" +
                              std::to_string(chosen_.size()) + "); what differs is left out");
  }

  // A backward pass is no part of a model; who aligns a training step should know how much of it that is.
  void TellBackwardPass() {
    Latency backward{0};
    for (std::size_t k = 0; k < run_.layers.size(); ++k) {
      const TracedLayer& traced = layers_[inferences_[chosen_.front()][k]];
      if (traced.call != kNoCall && names_.of(timeline_.host_calls[traced.call]).is_backward)
        backward += Quantile(run_.layers[k].samples, 0.5);
    }
    if (backward.count() > 0)
      run_.warnings.push_back("a backward pass takes " + FormatLatency(backward) +
                              " of the layers' time; no layer of a model corresponds to it");
  }

  // Called by the range around them, the innermost that a person named; one that holds nearly all of an inference says
  // nothing about a layer.
  void AddLayers() {
    std::vector<std::uint32_t> layers_in(timeline_.host_calls.size(), 0);  // by range, with those of ranges within
    const std::vector<std::uint32_t> ranges = EnclosingCalls(timeline_, [this](const HostCall& call) {
      return call.kind == HostCallKind::kAnnotation && !names_.IsOperator(call) &&
             !names_.of(call).op.starts_with("ProfilerStep#");
    });
    const auto note = [&](std::uint32_t range, std::uint32_t count) {
      if (range != kNoCall) layers_in[range] += count;
    };
    const std::vector<std::size_t>& first = inferences_[chosen_.front()];
    for (const std::size_t layer : first)
      if (layers_[layer].call != kNoCall) note(ranges[layers_[layer].call], 1);
    for (std::size_t i = layers_in.size(); i-- > 0;)  // a range stands behind the one that it is in
      if (layers_in[i] > 0) note(ranges[i], layers_in[i]);
    std::map<std::string, std::size_t> counts;
    for (std::size_t k = 0; k < first.size(); ++k) {
      const TracedLayer& traced = layers_[first[k]];
      ProfiledLayer layer;
      layer.op = OpOf(traced);
      const std::uint32_t range = traced.call == kNoCall ? kNoCall : ranges[traced.call];
      if (range != kNoCall && std::size_t{layers_in[range]} * 10 < first.size() * 9)
        layer.name = std::string(names_.of(timeline_.host_calls[range]).op) + "/";
      layer.name += layer.op + "#" + std::to_string(++counts[layer.op]);
      if (traced.call != kNoCall)
        layer.input_tensors = TensorsOf(names_.ShapesOf(timeline_, timeline_.host_calls[traced.call]));
      std::int64_t longest = -1;
      for (const std::uint32_t work : traced.work) {
        if (timeline_.device_work[work].duration_ns <= longest) continue;
        longest = timeline_.device_work[work].duration_ns;
        layer.algorithm = timeline_.names.text(timeline_.device_work[work].name);
      }
      for (const std::size_t i : chosen_) layer.samples.push_back(Nanoseconds(TimeOf(layers_[inferences_[i][k]])));
      run_.layers.push_back(std::move(layer));
    }
  }

  Span SpanOf(const std::vector<std::size_t>& inference) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
    for (const std::size_t i : inference) {
      const TracedLayer& layer = layers_[i];
      for (const std::uint32_t at : layer.work) {
        const DeviceWork& work = timeline_.device_work[at];
        intervals.emplace_back(work.start_ns, work.start_ns + work.duration_ns);
      }
      if (layer.work.empty()) intervals.emplace_back(layer.asked_ns, layer.asked_ns + TimeOf(layer));
    }
    std::ranges::sort(intervals);
    Span span{intervals.front().first, intervals.front().first, 0};
    for (const auto& [start, end] : intervals) {
      span.busy_ns += std::max<std::int64_t>(0, end - std::max(start, span.end_ns));
      span.end_ns = std::max(span.end_ns, end);
    }
    return span;
  }

  void AddSpans() {
    std::vector<Span> spans;
    for (const std::vector<std::size_t>& inference : inferences_) spans.push_back(SpanOf(inference));
    const ActivityReport activity = has_device_ ? ActivityOf(timeline_, origins_) : ActivityReport{};
    std::vector<Latency> host, launch, queued, overlapped;
    std::int64_t unknown = 0, idle = 0;
    for (std::size_t c = 0; c < chosen_.size(); ++c) {
      const std::size_t i = chosen_[c];
      const std::int64_t start = spans[i].start_ns;
      // Inferences may overlap on a device; each keeps what is its own.
      const std::int64_t end =
          i + 1 < spans.size() ? std::max(spans[i + 1].start_ns, start) : std::max(spans[i].end_ns, start);
      run_.profiled.push_back(Nanoseconds(end - start));
      std::int64_t gaps[3] = {0, 0, 0};
      const auto begin = std::ranges::lower_bound(activity.gaps, start, {}, &IdleGap::start_ns);
      for (auto gap = begin; gap != activity.gaps.end() && gap->start_ns < end; ++gap) {
        if (gap->device != device_) continue;
        gaps[0] += gap->host_ns;
        gaps[1] += gap->launch_ns;
        gaps[2] += gap->queued_ns;
        unknown += gap->unknown_ns;
        idle += gap->duration_ns();
      }
      host.push_back(Nanoseconds(gaps[0]));
      launch.push_back(Nanoseconds(gaps[1]));
      queued.push_back(Nanoseconds(gaps[2]));
      Latency layers{0};
      for (const ProfiledLayer& layer : run_.layers) layers += layer.samples[c];
      overlapped.push_back(std::max(Latency(0), layers - Nanoseconds(spans[i].busy_ns)));
    }
    if (!has_device_) return;
    if (unknown > 0) {
      run_.warnings.push_back(
          "of " + FormatLatency(Nanoseconds(idle)) + " in which the device was idle, " +
          FormatLatency(Nanoseconds(unknown)) +
          " came before work that no call is known to have started; what it waited for is not recorded");
      return;
    }
    run_.idle =
        DeviceIdle{Quantile(host, 0.5), Quantile(launch, 0.5), Quantile(queued, 0.5), Quantile(overlapped, 0.5)};
  }

  const Timeline& timeline_;
  const TracedNames names_;
  const std::vector<WorkOrigin> origins_;
  std::int64_t device_ = 0;
  bool has_device_ = false;
  std::vector<TracedLayer> layers_;
  std::vector<std::vector<std::size_t>> inferences_;  // of layers_
  std::vector<std::size_t> chosen_;                   // of inferences_: whose times are taken
  RunProfile run_;
};

}  // namespace

RunProfile RunOf(const Timeline& timeline) { return RunBuilder(timeline).Build(); }

}  // namespace infimum
