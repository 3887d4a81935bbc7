#include "src/readers/profiles/tensorrt/tensorrt_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "infimum/base/text.h"
#include "src/readers/files/input_file.h"
#include "src/readers/profiles/tensorrt/tensorrt_words.h"

namespace infimum::ingest {
namespace {

// It must be in memory as a whole. A layer takes about a kilobyte, and engines have thousands of them.
constexpr std::size_t kMaxTensorRtText = std::size_t{256} << 20;

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

Result<std::string> ReadAll(std::istream& input, std::string_view origin) {
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (input.read(block.data(), static_cast<std::streamsize>(block.size())) || input.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(input.gcount()));
    if (text.size() > kMaxTensorRtText) {
      return Error{
          fmt::format("{}: larger than {} MiB, the limit for a file of an engine", origin, kMaxTensorRtText >> 20)};
    }
  }
  return text;
}

// The word at `begin`, outside of texts, becomes a text of the same length if it is a number that is none.
void HideNonNumber(std::string& text, std::size_t begin, std::size_t end) {
  std::string word = text.substr(begin, end - begin);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word != "nan" && word != "inf" && word != "infinity") return;
  if (begin > 0 && text[begin - 1] == '-') --begin;
  text[begin] = '"';
  text[end - 1] = '"';
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
  std::string text;
  if (IsGzip(input)) {
    GzipStream unpacked(input);
    unpacked.LimitTo(kMaxTensorRtText);
    Result<std::string> read = ReadAll(unpacked, origin);
    if (unpacked.error()) return Within(std::string(origin), *unpacked.error());
    INFIMUM_ASSIGN_OR_RETURN(text, std::move(read));
  } else {
    INFIMUM_ASSIGN_OR_RETURN(text, ReadAll(input, origin));
  }
  Repair(text);
  std::istringstream repaired(std::move(text));
  return ParseJson(repaired, origin);
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

Result<TensorRtProfile::Layer> ReadLayerTimes(const Json& json, const TensorRtProfile& profile) {
  if (!json.is_object()) return Error{fmt::format("should be an object, not {}", json.type_name())};
  INFIMUM_ASSIGN_OR_RETURN(std::string name, TextField(json, "name"));
  if (name.empty()) return Error{"has no 'name'"};
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<Latency> median, MillisecondsField(json, "medianMs"));
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<Latency> average, MillisecondsField(json, "averageMs"));
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<Latency> sum, MillisecondsField(json, "timeMs"));
  std::optional<Latency> time = median ? median : average;
  if (!time && sum && profile.inferences) time = *sum / static_cast<double>(*profile.inferences);
  if (!time) return Error{"has no time: neither 'medianMs' nor 'averageMs'"};
  name = WithSeparators(std::move(name));
  std::ranges::replace(name, kNameSeparator, '+');
  return TensorRtProfile::Layer{std::move(name), *time};
}

Result<TensorRtInference> ReadInference(const Json& json) {
  if (!json.is_object()) return Error{fmt::format("should be an object, not {}", json.type_name())};
  TensorRtInference inference;
  INFIMUM_ASSIGN_OR_RETURN(inference.start, MillisecondsField(json, "startComputeMs"));
  INFIMUM_ASSIGN_OR_RETURN(inference.latency, MillisecondsField(json, "latencyMs"));
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<Latency> compute, MillisecondsField(json, "computeMs"));
  if (!compute) return Error{"has no 'computeMs'"};
  inference.compute = *compute;
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<Latency> begin, MillisecondsField(json, "startEnqMs"));
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<Latency> end, MillisecondsField(json, "endEnqMs"));
  if (begin && end) inference.enqueue = std::max(*end - *begin, Latency(0));
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
      constexpr std::int64_t kMost = 1'000'000'000'000;
      const Result<std::int64_t> count = IntegerField(json, "count", 0, kMost, 0);
      if (!count) return Within(std::string(origin), count.error());
      if (*count > 0) profile.inferences = *count;
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

// Of cuDeviceGetAttribute(), in kilohertz.
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
  // Of several devices the first is the one that ran, unless CUDA_VISIBLE_DEVICES says otherwise, which no file tells.
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

