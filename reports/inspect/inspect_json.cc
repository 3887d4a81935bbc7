#include "reports/inspect/inspect_json.h"

#include "infimum/graph/fusable_regions.h"
#include "reports/inspect/inspect_totals.h"
#include "reports/text/json_values.h"

namespace infimum {
namespace {

Json LayersJson(const ModelGraph& graph);

Json LayerJson(const ModelGraph& graph, const Layer& layer) {
  Json json = {{"name", layer.name},
               {"op", layer.op},
               {"status", InspectStatus(layer)},
               {"config", layer.workload ? Json(Format(*layer.workload)) : Json(nullptr)},
               {"reason", layer.reason.empty() ? Json(nullptr) : Json(layer.reason)},
               {"flops", layer.work.direct.value},
               {"conventional_flops", layer.work.conventional.value},
               {"bytes_read", layer.work.read().value},
               {"bytes_written", layer.work.written.value},
               {"parameters", ParametersOf(graph, layer)},
               {"parameter_bytes", layer.parameters.value},
               {"origins", layer.origins}};
  if (!layer.bodies.empty()) {
    Json& bodies = json["bodies"] = Json::array();
    for (const SubGraph& body : layer.bodies) {
      bodies.push_back({{"name", body.name},
                        {"least_executions", body.least_executions},
                        {"layers", body.graph ? LayersJson(*body.graph) : Json::array()}});
    }
  }
  return json;
}

Json LayersJson(const ModelGraph& graph) {
  Json layers = Json::array();
  for (const Layer& layer : graph.layers) layers.push_back(LayerJson(graph, layer));
  return layers;
}

Json RegionsJson(const ModelGraph& graph) {
  Json regions = Json::array();
  for (const FusableRegion& region : FindFusableRegions(graph)) {
    Json layers = Json::array();
    for (LayerId layer : region.layers) layers.push_back(graph.layer(layer).name);
    regions.push_back({{"rule", region.rule}, {"layers", std::move(layers)}, {"config", Format(region.workload)}});
  }
  return regions;
}

}  // namespace

std::string InspectJson(const ModelGraph& graph) {
  Json inputs = Json::array();
  for (ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    inputs.push_back({{"name", value.name},
                      {"dtype", Name(value.type)},
                      {"shape", value.shape ? Json(value.shape->dims) : Json(nullptr)}});
  }
  InspectTotals totals = TotalsOf(graph);
  Json json;
  json["schema"] = "infimum.inspect/1";
  json["model"] = {
      {"name", graph.name}, {"sha256", graph.sha256}, {"opset", graph.opset}, {"inputs", std::move(inputs)}};
  json["layers"] = LayersJson(graph);
  Json& passes = json["passes"] = Json::array();
  for (const RewritePass& pass : graph.passes) {
    passes.push_back({{"name", pass.name}, {"description", pass.description}, {"rewrites", pass.rewrites}});
  }
  json["regions"] = RegionsJson(graph);
  json["totals"] = {{"layers", totals.layers},
                    {"measurable", totals.measurable},
                    {"free", totals.free},
                    {"unknown", totals.unknown},
                    {"configurations", totals.configurations},
                    {"flops", totals.flops.value},
                    {"multiply_adds", totals.multiply_adds},
                    {"conventional_flops", totals.conventional_flops.value},
                    {"bytes_read", totals.read.value},
                    {"bytes_written", totals.written.value},
                    {"parameters", totals.parameters},
                    {"parameter_bytes", totals.parameter_bytes.value}};
  return DumpJson(json, 2) + "\n";
}

}  // namespace infimum
