#include "src/readers/profiles/tensorrt/tensorrt_layer_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/readers/profiles/tensorrt/tensorrt_layer_names.h"
#include "src/readers/profiles/tensorrt/tensorrt_tensor_format.h"
#include "src/readers/profiles/tensorrt/tensorrt_text.h"

namespace infimum::ingest {
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
    if (!json.is_number_integer()) return Error{fmt::format("'Dimensions' holds {}, not a whole number", json.dump())};
    const bool huge = json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(kMost);
    const std::int64_t extent = huge ? kMost + 1 : json.get<std::int64_t>();
    if (extent < -1 || extent > kMost) return Error{fmt::format("'Dimensions' holds {}, not an extent", json.dump())};
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
