#include "src/readers/profiles/tensorrt/tensorrt_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "infimum/base/text.h"
#include "src/core/graph/framework_names.h"
#include "src/readers/files/file_start.h"
#include "src/readers/files/input_file.h"
#include "src/readers/profiles/tensorrt/tensorrt_files.h"
#include "src/readers/profiles/tensorrt/tensorrt_words.h"

namespace infimum {
namespace {

using ingest::TensorRtInference;
using ingest::TensorRtLayers;
using ingest::TensorRtProfile;

constexpr Latency kUsualWarmUp = std::chrono::milliseconds(200);  // trtexec's own
constexpr std::size_t kNamesInAWarning = 5;

std::string Milliseconds(Latency time) { return FormatNumber(std::chrono::duration<double, std::milli>(time).count()); }

// "3 layers ...: 'a', 'b', 'c'"
std::string Named(std::string_view what, const std::vector<std::string>& names) {
  std::string text = fmt::format("{} {}{}: ", names.size(), names.size() == 1 ? "layer " : "layers ", what);
  for (std::size_t i = 0; i < std::min(names.size(), kNamesInAWarning); ++i)
    text += (i == 0 ? "" : ", ") + Quoted(names[i]);
  if (names.size() > kNamesInAWarning) text += fmt::format(" and {} more", names.size() - kNamesInAWarning);
  return text;
}

// Several layers with one name are matched in order: the first in the profile is the first of the engine; where a loop
// runs its body again, they start over.
class LayersByName {
 public:
  explicit LayersByName(const std::vector<ProfiledLayer>& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) by_name_[layers[i].name].positions.push_back(i);
  }

  std::optional<std::size_t> Next(const std::string& name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return std::nullopt;
    Places& places = found->second;
    return places.positions[places.used++ % places.positions.size()];
  }

