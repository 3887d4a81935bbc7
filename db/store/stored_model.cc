#include "db/store/stored_model.h"

#include <algorithm>

#include "infimum/measurement/contract.h"

namespace infimum {
namespace {

std::string_view StatusOf(const Layer& layer) {
  switch (layer.status) {
    case LayerStatus::kMeasurable:
      return "measurable";
    case LayerStatus::kFree:
      return "free";
    case LayerStatus::kUnknown:
      break;
  }
  return "unknown";
}

// `executions` of the graph as a whole.
void Describe(const ModelGraph& graph, std::int64_t executions, std::vector<ModelLayer>& layers) {
  for (const Layer& layer : graph.layers) {
    ModelLayer& described = layers.emplace_back();
    described.name = layer.name;
    described.op = layer.op;
    described.status = StatusOf(layer);
    described.reason = layer.reason;
    described.executions = executions;
    if (layer.workload) {
      described.workload = KeyOf(*layer.workload).text;
      described.contract = Name(NativeContract(*layer.workload));
    }
    described.bytes = layer.work.read().value + layer.work.written.value;
    described.flops = layer.work.conventional.value;
    for (const SubGraph& body : layer.bodies) {
      if (body.graph == nullptr) continue;
      const std::int64_t least = std::clamp<std::int64_t>(body.least_executions, 0, kMaxExecutions);
      const bool too_many = least > 0 && executions > kMaxExecutions / least;
      Describe(*body.graph, too_many ? kMaxExecutions : executions * least, layers);
    }
  }
}

}  // namespace

StoredModel DescribeModel(const std::string& name, const ModelGraph& graph,
                          const std::map<std::string, std::int64_t>& dims) {
  StoredModel model{name, graph.sha256, dims, {}};
  Describe(graph, 1, model.layers);
  return model;
}

}  // namespace infimum
