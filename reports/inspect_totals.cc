#include "reports/inspect_totals.h"

#include <set>
#include <string>
#include <vector>

#include "infimum/base/check.h"

namespace infimum {
namespace {

std::vector<ValueId> WeightsOf(const ModelGraph& graph, const Layer& layer) {
  std::vector<ValueId> weights;
  auto add = [&](std::size_t input) {
    if (input >= layer.inputs.size() || !layer.inputs[input]) return;
    ValueId id = *layer.inputs[input];
    if (graph.value(id).kind == ValueKind::kWeight) weights.push_back(id);
  };
  if (layer.status == LayerStatus::kFree) return weights;
  if (layer.status == LayerStatus::kMeasurable) {
    for (std::size_t input : layer.operand_inputs) add(input);
  } else {
    for (std::size_t input = 0; input < layer.inputs.size(); ++input) add(input);
  }
  return weights;
}

std::int64_t ElementsOf(const Value& value) {
  if (!value.shape) return 0;
  Result<std::int64_t> count = CheckedElementCount(*value.shape);
  return count.ok() ? *count : 0;
}

// Of products alone: adding a bias is no multiply-add.
std::int64_t MultiplyAdds(const LayerConfig& config) {
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&config)) {
    ConvolutionConfig product = *convolution;
    product.bias = false;
    return WorkOf(product).direct.value / 2;
  }
  if (const auto* matmul = std::get_if<MatMulConfig>(&config)) {
    MatMulConfig product = *matmul;
    product.bias = MatMulBias::kNone;
    return WorkOf(product).direct.value / 2;
  }
  return 0;
}

std::int64_t MultiplyAdds(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return MultiplyAdds(*config);
  std::int64_t sum = 0;
  for (const RegionMember& member : std::get<Region>(workload).members) sum += MultiplyAdds(member.config);
  return sum;
}

}  // namespace

std::int64_t ParametersOf(const ModelGraph& graph, const Layer& layer) {
  std::int64_t sum = 0;
  for (ValueId id : WeightsOf(graph, layer)) sum += ElementsOf(graph.value(id));
  return sum;
}

InspectTotals TotalsOf(const ModelGraph& graph) {
  InspectTotals totals;
  std::set<std::string> configurations;
  std::set<ValueId> weights;
  totals.layers = graph.layers.size();
  for (const Layer& layer : graph.layers) {
    if (layer.status == LayerStatus::kMeasurable) ++totals.measurable;
    if (layer.status == LayerStatus::kFree) ++totals.free;
    if (layer.status == LayerStatus::kUnknown) ++totals.unknown;
    totals.flops += layer.work.direct;
    totals.conventional_flops += layer.work.conventional;
    totals.read += layer.work.read();
    totals.written += layer.work.written;
    if (layer.workload) {
      configurations.insert(Format(*layer.workload));
      totals.multiply_adds += MultiplyAdds(*layer.workload);
    }
    for (ValueId id : WeightsOf(graph, layer)) {
      if (!weights.insert(id).second) continue;
      const Value& value = graph.value(id);
      std::int64_t elements = ElementsOf(value);
      totals.parameters += elements;
      totals.parameter_bytes += SizeOf(value.type, elements);
    }
  }
  totals.configurations = configurations.size();
  return totals;
}

std::string_view InspectStatus(const Layer& layer) {
  switch (layer.status) {
    case LayerStatus::kMeasurable:
      return "measurable";
    case LayerStatus::kFree:
      return "free";
    case LayerStatus::kUnknown:
      return "unknown";
  }
  INFIMUM_CHECK(false, "a layer status without a name");
}

}  // namespace infimum
