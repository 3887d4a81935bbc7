#include "infimum/reports/bound_json.h"

#include "infimum/base/check.h"
#include "reports/json_values.h"

namespace infimum {
namespace {

Json SelectionJson(const Selection& selection) {
  return {{"device", selection.device.text},
          {"environment", selection.environment ? Json(selection.environment->text) : Json(nullptr)},
          {"threads", selection.threads},
          {"cache", Name(selection.cache)},
          {"statistic", Name(selection.statistic)},
          {"contract", selection.contract ? Json(Name(*selection.contract)) : Json(nullptr)}};
}

}  // namespace

std::string BoundJson(const ModelGraph& graph, const Bracket& bracket) {
  INFIMUM_CHECK(graph.layers.size() == bracket.layers.size(), "a bracket with other layers than its graph");
  Json json;
  json["schema"] = "infimum.bound/1";
  json["model"] = {{"name", graph.name}, {"sha256", graph.sha256}};
  json["device"] = bracket.selection.device.text;
  json["selection"] = SelectionJson(bracket.selection);
  json["environments"] = Json::array();
  for (const EnvironmentKey& environment : bracket.environments) json["environments"].push_back(environment.text);
  json["contract"] = Name(bracket.contract);
  json["floor_us"] = bracket.floor.latency.count();
  json["floor"] = FloorJson(bracket.floor);
  json["conventional_floor_us"] = bracket.conventional_floor.latency.count();
  json["conventional_floor"] = FloorJson(bracket.conventional_floor);
  json["roofline_us"] = bracket.roofline.count();
  json["bounds"] = BoundsJson(bracket.bounds);
  json["demonstrated_us"] = MicrosecondsOrNull(bracket.demonstrated);
  json["coverage"] = CoverageJson(bracket.coverage);
  Json& layers = json["layers"] = Json::array();
  for (const LayerLatency& row : bracket.layers) {
    const Layer& layer = graph.layer(row.layer);
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"config", layer.workload ? Json(Format(*layer.workload)) : Json(nullptr)},
                      {"candidate", row.candidate ? Json(row.candidate->name()) : Json(nullptr)},
                      {"latency_us", MicrosecondsOrNull(row.latency)},
                      {"interval_us", IntervalOrNull(row.interval)},
                      {"floor_us", row.floor.count()},
                      {"status", Name(row.status)},
                      {"reason", ReasonOf(layer, row).empty() ? Json(nullptr) : Json(ReasonOf(layer, row))},
                      {"on_critical_path", row.on_critical_path}});
  }
  return DumpJson(json, 2) + "\n";
}

}  // namespace infimum
