#include "src/readers/profiles/run_file.h"

#include <fmt/format.h>

#include <fstream>

#include "infimum/base/text.h"
#include "src/readers/files/input_file.h"
#include "src/readers/files/json_fields.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"

namespace infimum {
namespace {

using ingest::Json;

constexpr std::string_view kRunSchema = "infimum.run/1";

constexpr std::size_t kMostDims = 64;
constexpr std::int64_t kMostThreads = 1 << 20;

Result<std::vector<ProfiledTensor>> ReadTensors(const Json& layer, const char* name) {
  std::vector<ProfiledTensor> tensors;
  const auto list = layer.find(name);
  if (list == layer.end()) return tensors;
  if (!list->is_array()) return Error{fmt::format("'{}' is not a list", name)};
  for (const Json& json : *list) {
    if (!json.is_object()) return Error{fmt::format("'{}' holds what is not an object", name)};
    ProfiledTensor tensor;
    INFIMUM_ASSIGN_OR_RETURN(tensor.dtype, ingest::TextField(json, "dtype"));
    INFIMUM_ASSIGN_OR_RETURN(tensor.layout, ingest::TextField(json, "layout"));
    const auto dims = json.find("dims");
    if (dims != json.end() && (!dims->is_array() || dims->size() > kMostDims))
      return Error{fmt::format("'dims' in '{}' is not a list of at most {} extents", name, kMostDims)};
    if (dims != json.end()) {
      for (const Json& dim : *dims) {
        if (!dim.is_number_unsigned() || dim.get<std::uint64_t>() > (std::uint64_t{1} << 40))
          return Error{fmt::format("'dims' in '{}' holds what is no extent", name)};
        tensor.dims.push_back(dim.get<std::int64_t>());
      }
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Json TensorsJson(const std::vector<ProfiledTensor>& tensors) {
  Json list = Json::array();
  for (const ProfiledTensor& tensor : tensors)
    list.push_back({{"dtype", tensor.dtype}, {"dims", tensor.dims}, {"layout", tensor.layout}});
  return list;
}

Result<ProfiledLayer> ReadProfiledLayer(const Json& json) {
  if (!json.is_object()) return Error{"a layer is not an object"};
  ProfiledLayer layer;
  INFIMUM_ASSIGN_OR_RETURN(layer.name, ingest::TextField(json, "name"));
  INFIMUM_ASSIGN_OR_RETURN(layer.op, ingest::TextField(json, "op"));
  INFIMUM_ASSIGN_OR_RETURN(layer.provider, ingest::TextField(json, "provider"));
  INFIMUM_ASSIGN_OR_RETURN(layer.nodes, ingest::TextsField(json, "nodes"));
  INFIMUM_ASSIGN_OR_RETURN(layer.inputs, ingest::TextsField(json, "inputs"));
  INFIMUM_ASSIGN_OR_RETURN(layer.outputs, ingest::TextsField(json, "outputs"));
  INFIMUM_ASSIGN_OR_RETURN(layer.samples, ingest::LatenciesField(json, "samples_us"));
  INFIMUM_ASSIGN_OR_RETURN(layer.input_tensors, ReadTensors(json, "input_tensors"));
  INFIMUM_ASSIGN_OR_RETURN(layer.output_tensors, ReadTensors(json, "output_tensors"));
  INFIMUM_ASSIGN_OR_RETURN(layer.algorithm, ingest::TextField(json, "algorithm"));
  INFIMUM_ASSIGN_OR_RETURN(layer.serves, ingest::TextField(json, "serves"));
  return layer;
}

// Null and what is not there are an empty list.
Result<const Json*> ListField(const Json& document, const char* name) {
  static const Json empty = Json::array();
  const auto found = document.find(name);
  if (found == document.end() || found->is_null()) return &empty;
  if (!found->is_array()) return Error{fmt::format("'{}' is no list", name)};
  return &*found;
}

Result<Latency> ReadLatency(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return Error{fmt::format("'{}' in 'idle' is not a number", name)};
  const double microseconds = found->get<double>();
  if (!(microseconds >= 0 && microseconds < 1e15))
    return Error{fmt::format("'{}' in 'idle' is not a duration in microseconds", name)};
  return Latency(microseconds);
}

Status ReadIdle(const Json& document, RunProfile& run) {
  const auto idle = document.find("idle");
  if (idle == document.end() || idle->is_null()) return {};
  if (!idle->is_object()) return Error{"'idle' is not an object"};
  DeviceIdle& into = run.idle.emplace();
  INFIMUM_ASSIGN_OR_RETURN(into.host, ReadLatency(*idle, "host_us"));
  INFIMUM_ASSIGN_OR_RETURN(into.launch, ReadLatency(*idle, "launch_us"));
  INFIMUM_ASSIGN_OR_RETURN(into.queued, ReadLatency(*idle, "queued_us"));
  INFIMUM_ASSIGN_OR_RETURN(into.overlapped, ReadLatency(*idle, "overlapped_us"));
  return {};
}

// The engine's own profile gives the times, the engine's graph the values: joined by node name.
Status ReadProfile(const Json& document, const std::string& path, RunProfile& run) {
  // A run may come from others: it names what it likes.
  const std::string origin = fmt::format("'profile': {}", Quoted(path));
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path, origin));
  INFIMUM_ASSIGN_OR_RETURN(RunProfile profile,
                           ingest::WithTextOf(file, origin, [&](FileKind /*kind*/, std::istream& text) {
                             return ReadOnnxRuntimeProfile(text, origin);
                           }));
  run.layers = std::move(profile.layers);
  if (run.profiled.empty()) run.profiled = std::move(profile.profiled);
  if (!run.threads) run.threads = profile.threads;
  run.warnings.insert(run.warnings.end(), profile.warnings.begin(), profile.warnings.end());
  std::map<std::string, ProfiledLayer> nodes;
  INFIMUM_ASSIGN_OR_RETURN(const Json* const engine_nodes, ListField(document, "engine_nodes"));
  for (const Json& json : *engine_nodes) {
    INFIMUM_ASSIGN_OR_RETURN(ProfiledLayer node, ReadProfiledLayer(json));
    const std::string name = node.name;
    nodes.emplace(name, std::move(node));
  }
  for (ProfiledLayer& layer : run.layers) {
    const auto found = nodes.find(layer.name);
    if (found == nodes.end()) continue;
    layer.inputs = found->second.inputs;
    layer.outputs = found->second.outputs;
  }
  return {};
}

// Takes out the inferences that other programs disturbed: they, and what the layers took in them, say nothing about
// the model. A layer that has no sample for each inference keeps all of its samples.
Status DropDisturbed(const Json& document, RunProfile& run) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* const disturbed, ListField(document, "disturbed"));
  std::vector<bool> drops(run.profiled.size());
  for (const Json& index : *disturbed) {
    if (!index.is_number_unsigned() || index.get<std::uint64_t>() >= drops.size())
      return Error{"'disturbed' must be a list of indices into 'profiled_us'"};
    drops[index.get<std::size_t>()] = true;
  }
  const auto drop_from = [&drops](std::vector<Latency>& samples) {
    if (samples.size() != drops.size()) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (!drops[i]) samples[kept++] = samples[i];
    samples.resize(kept);
  };
  for (ProfiledLayer& layer : run.layers) drop_from(layer.samples);
  drop_from(run.profiled);
  return {};
}

Result<RunProfile> ReadDocument(const Json& document) {
  if (!document.is_object()) return Error{"not a run: no JSON object"};
  RunProfile run;
  INFIMUM_ASSIGN_OR_RETURN(const std::string schema, ingest::TextField(document, "schema"));
  if (schema != kRunSchema) {
    return Error{fmt::format("schema {} is not {}; a newer one needs a newer infimum", Quoted(schema), kRunSchema)};
  }
  INFIMUM_ASSIGN_OR_RETURN(run.framework, ingest::TextField(document, "framework"));
  INFIMUM_ASSIGN_OR_RETURN(run.framework_version, ingest::TextField(document, "framework_version"));
  INFIMUM_ASSIGN_OR_RETURN(run.model_name, ingest::TextField(document, "model"));
  INFIMUM_ASSIGN_OR_RETURN(run.model_sha256, ingest::TextField(document, "model_sha256"));
  if (const auto threads = document.find("threads"); threads != document.end() && !threads->is_null()) {
    INFIMUM_ASSIGN_OR_RETURN(run.threads, ingest::IntegerField(document, "threads", 1, kMostThreads, 1));
  }
  INFIMUM_ASSIGN_OR_RETURN(run.contract, ingest::TextField(document, "contract"));
  INFIMUM_ASSIGN_OR_RETURN(run.device, ingest::TextField(document, "device"));
  INFIMUM_ASSIGN_OR_RETURN(run.settings, ingest::TextMapField(document, "settings"));
  INFIMUM_ASSIGN_OR_RETURN(run.warnings, ingest::TextsField(document, "warnings"));
  if (const auto dims = document.find("dims"); dims != document.end() && !dims->is_null()) {
    if (!dims->is_object()) return Error{"'dims' is no object of numbers by name"};
    for (const auto& [name, extent] : dims->items()) {
      INFIMUM_ASSIGN_OR_RETURN(run.dims[name], ingest::IntegerField(*dims, name.c_str(), 0, std::int64_t{1} << 40, 0));
    }
  }
  INFIMUM_ASSIGN_OR_RETURN(const Json* const end_to_end, ListField(document, "end_to_end"));
  for (const Json& json : *end_to_end) {
    if (!json.is_object()) return Error{"'end_to_end' holds what is not an object"};
    RunRepetition repetition;
    INFIMUM_ASSIGN_OR_RETURN(repetition.samples, ingest::LatenciesField(json, "samples_us"));
    if (!repetition.samples.empty()) run.end_to_end.push_back(std::move(repetition));
  }
  INFIMUM_ASSIGN_OR_RETURN(run.noisy, ingest::TextField(document, "noisy"));
  if (run.framework.empty()) return Error{"'framework' is missing"};
  if (run.end_to_end.empty()) return Error{"'end_to_end' has no samples"};
  INFIMUM_ASSIGN_OR_RETURN(const Json* const layers, ListField(document, "layers"));
  for (const Json& json : *layers) {
    INFIMUM_ASSIGN_OR_RETURN(ProfiledLayer layer, ReadProfiledLayer(json));
    run.layers.push_back(std::move(layer));
  }
  INFIMUM_ASSIGN_OR_RETURN(run.profiled, ingest::LatenciesField(document, "profiled_us"));
  INFIMUM_RETURN_IF_ERROR(ReadIdle(document, run));
  INFIMUM_ASSIGN_OR_RETURN(const std::string profile, ingest::TextField(document, "profile"));
  if (!profile.empty() && run.layers.empty()) INFIMUM_RETURN_IF_ERROR(ReadProfile(document, profile, run));
  INFIMUM_RETURN_IF_ERROR(DropDisturbed(document, run));
  return run;
}

Json Microseconds(const std::vector<Latency>& samples) {
  Json list = Json::array();
  for (const Latency sample : samples) list.push_back(sample.count());
  return list;
}

}  // namespace

