#include "infimum/graph/fusable_regions.h"
#include "reports/inspect/inspect.h"
#include "reports/inspect/inspect_totals.h"
#include "reports/text/json_values.h"
#include "reports/text/layer_words.h"
#include "src/core/graph/run_time_quantities.h"

namespace infimum {

void to_json(Json& json, const RewritePass& pass) {
  json = {{"name", pass.name}, {"description", pass.description}, {"rewrites", pass.rewrites}};
}

static void to_json(Json& json, const WeightSample& weights) {
  json = {
      {"bytes", weights.bytes}, {"zero_share", weights.zero_share}, {"information_share", weights.information_share}};
}

static void to_json(Json& json, const InspectTotals& totals) {
  json = {{"layers", totals.layers},
          {"measurable", totals.measurable},
          {"free", totals.free},
          {"unknown", totals.unknown},
          {"configurations", totals.configurations},
          {"flops", totals.flops},
          {"multiply_adds", totals.multiply_adds},
          {"conventional_flops", totals.conventional_flops},
          {"bytes_read", totals.read},
          {"bytes_written", totals.written},
          {"parameters", totals.parameters},
          {"parameter_bytes", totals.parameter_bytes},
          {"stored_weights", totals.weights}};
}

namespace {

Json LayersJson(const ModelGraph& graph);

Json LayerJson(const ModelGraph& graph, const Layer& layer) {
  Json json = {{"name", layer.name},
               {"op", layer.op},
               {"status", InspectStatus(layer)},
               {"config", layer.workload},
               {"reason", TextOrNull(layer.reason)},
               {"flops", layer.work.direct},
               {"conventional_flops", layer.work.conventional},
               {"bytes_read", layer.work.read()},
               {"bytes_written", layer.work.written},
               {"parameters", ParametersOf(graph, layer)},
               {"parameter_bytes", layer.parameters},
               {"origins", layer.origins}};
  for (const SubGraph& body : layer.bodies)
    json["bodies"].push_back({{"name", body.name},
                              {"least_executions", body.least_executions},
                              {"layers", body.graph ? LayersJson(*body.graph) : Json::array()}});
  return json;
}

Json LayersJson(const ModelGraph& graph) {
  Json layers = Json::array();
  for (const Layer& layer : graph.layers) layers.push_back(LayerJson(graph, layer));
  return layers;
}

Json RegionsJson(const ModelGraph& graph) {
  Json regions = Json::array();
  for (const FusableRegion& region : FindFusableRegions(graph))
    regions.push_back(
        {{"rule", region.rule}, {"layers", LayerNames(graph, region.layers)}, {"config", region.workload}});
  return regions;
}

Json ModelJson(const ModelGraph& graph) {
  Json inputs = Json::array();
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    inputs.push_back({{"name", value.name},
                      {"dtype", value.type},
                      {"shape", value.shape ? Json(value.shape->dims) : Json(nullptr)}});
  }
  return {{"name", graph.name}, {"sha256", graph.sha256}, {"opset", graph.opset}, {"inputs", std::move(inputs)}};
}

}  // namespace

std::string InspectJson(const ModelGraph& graph) {
  Json quantities = Json::array();
  VisitQuantities(graph, [&](const RunTimeQuantity& quantity) {
    quantities.push_back({{"name", quantity.name},
                          {"layer", quantity.layer},
                          {"stated", quantity.stated ? Json(*quantity.stated) : Json(nullptr)},
                          {"least", quantity.least},
                          {"most", quantity.most}});
  });
  const Json json = {{"schema", "infimum.inspect/1"}, {"model", ModelJson(graph)},
                     {"layers", LayersJson(graph)},   {"run_time_quantities", std::move(quantities)},
                     {"passes", graph.passes},        {"regions", RegionsJson(graph)},
                     {"totals", TotalsOf(graph)}};
  return DumpJson(json, 2) + "\n";
}

}  // namespace infimum
