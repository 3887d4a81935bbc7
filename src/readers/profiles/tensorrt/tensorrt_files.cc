#include "src/readers/profiles/tensorrt/tensorrt_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <utility>

#include "infimum/base/text.h"
#include "src/readers/files/input_file.h"
#include "src/readers/files/json_document.h"
#include "src/readers/profiles/tensorrt/tensorrt_words.h"

namespace infimum::ingest {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// NaN or infinity at `begin`, outside of texts, becomes a text of question marks of the same length.
void HideNonNumber(std::string& text, std::size_t begin, std::size_t end) {
  std::string word = text.substr(begin, end - begin);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word != "nan" && word != "inf" && word != "infinity") return;
  if (begin > 0 && text[begin - 1] == '-') --begin;
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end), '?');
  text[begin] = text[end - 1] = '"';
}

void Repair(std::string& text) {
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        in_text = false;
      } else if (IsControl(text[i])) {
        text[i] = kNameSeparator;
      }
    } else if (text[i] == '"') {
      in_text = true;
    } else if (IsLetter(text[i])) {
      std::size_t end = i;
      while (end < text.size() && IsLetter(text[end])) ++end;
      HideNonNumber(text, i, end);
      i = end - 1;
    }
  }
}

}  // namespace

Result<Json> ParseTensorRtText(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(
      std::string text, WithTextOf(input, origin, [&](std::istream& unpacked) { return ReadWhole(unpacked, origin); }));
  Repair(text);
  return ParseDocument(text, origin);
}

std::string WithSeparators(std::string text) {
  std::ranges::replace_if(text, IsControl, kNameSeparator);
  return text;
}

namespace {

// "layer 12: 'averageMs' ..." names the layer too where it has a name.
std::string PlaceOf(std::string_view origin, std::size_t number, const Json& layer) {
  const auto name = layer.is_object() ? layer.find("name") : layer.end();
  if (name == layer.end() || !name->is_string()) return fmt::format("{}: layer {}", origin, number);
  return fmt::format("{}: layer {} ({})", origin, number, Quoted(name->get_ref<const std::string&>()));
}

using Milliseconds = std::chrono::duration<double, std::milli>;
constexpr Limits kUpToAYear{0, Milliseconds(std::chrono::hours(24 * 366)).count()};

struct LayerTimes {
  std::string name;
  std::optional<Milliseconds> median, average, sum;
};

void VisitFields(JsonReader& visit, LayerTimes& times) {
  visit.Lenient("name", times.name);
  visit("medianMs", times.median, kUpToAYear);
  visit("averageMs", times.average, kUpToAYear);
  visit("timeMs", times.sum, kUpToAYear);
}

Result<TensorRtProfile::Layer> ReadLayerTimes(const Json& json, const TensorRtProfile& profile) {
  LayerTimes times;
  INFIMUM_RETURN_IF_ERROR(FromJson(json, "", times));
  if (times.name.empty()) return Error{"has no 'name'"};
  std::optional<Latency> time = times.median ? times.median : times.average;
  if (!time && times.sum && profile.inferences) time = *times.sum / static_cast<double>(*profile.inferences);
  if (!time) return Error{"has no time: neither 'medianMs' nor 'averageMs'"};
  std::string name = WithSeparators(std::move(times.name));
  std::ranges::replace(name, kNameSeparator, '+');
  return TensorRtProfile::Layer{std::move(name), *time};
}

struct InferenceTimes {
  std::optional<Milliseconds> start, latency, compute, enqueue_begin, enqueue_end;
};

void VisitFields(JsonReader& visit, InferenceTimes& times) {
  visit("startComputeMs", times.start, kUpToAYear);
  visit("latencyMs", times.latency, kUpToAYear);
  visit("computeMs", times.compute, kUpToAYear);
  visit("startEnqMs", times.enqueue_begin, kUpToAYear);
  visit("endEnqMs", times.enqueue_end, kUpToAYear);
}

Result<TensorRtInference> ReadInference(const Json& json) {
  InferenceTimes times;
  INFIMUM_RETURN_IF_ERROR(FromJson(json, "", times));
  if (!times.compute) return Error{"has no 'computeMs'"};
  TensorRtInference inference;
  inference.start = times.start;
  inference.latency = times.latency;
  inference.compute = *times.compute;
  if (times.enqueue_begin && times.enqueue_end)
    inference.enqueue = std::max(*times.enqueue_end - *times.enqueue_begin, Milliseconds(0));
  return inference;
}

}  // namespace

