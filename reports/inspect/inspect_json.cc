#include "infimum/graph/fusable_regions.h"
#include "reports/inspect/inspect.h"
#include "reports/inspect/inspect_totals.h"
#include "reports/text/json_values.h"
#include "reports/text/layer_words.h"
#include "src/core/graph/run_time_quantities.h"

namespace infimum {

void to_json(OrderedJson& json, const RewritePass& pass) {
  json = {{"name", pass.name}, {"description", pass.description}, {"rewrites", pass.rewrites}};
}

static void to_json(OrderedJson& json, const WeightSample& weights) {
  json = {
      {"bytes", weights.bytes}, {"zero_share", weights.zero_share}, {"information_share", weights.information_share}};
}

static void to_json(OrderedJson& json, const InspectTotals& totals) {
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
          {"sparse_products", totals.sparse_products},
          {"stored_weights", totals.weights}};
}

namespace {

OrderedJson LayersJson(const ModelGraph& graph);

OrderedJson LayerJson(const ModelGraph& graph, const Layer& layer) {
  OrderedJson json = {{"name", layer.name},
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
                              {"layers", body.graph ? LayersJson(*body.graph) : OrderedJson::array()}});
  return json;
}

OrderedJson LayersJson(const ModelGraph& graph) {
  OrderedJson layers = OrderedJson::array();
  for (const Layer& layer : graph.layers) layers.push_back(LayerJson(graph, layer));
  return layers;
}

OrderedJson RegionsJson(const ModelGraph& graph) {
  OrderedJson regions = OrderedJson::array();
  for (const FusableRegion& region : FindFusableRegions(graph))
    regions.push_back(
        {{"rule", region.rule}, {"layers", LayerNames(graph, region.layers)}, {"config", region.workload}});
  return regions;
}

OrderedJson ModelJson(const ModelGraph& graph) {
  OrderedJson inputs = OrderedJson::array();
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    inputs.push_back({{"name", value.name},
                      {"dtype", value.type},
                      {"shape", value.shape ? OrderedJson(value.shape->dims) : OrderedJson(nullptr)}});
  }
  return {{"name", graph.name}, {"sha256", graph.sha256}, {"opset", graph.opset}, {"inputs", std::move(inputs)}};
}

}  // namespace

std::string InspectJson(const ModelGraph& graph) {
  OrderedJson quantities = OrderedJson::array();
  VisitQuantities(graph, [&](const RunTimeQuantity& quantity) {
    quantities.push_back({{"name", quantity.name},
                          {"layer", quantity.layer},
                          {"stated", quantity.stated ? OrderedJson(*quantity.stated) : OrderedJson(nullptr)},
                          {"least", quantity.least},
                          {"most", quantity.most}});
  });
  const OrderedJson json = {{"schema", "infimum.inspect/1"}, {"model", ModelJson(graph)},
                            {"layers", LayersJson(graph)},   {"run_time_quantities", std::move(quantities)},
                            {"passes", graph.passes},        {"regions", RegionsJson(graph)},
                            {"totals", TotalsOf(graph)}};
  return DumpJson(json, 2) + "\n";
}

}  // namespace infimum
