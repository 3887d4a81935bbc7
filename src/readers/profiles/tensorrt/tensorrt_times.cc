#include "src/readers/profiles/tensorrt/tensorrt_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infimum/base/text.h"
#include "src/readers/profiles/tensorrt/tensorrt_text.h"

namespace infimum::ingest {
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

}  // namespace infimum::ingest
