#include "db/store/run_details.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "db/connection/storable_text.h"
#include "infimum/measurement/statistics.h"

namespace infimum {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The store wrote it; a text that does not read back means a damaged or foreign row.
template <class T>
Result<T> Read(std::string_view text) {
  try {
    return Json::parse(text).get<T>();
  } catch (const std::exception& error) {
    return Error{fmt::format("the store holds a row that cannot be read: {}", error.what())};
  }
}

Json Microseconds(const std::vector<Latency>& samples) {
  Json list = Json::array();
  for (const Latency sample : samples) list.push_back(sample.count());
  return list;
}

std::vector<Latency> Latencies(const Json& json) {
  std::vector<Latency> samples;
  for (const double value : json.get<std::vector<double>>()) samples.emplace_back(value);
  return samples;
}

Json Tensors(const std::vector<ProfiledTensor>& tensors) {
  Json list = Json::array();
  for (const ProfiledTensor& tensor : tensors)
    list.push_back({{"dtype", tensor.dtype}, {"dims", tensor.dims}, {"layout", tensor.layout}});
  return list;
}

// Absent: none, as in rows of before they were kept.
std::vector<ProfiledTensor> ReadTensors(const Json& layer, const char* name) {
  std::vector<ProfiledTensor> tensors;
  const auto list = layer.find(name);
  if (list == layer.end()) return tensors;
  for (const Json& json : *list)
    tensors.push_back({json.at("dtype").get<std::string>(), json.at("dims").get<std::vector<std::int64_t>>(),
                       json.at("layout").get<std::string>()});
  return tensors;
}

}  // namespace

std::string FormatRunDetails(const RunProfile& run) {
  Json details = {
      {"settings", run.settings}, {"warnings", run.warnings}, {"end_to_end", Json::array()}, {"layers", Json::array()}};
  for (const RunRepetition& repetition : run.end_to_end)
    details["end_to_end"].push_back(Microseconds(repetition.samples));
  for (const ProfiledLayer& layer : run.layers) {
    details["layers"].push_back({{"name", layer.name},
                                 {"op", layer.op},
                                 {"provider", layer.provider},
                                 {"nodes", layer.nodes},
                                 {"inputs", layer.inputs},
                                 {"outputs", layer.outputs},
                                 {"samples_us", Microseconds(layer.samples)}});
    // What few engines tell stands only where it is told.
    Json& json = details["layers"].back();
    if (!layer.input_tensors.empty()) json["input_tensors"] = Tensors(layer.input_tensors);
    if (!layer.output_tensors.empty()) json["output_tensors"] = Tensors(layer.output_tensors);
    if (!layer.algorithm.empty()) json["algorithm"] = layer.algorithm;
    if (!layer.serves.empty()) json["serves"] = layer.serves;
  }
  if (!run.noisy.empty()) details["noisy"] = run.noisy;
  if (!run.profiled.empty()) details["profiled_us"] = Microseconds(run.profiled);
  if (run.idle) {
    details["idle_us"] = {run.idle->host.count(), run.idle->launch.count(), run.idle->queued.count(),
                          run.idle->overlapped.count()};
  }
  return Dump(details);
}

std::optional<RunSummary> SummaryOf(const RunProfile& run) {
  if (!run.noisy.empty()) return std::nullopt;
  std::vector<Repetition> repetitions;
  for (const RunRepetition& repetition : run.end_to_end)
    if (!repetition.samples.empty()) repetitions.push_back(Summarize(repetition.samples));
  if (repetitions.empty()) return std::nullopt;
  const Interval interval = PointInterval(repetitions);
  return RunSummary{PointValue(repetitions).count(), interval.low.count(), interval.high.count()};
}

Status ParseRunDetails(std::string_view text, RunProfile& run) {
  try {
    const Json details = Json::parse(text);
    run.settings = details.at("settings").get<std::map<std::string, std::string>>();
    run.warnings = details.at("warnings").get<std::vector<std::string>>();
    for (const Json& samples : details.at("end_to_end")) run.end_to_end.push_back({Latencies(samples)});
    run.noisy = details.value("noisy", "");
    for (const Json& json : details.at("layers")) {
      ProfiledLayer layer;
      layer.name = json.at("name").get<std::string>();
      layer.op = json.at("op").get<std::string>();
      layer.provider = json.at("provider").get<std::string>();
      layer.nodes = json.at("nodes").get<std::vector<std::string>>();
      layer.inputs = json.at("inputs").get<std::vector<std::string>>();
      layer.outputs = json.at("outputs").get<std::vector<std::string>>();
      layer.samples = Latencies(json.at("samples_us"));
      layer.input_tensors = ReadTensors(json, "input_tensors");
      layer.output_tensors = ReadTensors(json, "output_tensors");
      layer.algorithm = json.value("algorithm", "");
      layer.serves = json.value("serves", "");
      run.layers.push_back(std::move(layer));
    }
    if (const auto profiled = details.find("profiled_us"); profiled != details.end())
      run.profiled = Latencies(*profiled);
    if (const auto idle = details.find("idle_us"); idle != details.end()) {
      const std::vector<Latency> parts = Latencies(*idle);
      if (parts.size() == 4) run.idle = DeviceIdle{parts[0], parts[1], parts[2], parts[3]};
    }
  } catch (const std::exception& error) {
    return Error{fmt::format("the store holds a run that cannot be read: {}", error.what())};
  }
  return {};
}

std::string FormatDims(const std::map<std::string, std::int64_t>& dims) { return Dump(Json(dims)); }
Result<std::map<std::string, std::int64_t>> ParseDims(std::string_view text) {
  return Read<std::map<std::string, std::int64_t>>(text);
}
std::string FormatTexts(const std::map<std::string, std::string>& texts) { return Dump(Json(texts)); }
Result<std::map<std::string, std::string>> ParseTexts(std::string_view text) {
  return Read<std::map<std::string, std::string>>(text);
}
// As the database keeps texts, since they are compared with what it holds.
std::string FormatList(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(StorableText(text).text());
  return Dump(list);
}
Result<std::vector<std::string>> ParseList(std::string_view text) { return Read<std::vector<std::string>>(text); }

}  // namespace infimum
