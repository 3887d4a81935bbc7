#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "infimum/base/check.h"
#include "infimum/base/quantity_text.h"
#include "src/core/graph/framework_names.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_events.h"

namespace infimum {
namespace {

using ingest::OnnxRuntimeEvents;
using ingest::OnnxRuntimeInference;

// Which inference was under way on a thread at a time. Up to 1.31 an inference's event follows those of its
// nodes; later versions sort events by their start: the order in the file has no meaning.
class Inferences {
 public:
  explicit Inferences(std::vector<OnnxRuntimeInference> inferences) : all_(std::move(inferences)) {
    std::sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    std::size_t last_to_end = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (by_thread_.size() <= all_[i].thread) by_thread_.resize(std::size_t{all_[i].thread} + 1);
      by_thread_[all_[i].thread].push_back(i);
      if (i > 0 && End(last_to_end) > all_[i].start) ++overlaps_;
      if (End(i) >= End(last_to_end)) last_to_end = i;
      last_to_end_.push_back(last_to_end);
    }
  }

  const std::vector<OnnxRuntimeInference>& all() const { return all_; }
  std::size_t overlaps() const { return overlaps_; }

  std::optional<std::size_t> At(std::int64_t time, std::uint32_t thread) const {
    if (thread < by_thread_.size()) {
      const std::vector<std::size_t>& own = by_thread_[thread];
      const auto next = std::upper_bound(own.begin(), own.end(), time,
                                         [&](std::int64_t t, std::size_t i) { return t < all_[i].start; });
      if (next != own.begin() && End(*(next - 1)) >= time) return *(next - 1);
    }
    // The node ran on a thread of the pool.
    const auto next = std::upper_bound(all_.begin(), all_.end(), time,
                                       [](std::int64_t t, const OnnxRuntimeInference& one) { return t < one.start; });
    if (next == all_.begin()) return std::nullopt;
    const std::size_t latest = static_cast<std::size_t>(next - all_.begin()) - 1;
    if (End(latest) >= time) return latest;
    if (End(last_to_end_[latest]) >= time) return last_to_end_[latest];
    return std::nullopt;
  }

 private:
  std::int64_t End(std::size_t i) const { return all_[i].start + all_[i].duration; }

  std::vector<OnnxRuntimeInference> all_;  // by start
  std::vector<std::vector<std::size_t>> by_thread_;
  std::vector<std::size_t> last_to_end_;  // of those up to each
  std::size_t overlaps_ = 0;
};

// What each execution counts for: an inference after the warm-up, or nothing.
struct Placement {
  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> inference_of;  // by execution
  std::vector<Latency> profiled;
};

Placement Place(const OnnxRuntimeEvents& events, std::vector<std::string>& warnings) {
  Placement placement;
  if (events.inferences.empty()) {
    placement.inference_of.assign(events.executions.size(), 0);
    warnings.push_back("No inference boundaries in the profile; treating it as one inference");
    return placement;
  }
  const Inferences inferences(events.inferences);
  placement.inference_of.reserve(events.executions.size());
  if (inferences.overlaps() > 0) {
    warnings.push_back(fmt::format("{} inferences began while others ran: their layers compete for the processor",
                                   inferences.overlaps()));
  }
  std::vector<bool> has_nodes(inferences.all().size(), false);
  std::size_t outside = 0;
  for (const ingest::OnnxRuntimeExecution& execution : events.executions) {
    const std::optional<std::size_t> inference = inferences.At(execution.start, execution.thread);
    placement.inference_of.push_back(inference ? static_cast<std::uint32_t>(*inference) : Placement::kNothing);
    if (inference) {
      has_nodes[*inference] = true;
    } else {
      ++outside;
    }
  }
  const auto shown = static_cast<std::size_t>(std::count(has_nodes.begin(), has_nodes.end(), true));
  if (outside > 0) {
    warnings.push_back(fmt::format("{} executions of nodes outside any inference are left out", outside));
  }
  if (shown < has_nodes.size()) {
    warnings.push_back(
        fmt::format("{} of {} inferences ran no node (replays of a CUDA graph do not); the layers' times are those of "
                    "the others",
                    has_nodes.size() - shown, has_nodes.size()));
  }
  const std::size_t dropped = shown > 2 ? std::max<std::size_t>(1, shown / 5) : 0;
  std::vector<std::uint32_t> kept(has_nodes.size(), Placement::kNothing);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < has_nodes.size(); ++i) {
    if (!has_nodes[i] || seen++ < dropped) continue;
    kept[i] = static_cast<std::uint32_t>(placement.profiled.size());
    placement.profiled.emplace_back(static_cast<double>(inferences.all()[i].duration));
  }
  for (std::uint32_t& inference : placement.inference_of)
    if (inference != Placement::kNothing) inference = kept[inference];
  return placement;
}