// Dimensions that the engine does not know (-1) leave all of them out.
Result<std::vector<std::int64_t>> ReadDimensions(const Json& tensor) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::vector<std::int64_t> dims;
  const auto found = tensor.find("Dimensions");
  if (found == tensor.end() || found->is_null()) return dims;
  if (!found->is_array() || found->size() > 64) return Error{"'Dimensions' should be a list of at most 64 numbers"};
  bool known = true;
  for (const Json& json : *found) {
    if (!json.is_number_integer())
      return Error{fmt::format("'Dimensions' contains {}, not a whole number", json.dump())};
    const bool huge = json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(kMost);
    const std::int64_t extent = huge ? kMost + 1 : json.get<std::int64_t>();
    if (extent < -1 || extent > kMost)
      return Error{fmt::format("'Dimensions' contains {}, not an extent", json.dump())};
    known = known && extent >= 0;
    dims.push_back(extent);
  }
  if (!known) dims.clear();
  return dims;
}

struct Values {
  std::vector<std::string> names;
  std::vector<ProfiledTensor> tensors;
};

Result<Values> ReadValues(const Json& layer, const char* side) {
  Values values;
  const auto list = layer.find(side);
  if (list == layer.end() || list->is_null()) return values;
  if (!list->is_array()) return Error{fmt::format("'{}' should be a list, not {}", side, list->type_name())};
  for (const Json& json : *list) {
    const std::string where = fmt::format("'{}' {}", side, values.names.size() + 1);
    if (!json.is_object()) return Error{fmt::format("{} should be an object, not {}", where, json.type_name())};
    Result<std::string> name = TextField(json, "Name");
    Result<std::string> format = TextField(json, "Format/Datatype");
    Result<std::vector<std::int64_t>> dims = ReadDimensions(json);
    if (!name) return Within(where, name.error());
    if (!format) return Within(where, format.error());
    if (!dims) return Within(where, dims.error());
    TensorRtFormat known = FormatOf(*format);
    values.names.push_back(Readable(WithSeparators(*std::move(name))));
    values.tensors.push_back({std::move(known.dtype), *std::move(dims), std::move(known.layout)});
  }
  return values;
}

struct LayerInfo {
  ProfiledLayer layer;
  bool is_region = false;
};

Result<LayerInfo> ReadDetails(const Json& json) {
  LayerInfo read;
  INFIMUM_ASSIGN_OR_RETURN(std::string name, TextField(json, "Name"));
  INFIMUM_ASSIGN_OR_RETURN(std::string metadata, TextField(json, "Metadata"));
  if (name.empty()) return Error{"has no 'Name'"};
  read.layer = NamedTensorRtLayer(std::move(name), WithSeparators(std::move(metadata)), &read.is_region);
  INFIMUM_ASSIGN_OR_RETURN(read.layer.op, TextField(json, "LayerType"));
  INFIMUM_ASSIGN_OR_RETURN(read.layer.algorithm, TextField(json, "TacticName"));
  INFIMUM_ASSIGN_OR_RETURN(Values inputs, ReadValues(json, "Inputs"));
  INFIMUM_ASSIGN_OR_RETURN(Values outputs, ReadValues(json, "Outputs"));
  read.layer.inputs = std::move(inputs.names);
  read.layer.input_tensors = std::move(inputs.tensors);
  read.layer.outputs = std::move(outputs.names);
  read.layer.output_tensors = std::move(outputs.tensors);
  return read;
}

Result<LayerInfo> ReadLayerInfo(const Json& json) {
  if (json.is_object()) return ReadDetails(json);
  if (!json.is_string()) {
    return Error{fmt::format("should be an object or a name, not {}", json.type_name())};
  }
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
  Result<std::vector<std::string>> bindings = TextsField(document, "Bindings");
  if (!bindings) return Within(std::string(origin), bindings.error());
  for (std::string& binding : *bindings) layers.bindings.push_back(Readable(WithSeparators(std::move(binding))));
  return layers;
}

}  // namespace infimum::ingest