Result<TensorRtProfile> ReadTensorRtProfile(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseTensorRtText(input, origin));
  if (!document.is_array()) {
    return Error{fmt::format("{}: not what 'trtexec --exportProfile' writes: no list of layers", origin)};
  }
  TensorRtProfile profile;
  for (std::size_t i = 0; i < document.size(); ++i) {
    const Json& json = document[i];
    if (i == 0 && json.is_object() && json.contains("count") && !json.contains("name")) {
      JsonReader fields(json);
      fields("count", profile.inferences, {0, 1e12});
      if (!fields.status().ok()) return Within(std::string(origin), fields.status().error());
      if (profile.inferences == 0) profile.inferences.reset();
      continue;
    }
    Result<TensorRtProfile::Layer> layer = ReadLayerTimes(json, profile);
    if (!layer) return Within(PlaceOf(origin, profile.layers.size() + 1, json), layer.error());
    profile.layers.push_back(*std::move(layer));
  }
  return profile;
}

Result<std::vector<TensorRtInference>> ReadTensorRtTimes(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseTensorRtText(input, origin));
  if (!document.is_array()) {
    return Error{fmt::format("{}: not what 'trtexec --exportTimes' writes: no list of inferences", origin)};
  }
  std::vector<TensorRtInference> inferences;
  for (const Json& json : document) {
    const Result<TensorRtInference> inference = ReadInference(json);
    if (!inference) {
      return Within(fmt::format("{}: inference {}", origin, inferences.size() + 1), inference.error());
    }
    inferences.push_back(*inference);
  }
  return inferences;
}

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;  // setting, value

constexpr std::size_t kLongestValue = 1000;

// A number or text in words; empty for everything else. Files have 8.0 for 8 and lists for versions.
std::string Words(const Json& value) {
  std::string words;
  if (value.is_string()) words = std::string(TrimSpace(value.get_ref<const std::string&>()));
  if (value.is_number_integer()) words = value.dump();
  if (value.is_number_float()) words = FormatNumber(value.get<double>());
  return words.substr(0, kLongestValue);
}

struct Option {
  std::string_view section;
  std::string_view key;
  std::string_view setting;
};

// Sizes and bus width are of no use where the name is known; the identifiers of a single card are left out.
constexpr std::array kOptions = {
    Option{"device_information", "Selected Device", "device_name"},
    Option{"device_information", "SMs", "multiprocessors"},
    Option{"device_information", "Device Global Memory", "device_memory"},
    Option{"build_options", "Precision", "precision"},
    Option{"build_options", "Sparsity", "sparsity"},
    Option{"build_options", "Builder optimization level", "builder_optimization_level"},
    Option{"inference_options", "Input inference shape", "input_shapes"},
    Option{"inference_options", "Input inference shapes", "input_shapes"},
    Option{"inference_options", "Streams", "streams"},
    Option{"inference_options", "Duration", "duration"},
    Option{"inference_options", "CUDA Graph", "cuda_graph"},
    Option{"inference_options", "Data transfers", "data_transfers"},
    Option{"inference_options", "Spin-wait", "spin_wait"},
    Option{"inference_options", "Separate profiling", "separate_profiling"},
};