Result<RunProfile> ReadRun(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ingest::ParseJson(input, origin));
  Result<RunProfile> run = ReadDocument(document);
  if (!run) return Within(std::string(origin), run.error());
  return run;
}

std::string FormatRun(const RunProfile& run) {
  Json document = {
      {"schema", kRunSchema},     {"framework", run.framework},       {"framework_version", run.framework_version},
      {"model", run.model_name},  {"model_sha256", run.model_sha256}, {"dims", run.dims},
      {"threads", nullptr},       {"contract", run.contract},         {"device", run.device},
      {"settings", run.settings}, {"end_to_end", Json::array()},      {"layers", Json::array()},
      {"warnings", run.warnings}};
  if (run.threads) document["threads"] = *run.threads;
  for (const RunRepetition& repetition : run.end_to_end) {
    document["end_to_end"].push_back({{"samples_us", Microseconds(repetition.samples)}});
  }
  if (!run.noisy.empty()) document["noisy"] = run.noisy;
  if (!run.profiled.empty()) document["profiled_us"] = Microseconds(run.profiled);
  if (run.idle) {
    document["idle"] = {{"host_us", run.idle->host.count()},
                        {"launch_us", run.idle->launch.count()},
                        {"queued_us", run.idle->queued.count()},
                        {"overlapped_us", run.idle->overlapped.count()}};
  }
  for (const ProfiledLayer& layer : run.layers) {
    document["layers"].push_back({{"name", layer.name},
                                  {"op", layer.op},
                                  {"provider", layer.provider},
                                  {"nodes", layer.nodes},
                                  {"inputs", layer.inputs},
                                  {"outputs", layer.outputs},
                                  {"samples_us", Microseconds(layer.samples)}});
    // What few engines tell stands only where it is told.
    Json& json = document["layers"].back();
    if (!layer.input_tensors.empty()) json["input_tensors"] = TensorsJson(layer.input_tensors);
    if (!layer.output_tensors.empty()) json["output_tensors"] = TensorsJson(layer.output_tensors);
    if (!layer.algorithm.empty()) json["algorithm"] = layer.algorithm;
    if (!layer.serves.empty()) json["serves"] = layer.serves;
  }
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace infimum