 private:
  struct Places {
    std::vector<std::size_t> positions;
    std::size_t used = 0;
  };
  std::unordered_map<std::string, Places> by_name_;
};

// Puts the profile's times on the engine's layers; layers that only the profile has follow the one they followed there.
void AddTimes(const TensorRtProfile& profile, std::string_view origin, TensorRtLayers& engine,
              std::vector<std::string>& warnings) {
  LayersByName by_name(engine.layers);
  const std::size_t known = engine.layers.size();
  std::vector<std::vector<std::size_t>> added_behind(known + 1);  // [0]: before the first
  std::vector<std::string> unknown;
  std::size_t behind = 0;
  for (const TensorRtProfile::Layer& timed : profile.layers) {
    if (const std::optional<std::size_t> at = by_name.Next(timed.name)) {
      std::vector<Latency>& samples = engine.layers[*at].samples;
      if (samples.empty()) samples.emplace_back(0);
      samples[0] += timed.time;
      behind = *at + 1;
      continue;
    }
    unknown.push_back(timed.name);
    bool is_region = false;
    ProfiledLayer layer = ingest::NamedTensorRtLayer(timed.name, "", &is_region);
    if (is_region) engine.regions.push_back(timed.name);
    layer.samples = {timed.time};
    std::string_view name = timed.name;
    engine.profiles.push_back(ingest::CutOptimizationProfile(name));
    added_behind[behind].push_back(engine.layers.size());
    engine.layers.push_back(std::move(layer));
  }
  if (unknown.empty()) return;
  warnings.push_back(fmt::format("{}: {}", origin, Named("with a time but not in the layer information", unknown)));

  TensorRtLayers ordered;
  const auto take = [&](std::size_t at) {
    ordered.layers.push_back(std::move(engine.layers[at]));
    ordered.profiles.push_back(engine.profiles[at]);
  };
  for (std::size_t i = 0; i <= known; ++i) {
    if (i > 0) take(i - 1);
    for (const std::size_t at : added_behind[i]) take(at);
  }
  engine.layers = std::move(ordered.layers);
  engine.profiles = std::move(ordered.profiles);
}

// An engine holds its layers once for every optimization profile, and a run uses one: those with a time, or the first.
void KeepOneProfile(std::string_view origin, TensorRtLayers& engine, std::vector<std::string>& warnings) {
  std::set<int> used;
  for (std::size_t i = 0; i < engine.layers.size(); ++i)
    if (!engine.layers[i].samples.empty()) used.insert(engine.profiles[i]);
  if (used.empty() && !engine.profiles.empty()) used.insert(std::ranges::min(engine.profiles));
  std::vector<ProfiledLayer> kept;
  for (std::size_t i = 0; i < engine.layers.size(); ++i)
    if (used.contains(engine.profiles[i])) kept.push_back(std::move(engine.layers[i]));
  if (const std::size_t left_out = engine.layers.size() - kept.size(); left_out > 0) {
    warnings.push_back(
        fmt::format("{}: {} layers of other optimization profiles of the engine are left out", origin, left_out));
  }
  engine.layers = std::move(kept);
}

// "3s (+ 200ms warm up)", trtexec's words for --duration and --warmUp.
Latency WarmUpOf(const RunProfile& run) {
  const auto found = run.settings.find("duration");
  if (found == run.settings.end()) return kUsualWarmUp;
  const std::string_view text = found->second;
  const std::size_t begin = text.find("(+ "), end = text.find("ms warm up");
  if (begin == text.npos || end == text.npos || end < begin + 3) return kUsualWarmUp;
  const std::optional<double> number = ParseNumber(text.substr(begin + 3, end - begin - 3));
  return number && *number >= 0 ? Latency(std::chrono::duration<double, std::milli>(*number)) : kUsualWarmUp;
}

void AddMedian(const std::vector<TensorRtInference>& inferences, std::optional<Latency> TensorRtInference::*field,
               const char* setting, RunProfile& run) {
  std::vector<Latency> times;
  for (const TensorRtInference& inference : inferences)
    if (inference.*field) times.push_back(*(inference.*field));
  if (times.empty()) return;
  std::ranges::sort(times);
  const std::size_t half = times.size() / 2;
  const Latency median = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
  run.settings[setting] = Milliseconds(median);
}

void AddInferences(std::vector<TensorRtInference> inferences, std::string_view origin, RunProfile& run) {
  const Latency warm_up = WarmUpOf(run);
  const auto is_warm = [&](const TensorRtInference& one) { return one.start && *one.start < warm_up; };
  const auto dropped = static_cast<std::size_t>(std::ranges::count_if(inferences, is_warm));
  if (dropped == inferences.size()) {
    if (inferences.empty()) return;
    run.warnings.push_back(fmt::format(
        "{}: all {} inferences began in the first {} ms, which are the warm-up; they are kept. Run trtexec for longer",
        origin, inferences.size(), Milliseconds(warm_up)));
  } else if (dropped > 0) {
    std::erase_if(inferences, is_warm);
    run.settings["warm_up_inferences_left_out"] = std::to_string(dropped);
  }
  RunRepetition repetition;
  for (const TensorRtInference& inference : inferences) repetition.samples.push_back(inference.compute);
  run.end_to_end.push_back(std::move(repetition));
  AddMedian(inferences, &TensorRtInference::latency, "host_latency_median_ms", run);
  AddMedian(inferences, &TensorRtInference::enqueue, "enqueue_median_ms", run);
}

Status AddLayers(const TensorRtStreams& streams, RunProfile& run) {
  TensorRtLayers engine;
  if (streams.layer_info.input != nullptr) {
    INFIMUM_ASSIGN_OR_RETURN(engine, ingest::ReadTensorRtLayers(*streams.layer_info.input, streams.layer_info.origin));
  }
  const std::string& graph = streams.layer_info.origin;
  if (streams.profile.input != nullptr) {
    INFIMUM_ASSIGN_OR_RETURN(const TensorRtProfile profile,
                             ingest::ReadTensorRtProfile(*streams.profile.input, streams.profile.origin));
    if (profile.inferences) run.settings["profiled_inferences"] = std::to_string(*profile.inferences);
    if (profile.inferences == 1) {
      run.warnings.push_back(
          fmt::format("{}: the layers' times come from a single inference and vary; profile more inferences "
                      "(--iterations, --duration)",
                      streams.profile.origin));
    }
    if (streams.layer_info.input == nullptr) {
      for (const TensorRtProfile::Layer& timed : profile.layers) {
        bool is_region = false;
        engine.layers.push_back(ingest::NamedTensorRtLayer(timed.name, "", &is_region));
        engine.layers.back().samples = {timed.time};
        engine.profiles.push_back(0);
        if (is_region) engine.regions.push_back(timed.name);
      }
    } else {
      AddTimes(profile, streams.profile.origin, engine, run.warnings);
    }
  }
  KeepOneProfile(graph, engine, run.warnings);
  if (streams.profile.input != nullptr) {
    std::vector<std::string> untimed;
    for (const ProfiledLayer& layer : engine.layers)
      if (layer.samples.empty()) untimed.push_back(layer.name);
    if (!untimed.empty()) {
      run.warnings.push_back(
          fmt::format("{}: {}", graph, Named("without a time in " + streams.profile.origin, untimed)));
    }
  }
  if (!engine.regions.empty()) {
    run.warnings.push_back(
        fmt::format("{}: {}; build the engine with --profilingVerbosity=detailed, in TensorRT 10, to see their nodes",
                    streams.layer_info.input != nullptr ? graph : streams.profile.origin,
                    Named("of which only the first and the last node are known", engine.regions)));
  }
  if (!engine.bindings.empty()) run.settings["bindings"] = Join(engine.bindings, ", ");
  run.layers = std::move(engine.layers);
  return {};
}

}  // namespace

std::string_view ingest::Name(TensorRtKind kind) {
  constexpr std::string_view kNames[] = {"not a file of a TensorRT engine", "TensorRT layer information",
                                         "TensorRT layer profile", "TensorRT inference times",
                                         "metadata of a TensorRT engine"};
  return kNames[static_cast<std::size_t>(kind)];
}