const Json* Find(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

void AddMegahertz(const Json* value, double scale, const char* setting, Settings& facts) {
  if (value == nullptr || !value->is_number()) return;
  facts.emplace_back(setting, fmt::format("{:.0f}", value->get<double>() * scale));
}

// "8.6" as a text, and as the number that it became; a whole one lost its zero.
std::string CapabilityOf(const Json& value) {
  if (value.is_number()) return fmt::format("{:.1f}", value.get<double>());
  if (!value.is_array() || value.size() != 2) return Words(value);
  return Words(value[0]) + "." + Words(value[1]);
}

Settings FactsOfSections(const Json& document) {
  Settings facts;
  for (const Option& option : kOptions) {
    const Json* section = Find(document, option.section);
    const Json* value = section != nullptr ? Find(*section, option.key) : nullptr;
    if (value != nullptr) facts.emplace_back(option.setting, Words(*value));
  }
  if (const Json* device = Find(document, "device_information")) {
    if (const Json* capability = Find(*device, "Compute Capability"))
      facts.emplace_back("compute_capability", CapabilityOf(*capability));
    for (const char* key : {"Compute Clock Rate", "Application Compute Clock Rate"})
      AddMegahertz(Find(*device, key), 1e3, "clock_mhz", facts);
    for (const char* key : {"Memory Clock Rate", "Application Memory Clock Rate"})
      AddMegahertz(Find(*device, key), 1e3, "memory_clock_mhz", facts);
  }
  return facts;
}

// From cuDeviceGetAttribute(), in kilohertz.
Settings FactsOfDevice(const Json& device) {
  Settings facts;
  if (const Json* name = Find(device, "Name")) facts.emplace_back("device_name", Words(*name));
  if (const Json* capability = Find(device, "ComputeCapability"))
    facts.emplace_back("compute_capability", CapabilityOf(*capability));
  if (const Json* count = Find(device, "MULTIPROCESSOR_COUNT")) facts.emplace_back("multiprocessors", Words(*count));
  AddMegahertz(Find(device, "CLOCK_RATE"), 1e-3, "clock_mhz", facts);
  AddMegahertz(Find(device, "MEMORY_CLOCK_RATE"), 1e-3, "memory_clock_mhz", facts);
  if (const Json* version = Find(device, "CUDA_VERSION"); version != nullptr && version->is_array()) {
    std::vector<std::string> numbers;
    for (const Json& number : *version) numbers.push_back(Words(number));
    facts.emplace_back("cuda_version", Join(numbers, ".").substr(0, kLongestValue));
  }
  return facts;
}

}  // namespace

Status AddTensorRtMetadata(std::istream& input, std::string_view origin, RunProfile& run) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseTensorRtText(input, origin));
  // The first of several devices ran, unless CUDA_VISIBLE_DEVICES chose another, which no file contains.
  const bool is_device = document.is_array() && !document.empty() && document[0].is_object();
  const Settings facts = is_device ? FactsOfDevice(document[0]) : FactsOfSections(document);
  const Json* model_options = Find(document, "model_options");
  if (facts.empty() && model_options == nullptr) {
    return Error{fmt::format("{}: neither a device's properties nor trtexec's options, as TREx writes them", origin)};
  }
  if (is_device && document.size() > 1) {
    run.warnings.push_back(
        fmt::format("{}: has {} devices; the first is assumed to have run the engine", origin, document.size()));
  }
  for (const auto& [setting, value] : facts) {
    if (value.empty()) continue;
    const auto [known, added] = run.settings.emplace(setting, value);
    if (added || known->second == value) continue;
    run.warnings.push_back(fmt::format("{}: {} is {}, but {} in another file; check that both are of one run", origin,
                                       setting, Quoted(value), Quoted(known->second)));
  }
  if (model_options != nullptr && run.model_name.empty()) {
    if (const Json* model = Find(*model_options, "Model")) {
      std::string path = Words(*model);
      for (char& c : path) c = c == '\\' ? '/' : c;
      run.model_name = std::filesystem::path(path).stem().string();
    }
  }
  return {};
}