// The times of a layer in each inference that it ran in.
class LayerTimes {
 public:
  // Executions come nearly in the order of inferences; those of one inference are added up.
  void Add(std::uint32_t inference, double microseconds) {
    if (!times_.empty() && times_.back().inference == inference) {
      times_.back().microseconds += microseconds;
      return;
    }
    is_sorted_ = is_sorted_ && (times_.empty() || times_.back().inference < inference);
    times_.push_back({inference, microseconds});
  }

  void Sort() {
    if (is_sorted_) return;
    std::stable_sort(times_.begin(), times_.end(),
                     [](const Time& a, const Time& b) { return a.inference < b.inference; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < times_.size(); ++i) {
      if (times_[i].inference == times_[last].inference) {
        times_[last].microseconds += times_[i].microseconds;
      } else {
        times_[++last] = times_[i];
      }
    }
    times_.resize(last + 1);
    is_sorted_ = true;
  }

  // Once sorted, to an inference that it ran in.
  void AddToOneOf(std::uint32_t inference, double microseconds) {
    const auto found = std::lower_bound(times_.begin(), times_.end(), inference,
                                        [](const Time& time, std::uint32_t i) { return time.inference < i; });
    INFIMUM_CHECK(found != times_.end() && found->inference == inference, "a kernel's layer ran in its inference");
    found->microseconds += microseconds;
  }

  bool empty() const { return times_.empty(); }
  std::vector<Latency> Samples() const {
    std::vector<Latency> samples;
    samples.reserve(times_.size());
    for (const Time& time : times_) samples.emplace_back(time.microseconds);
    return samples;
  }

 private:
  struct Time {
    std::uint32_t inference;
    double microseconds;
  };
  std::vector<Time> times_;
  bool is_sorted_ = true;
};

// Its nodes return before their kernels ran. TensorRT's wait for them by default.
bool OnlyStartsKernels(std::string_view provider) {
  return provider == "CUDAExecutionProvider" || provider == "CudaPluginExecutionProvider" ||
         provider == "ROCMExecutionProvider";
}

// By layer: whether its time is that of its kernels.
std::vector<bool> OnDevice(const OnnxRuntimeEvents& events) {
  std::set<std::string_view> providers;
  const auto provider_of = [&](std::size_t execution) -> std::string_view {
    return events.layers[events.executions[execution].layer].provider;
  };
  for (const ingest::OnnxRuntimeKernel& kernel : events.kernels) providers.insert(provider_of(kernel.execution));
  // What a node of the CPU copies from a device is part of what it takes.
  providers.erase("CPUExecutionProvider");
  std::vector<bool> on_device;
  for (const ProfiledLayer& layer : events.layers)
    on_device.push_back(providers.contains(layer.provider) || OnlyStartsKernels(layer.provider));
  return on_device;
}

std::string AlgorithmOf(const std::map<NameId, double>& kernels, const NameTable& names) {
  const auto longest = std::max_element(kernels.begin(), kernels.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  return longest == kernels.end() ? std::string() : std::string(names.text(longest->first));
}

}  // namespace

bool IsOnnxRuntimeProfile(std::string_view events) {
  const auto has = [&](std::string_view text) { return events.find(text) != std::string_view::npos; };
  return has("\"model_loading_uri\"") || has("\"session_initialization\"") || has("_kernel_time\"");
}

Result<RunProfile> ReadOnnxRuntimeProfile(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(OnnxRuntimeEvents events, ingest::ReadOnnxRuntimeEvents(input, origin));
  RunProfile run;
  run.framework = framework::kOnnxRuntime;
  run.warnings = std::move(events.remarks);
  run.threads = events.threads;
  run.shapes_vary = events.shapes_vary;
  run.skipped_share = events.skipped_share;
  if (run.shapes_vary)
    run.warnings.emplace_back(
        "input shapes of nodes differ between inferences, so the times are medians over different work; profile one "
        "shape at a time");
  Placement placement = Place(events, run.warnings);
  run.profiled = std::move(placement.profiled);
  const std::vector<bool> on_device = OnDevice(events);

  const std::size_t layers = events.layers.size();
  std::vector<LayerTimes> times(layers);
  std::vector<std::map<NameId, double>> kernels(layers);
  for (std::size_t e = 0; e < events.executions.size(); ++e) {
    const ingest::OnnxRuntimeExecution& execution = events.executions[e];
    if (placement.inference_of[e] == Placement::kNothing) continue;
    // Also of a layer without kernels: it ran, and took nothing.
    times[execution.layer].Add(placement.inference_of[e],
                               on_device[execution.layer] ? 0.0 : static_cast<double>(execution.duration));
  }
  for (LayerTimes& of_layer : times) of_layer.Sort();
  for (const ingest::OnnxRuntimeKernel& kernel : events.kernels) {
    const std::uint32_t layer = events.executions[kernel.execution].layer;
    const std::uint32_t inference = placement.inference_of[kernel.execution];
    if (inference == Placement::kNothing || !on_device[layer]) continue;
    times[layer].AddToOneOf(inference, static_cast<double>(kernel.duration));
    kernels[layer][kernel.name] += static_cast<double>(kernel.duration);
  }

  std::size_t launched_alone = 0, without_kernels = 0, with_kernels = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    // What ran in the warm-up alone (initialisation) is no layer of an inference.
    if (times[l].empty()) continue;
    ProfiledLayer& layer = events.layers[l];
    layer.algorithm = AlgorithmOf(kernels[l], events.names);
    const bool is_unknown = on_device[l] && events.kernels.empty();
    if (is_unknown) {
      ++launched_alone;
    } else {
      layer.samples = times[l].Samples();
      if (on_device[l]) ++(kernels[l].empty() ? without_kernels : with_kernels);
    }
    run.layers.push_back(std::move(layer));
  }
  if (run.layers.empty()) {
    return Error{fmt::format(
        "{}: no node of the profile ran within an inference ('model_run'); profile whole inferences", origin)};
  }
  if (launched_alone > 0) {
    run.warnings.push_back(fmt::format(
        "{} layers ran on a GPU whose kernels are not in the profile: their times are those of the host's launches. "
        "Profile with a build of ONNX Runtime that has --enable_cuda_profiling, or with Nsight Systems",
        launched_alone));
  }
  if (without_kernels > 0) {
    run.warnings.push_back(fmt::format("{} of {} layers on the GPU started no kernel and count as 0 µs there",
                                       without_kernels, with_kernels + without_kernels));
  }
  if (events.stray_kernels > 0) {
    run.warnings.push_back(
        fmt::format("{} kernels and copies ({} of the whole profile) belong to no layer: "
                    "mostly inputs and outputs that were copied",
                    events.stray_kernels, FormatLatency(events.stray_time)));
  }
  return run;
}

}  // namespace infimum