// An object by its first key, a list by a key of its first entries: names of layers come later.
ingest::TensorRtKind ingest::TensorRtKindOf(std::string_view start) {
  const auto has = [&](std::string_view key) { return start.find(key) != std::string_view::npos; };
  if (const std::optional<std::string_view> keys = Behind(start, "{")) {
    for (const std::string_view first : {"\"Layers\"", "\"Bindings\""})
      if (keys->starts_with(first)) return TensorRtKind::kLayerInfo;
    for (const std::string_view first : {"\"performance_summary\"", "\"inference_options\"", "\"device_information\"",
                                         "\"model_options\"", "\"build_options\""}) {
      if (keys->starts_with(first)) return TensorRtKind::kMetadata;
    }
    return TensorRtKind::kNone;
  }
  const std::optional<std::string_view> list = Behind(start, "[");
  const std::optional<std::string_view> keys = list ? Behind(*list, "{") : std::nullopt;
  if (!keys) return TensorRtKind::kNone;
  if (has("\"averageMs\"") || (keys->starts_with("\"count\"") && (has("\"timeMs\"") || !has(","))))
    return TensorRtKind::kProfile;
  if (has("\"computeMs\"")) return TensorRtKind::kTimes;
  if (has("\"MULTIPROCESSOR_COUNT\"") && has("\"ComputeCapability\"")) return TensorRtKind::kMetadata;
  return TensorRtKind::kNone;
}

Result<TensorRtFiles> SortTensorRtFiles(std::span<const std::filesystem::path> files) {
  using ingest::TensorRtKind;
  TensorRtFiles sorted;
  for (const std::filesystem::path& path : files) {
    INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
    INFIMUM_ASSIGN_OR_RETURN(const TensorRtKind kind,
                             ingest::WithTextOf(file, path.string(), [](std::istream& text) -> Result<TensorRtKind> {
                               return ingest::TensorRtKindOf(ingest::FileStart(text).text());
                             }));
    std::optional<std::filesystem::path>* place = nullptr;
    if (kind == TensorRtKind::kLayerInfo) place = &sorted.layer_info;
    if (kind == TensorRtKind::kProfile) place = &sorted.profile;
    if (kind == TensorRtKind::kTimes) place = &sorted.times;
    if (kind == TensorRtKind::kMetadata) {
      sorted.metadata.push_back(path);
    } else if (place == nullptr) {
      return Error{
          fmt::format("{}: not a file of a TensorRT engine, as trtexec's --exportLayerInfo, --exportProfile and "
                      "--exportTimes write them",
                      path.string())};
    } else if (place->has_value()) {
      return Error{fmt::format("{}: a second {}, beside {}; give one engine at a time", path.string(), Name(kind),
                               (*place)->string())};
    } else {
      *place = path;
    }
  }
  return sorted;
}

Result<RunProfile> ReadTensorRtEngine(const TensorRtStreams& streams) {
  RunProfile run;
  run.framework = framework::kTensorRt;
  for (const TensorRtStream& metadata : streams.metadata) {
    if (metadata.input == nullptr) continue;
    INFIMUM_RETURN_IF_ERROR(ingest::AddTensorRtMetadata(*metadata.input, metadata.origin, run));
  }
  INFIMUM_RETURN_IF_ERROR(AddLayers(streams, run));
  if (streams.times.input != nullptr) {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<TensorRtInference> inferences,
                             ingest::ReadTensorRtTimes(*streams.times.input, streams.times.origin));
    AddInferences(std::move(inferences), streams.times.origin, run);
  }
  if (run.layers.empty() && run.end_to_end.empty()) {
    for (const TensorRtStream* stream : {&streams.layer_info, &streams.profile, &streams.times})
      if (stream->input != nullptr) return Error{stream->origin + ": contains neither a layer nor an inference"};
    return Error{"a TensorRT engine needs its layer information, its profile or its times"};
  }
  return run;
}

Result<RunProfile> ReadTensorRtEngine(const TensorRtFiles& files) {
  std::vector<std::unique_ptr<std::ifstream>> open;
  const auto stream_of = [&](const std::filesystem::path& path) -> Result<TensorRtStream> {
    INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
    open.push_back(std::make_unique<std::ifstream>(std::move(file)));
    return TensorRtStream{open.back().get(), path.string()};
  };
  TensorRtStreams streams;
  if (files.layer_info) {
    INFIMUM_ASSIGN_OR_RETURN(streams.layer_info, stream_of(*files.layer_info));
  }
  if (files.profile) {
    INFIMUM_ASSIGN_OR_RETURN(streams.profile, stream_of(*files.profile));
  }
  if (files.times) {
    INFIMUM_ASSIGN_OR_RETURN(streams.times, stream_of(*files.times));
  }
  for (const std::filesystem::path& path : files.metadata) {
    INFIMUM_ASSIGN_OR_RETURN(TensorRtStream stream, stream_of(path));
    streams.metadata.push_back(std::move(stream));
  }
  return ReadTensorRtEngine(streams);
}

}  // namespace infimum
