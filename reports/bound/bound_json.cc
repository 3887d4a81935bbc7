#include "reports/bound/bound_json.h"

#include "infimum/base/check.h"
#include "reports/text/json_values.h"
#include "reports/text/quantity_text.h"

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

Json ChoiceJson(const std::optional<LibraryChoice>& choice) {
  if (!choice) return nullptr;
  return {{"candidate", choice->candidate.name()},
          {"latency_us", choice->latency.count()},
          {"regret_us", choice->regret.count()},
          {"validated", choice->is_validated}};
}

Json RegionJson(const ModelGraph& graph, const RegionLatency& region) {
  Json names = Json::array();
  for (LayerId layer : region.layers) names.push_back(graph.layer(layer).name);
  return {{"rule", region.rule},
          {"layers", std::move(names)},
          {"config", region.region ? Json(Format(region.region->workload)) : Json(nullptr)},
          {"candidate", region.candidate.name()},
          {"latency_us", region.latency.count()},
          {"interval_us", IntervalOrNull(region.interval)},
          {"unfused_us", region.has_missing ? Json(nullptr) : Json(region.unfused.count())},
          {"chosen", region.is_chosen}};
}

Json LayoutsJson(const ModelGraph& graph, const std::optional<LayoutPlan>& plan) {
  if (!plan) return nullptr;
  Json units = Json::array(), transforms = Json::array();
  for (const PlannedNode& unit : plan->nodes) {
    Json names = Json::array();
    for (LayerId layer : unit.layers) names.push_back(graph.layer(layer).name);
    units.push_back({{"layers", std::move(names)},
                     {"candidate", unit.candidate.algorithm.empty() ? Json(nullptr) : Json(unit.candidate.name())},
                     {"input_layout", unit.candidate.input_layout},
                     {"output_layout", unit.candidate.output_layout},
                     {"latency_us", unit.latency.count()}});
  }
  for (const PlannedTransform& transform : plan->transforms) {
    Json reorders = Json::array();
    for (const Workload& reorder : transform.reorders) reorders.push_back(Format(reorder));
    transforms.push_back({{"value", graph.value(transform.value).name},
                          {"from", transform.from},
                          {"to", transform.to},
                          {"configs", std::move(reorders)},
                          {"latency_us", transform.latency.count()},
                          {"measured", transform.is_measured}});
  }
  return {{"latency_us", plan->latency.count()},
          {"transforming_us", plan->transforming.count()},
          {"exact", plan->is_exact},
          {"units", std::move(units)},
          {"transforms", std::move(transforms)}};
}

Json HostsJson(const std::optional<SeveralHosts>& hosts) {
  if (!hosts) return nullptr;
  return {{"count", hosts->count}, {"clocks_differ", hosts->clocks_differ()}, {"remark", HostsText(*hosts)}};
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
  json["hosts"] = HostsJson(bracket.hosts);
  json["contract"] = Name(bracket.contract);
  json["floor_us"] = bracket.floor.latency.count();
  json["floor"] = FloorJson(bracket.floor);
  json["conventional_floor_us"] = bracket.conventional_floor.latency.count();
  json["conventional_floor"] = FloorJson(bracket.conventional_floor);
  json["roofline_us"] = bracket.roofline.count();
  json["bounds"] = BoundsJson(bracket.bounds);
  json["layouts"] = LayoutsJson(graph, bracket.layouts);
  json["regret"] = RegretJson(bracket.regret);
  Json& upper = json["upper"] = Json::array();
  for (const UpperLimit& limit : bracket.upper) {
    upper.push_back(
        {{"name", limit.name}, {"latency_us", limit.latency.count()}, {"interval_us", IntervalOrNull(limit.interval)}});
  }
  json["inversions"] = InversionsJson(bracket.inversions);
  json["what_ifs"] = WhatIfsJson(bracket.what_ifs);
  json["demonstrated_us"] = MicrosecondsOrNull(bracket.demonstrated);
  json["composition_error"] = CompositionOrNull(bracket.composition);
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
                      {"library_choice", ChoiceJson(row.choice)},
                      {"parallel_gain_if_free_us", row.parallel_gain_if_free.count()},
                      {"parallel_gain_at_floor_us", row.parallel_gain_at_floor.count()},
                      {"on_critical_path", row.on_critical_path}});
  }
  Json& regions = json["regions"] = Json::array();
  for (const RegionLatency& region : bracket.regions) regions.push_back(RegionJson(graph, region));
  return DumpJson(json, 2) + "\n";
}

}  // namespace infimum
