#include "infimum/ingest/onnxruntime_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "src/ingest/onnxruntime_events.h"

namespace infimum {
namespace {

using ingest::OnnxRuntimeEvents;
using ingest::OnnxRuntimeInference;

// Which inference was under way on a thread at a time. Up to 1.31 an inference's event stands behind those of its
// nodes, and what comes after sorts events by their start: the order in the file says nothing.
class Inferences {
 public:
  explicit Inferences(std::vector<OnnxRuntimeInference> inferences) : all_(std::move(inferences)) {
    std::sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    std::size_t last_to_end = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      by_thread_[all_[i].thread].push_back(i);
      if (i > 0 && End(last_to_end) > all_[i].start) ++overlaps_;
      if (End(i) >= End(last_to_end)) last_to_end = i;
      last_to_end_.push_back(last_to_end);
    }
  }

  const std::vector<OnnxRuntimeInference>& all() const { return all_; }
  std::size_t overlaps() const { return overlaps_; }

  std::optional<std::size_t> At(std::int64_t time, std::int64_t thread) const {
    if (const auto own = by_thread_.find(thread); own != by_thread_.end()) {
      const auto next = std::upper_bound(own->second.begin(), own->second.end(), time,
                                         [&](std::int64_t t, std::size_t i) { return t < all_[i].start; });
      if (next != own->second.begin() && End(*(next - 1)) >= time) return *(next - 1);
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
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_thread_;
  std::vector<std::size_t> last_to_end_;  // of those up to each
  std::size_t overlaps_ = 0;
};

// What each execution counts for: an inference after the warm-up, or nothing.
struct Placement {
  std::vector<std::optional<std::size_t>> inference_of;  // by execution
  std::vector<Latency> profiled;
};

Placement Place(const OnnxRuntimeEvents& events, std::vector<std::string>& warnings) {
  Placement placement;
  if (events.inferences.empty()) {
    placement.inference_of.assign(events.executions.size(), 0);
    warnings.push_back("The profile has no end of an inference: all of it is taken as one");
    return placement;
  }
  const Inferences inferences(events.inferences);
  if (inferences.overlaps() > 0) {
    warnings.push_back(
        fmt::format("{} inferences began while others ran: their layers hold each other up", inferences.overlaps()));
  }
  std::vector<bool> has_nodes(inferences.all().size(), false);
  std::size_t outside = 0;
  for (const ingest::OnnxRuntimeExecution& execution : events.executions) {
    placement.inference_of.push_back(inferences.At(execution.start, execution.thread));
    if (placement.inference_of.back()) {
      has_nodes[*placement.inference_of.back()] = true;
    } else {
      ++outside;
    }
  }
  const auto shown = static_cast<std::size_t>(std::count(has_nodes.begin(), has_nodes.end(), true));
  if (outside > 0) {
    warnings.push_back(
        fmt::format("{} executions of nodes are left out: no inference was seen to end around them", outside));
  }
  if (shown < has_nodes.size()) {
    warnings.push_back(
        fmt::format("{} of {} inferences ran no node, as those replayed from a CUDA graph do; the "
                    "layers' times are of the others",
                    has_nodes.size() - shown, has_nodes.size()));
  }
  const std::size_t dropped = shown > 2 ? std::max<std::size_t>(1, shown / 5) : 0;
  std::vector<std::optional<std::size_t>> kept(has_nodes.size());
  std::size_t seen = 0;
  for (std::size_t i = 0; i < has_nodes.size(); ++i) {
    if (!has_nodes[i] || seen++ < dropped) continue;
    kept[i] = placement.profiled.size();
    placement.profiled.emplace_back(static_cast<double>(inferences.all()[i].duration));
  }
  for (std::optional<std::size_t>& inference : placement.inference_of)
    if (inference) inference = kept[*inference];
  return placement;
}

// Its nodes return before their kernels ran. TensorRT's wait for them unless told otherwise.
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

Result<RunProfile> ReadOnnxRuntimeProfile(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(OnnxRuntimeEvents events, ingest::ReadOnnxRuntimeEvents(input, origin));
  if (events.executions.empty())
    return Error{fmt::format("{}: not an ONNX Runtime profile: it has no node events", origin)};
  RunProfile run;
  run.framework = "onnxruntime";
  run.threads = events.threads;
  Placement placement = Place(events, run.warnings);
  run.profiled = std::move(placement.profiled);
  const std::vector<bool> on_device = OnDevice(events);

  const std::size_t layers = events.layers.size();
  std::vector<std::map<std::size_t, double>> times(layers);  // microseconds by inference
  std::vector<std::map<NameId, double>> kernels(layers);
  for (std::size_t e = 0; e < events.executions.size(); ++e) {
    const ingest::OnnxRuntimeExecution& execution = events.executions[e];
    if (!placement.inference_of[e]) continue;
    // Also of a layer without kernels: it ran, and took nothing.
    times[execution.layer][*placement.inference_of[e]] +=
        on_device[execution.layer] ? 0.0 : static_cast<double>(execution.duration);
  }
  for (const ingest::OnnxRuntimeKernel& kernel : events.kernels) {
    const std::size_t layer = events.executions[kernel.execution].layer;
    const std::optional<std::size_t> inference = placement.inference_of[kernel.execution];
    if (!inference || !on_device[layer]) continue;
    times[layer][*inference] += static_cast<double>(kernel.duration);
    kernels[layer][kernel.name] += static_cast<double>(kernel.duration);
  }

  std::size_t launched_alone = 0, without_kernels = 0, with_kernels = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    // What ran in the warm-up alone (initialisation) is no layer of an inference.
    if (times[l].empty()) continue;
    ProfiledLayer& layer = events.layers[l];
    layer.algorithm = AlgorithmOf(kernels[l], events.kernel_names);
    const bool is_unknown = on_device[l] && events.kernels.empty();
    if (is_unknown) {
      ++launched_alone;
    } else {
      for (const auto& [inference, microseconds] : times[l]) layer.samples.emplace_back(microseconds);
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
        "{} layers ran on a GPU whose kernels the profile does not show: it has the host's time to start them, which "
        "is "
        "not theirs. Profile with a build of ONNX Runtime that has --enable_cuda_profiling, or with Nsight Systems",
        launched_alone));
  }
  if (without_kernels > 0) {
    run.warnings.push_back(fmt::format("{} of {} layers on the GPU started no kernel and count as 0 us there",
                                       without_kernels, with_kernels + without_kernels));
  }
  if (events.stray_kernels > 0) {
    run.warnings.push_back(
        fmt::format("{} kernels and copies ({:.0f} us of the whole profile) belong to no layer: "
                    "mostly inputs and outputs that were copied",
                    events.stray_kernels, events.stray_time.count()));
  }
  return run;
}

}  // namespace infimum