namespace {

// As people and other files have it: separators of names as TREx shows them.
std::string Readable(std::string text) {
  std::ranges::replace(text, kNameSeparator, '+');
  return text;
}

struct TensorInfo {
  std::string name, format;
  std::vector<std::int64_t> dims;  // -1: not known to the engine
};

void VisitFields(JsonReader& visit, TensorInfo& tensor) {
  visit.Lenient("Name", tensor.name);
  visit.Lenient("Format/Datatype", tensor.format);
  visit.Lenient("Dimensions", tensor.dims, {-1, std::int64_t{1} << 40});
}

struct LayerFields {
  std::string name, metadata, type, tactic;
  std::vector<TensorInfo> inputs, outputs;
};

void VisitFields(JsonReader& visit, LayerFields& fields) {
  visit.Lenient("Name", fields.name);
  visit.Lenient("Metadata", fields.metadata);
  visit.Lenient("LayerType", fields.type);
  visit.Lenient("TacticName", fields.tactic);
  visit.Lenient("Inputs", fields.inputs);
  visit.Lenient("Outputs", fields.outputs);
}

// A dimension that the engine does not know leaves all of them out.
Status AddValues(std::vector<TensorInfo> given, std::vector<std::string>& names, std::vector<ProfiledTensor>& tensors) {
  constexpr std::size_t kMostDims = 64;
  for (TensorInfo& tensor : given) {
    if (tensor.dims.size() > kMostDims)
      return Error{fmt::format("'Dimensions' has {} numbers, expected at most {}", tensor.dims.size(), kMostDims)};
    if (std::ranges::find(tensor.dims, -1) != tensor.dims.end()) tensor.dims.clear();
    TensorRtFormat format = FormatOf(tensor.format);
    names.push_back(Readable(WithSeparators(std::move(tensor.name))));
    tensors.push_back({std::move(format.dtype), std::move(tensor.dims), std::move(format.layout)});
  }
  return {};
}

struct LayerInfo {
  ProfiledLayer layer;
  bool is_region = false;
};

Result<LayerInfo> ReadDetails(const Json& json) {
  LayerFields fields;
  INFIMUM_RETURN_IF_ERROR(FromJson(json, "", fields));
  if (fields.name.empty()) return Error{"has no 'Name'"};
  LayerInfo read;
  read.layer = NamedTensorRtLayer(std::move(fields.name), WithSeparators(std::move(fields.metadata)), &read.is_region);
  read.layer.op = std::move(fields.type);
  read.layer.algorithm = std::move(fields.tactic);
  INFIMUM_RETURN_IF_ERROR(AddValues(std::move(fields.inputs), read.layer.inputs, read.layer.input_tensors));
  INFIMUM_RETURN_IF_ERROR(AddValues(std::move(fields.outputs), read.layer.outputs, read.layer.output_tensors));
  return read;
}

Result<LayerInfo> ReadLayerInfo(const Json& json) {
  if (json.is_object()) return ReadDetails(json);
  if (!json.is_string()) return Unexpected(json, "", "an object or a name");
  LayerInfo read;
  read.layer = NamedTensorRtLayer(json.get<std::string>(), "", &read.is_region);
  return read;
}

}  // namespace

ProfiledLayer NamedTensorRtLayer(std::string name, std::string_view metadata, bool* is_region) {
  name = WithSeparators(std::move(name));
  std::string_view without_profile = name;
  CutOptimizationProfile(without_profile);
  TensorRtCover cover = CoverOf(without_profile, metadata);
  if (is_region != nullptr) *is_region = cover.is_region;
  ProfiledLayer layer;
  layer.nodes = std::move(cover.nodes);
  layer.serves = Readable(std::move(cover.serves));
  layer.name = Readable(std::move(name));
  return layer;
}

Result<TensorRtLayers> ReadTensorRtLayers(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseTensorRtText(input, origin));
  const auto list = document.is_object() ? document.find("Layers") : document.end();
  if (list == document.end() || !list->is_array()) {
    return Error{fmt::format("{}: not what 'trtexec --exportLayerInfo' writes: no list 'Layers'", origin)};
  }
  TensorRtLayers layers;
  for (const Json& json : *list) {
    Result<LayerInfo> read = ReadLayerInfo(json);
    if (!read) return Within(fmt::format("{}: layer {}", origin, layers.layers.size() + 1), read.error());
    std::string_view name = read->layer.name;
    layers.profiles.push_back(CutOptimizationProfile(name));
    if (read->is_region) layers.regions.push_back(read->layer.name);
    layers.layers.push_back(std::move(read->layer));
  }
  JsonReader fields(document);
  fields.Lenient("Bindings", layers.bindings);
  if (!fields.status().ok()) return Within(std::string(origin), fields.status().error());
  for (std::string& binding : layers.bindings) binding = Readable(WithSeparators(std::move(binding)));
  return layers;
}

}  // namespace infimum::ingest
