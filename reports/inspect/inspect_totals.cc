#include "reports/inspect/inspect_totals.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "infimum/base/check.h"
#include "infimum/base/enum_names.h"

namespace infimum {
namespace {

struct Weight {
  ValueId id;
  std::int64_t parameters = 0;
};

// For each weight the stored one that its elements come from, one by one: a table of words that is transposed for the
// last product, a weight that is dequantized. Itself where it is stored.
std::vector<ValueId> StoredWeights(const ModelGraph& graph) {
  std::vector<ValueId> stored;
  for (std::size_t i = 0; i < graph.values.size(); ++i) stored.push_back(ValueId(i));
  for (const Layer& layer : graph.layers) {
    if (layer.status != LayerStatus::kFree || layer.inputs.empty() || !layer.inputs[0] || layer.outputs.size() != 1 ||
        !layer.outputs[0])
      continue;
    const Value &made = graph.value(*layer.outputs[0]), &from = graph.value(*layer.inputs[0]);
    if (made.kind == ValueKind::kWeight && from.kind == ValueKind::kWeight && made.shape && from.shape &&
        ElementCount(*made.shape) == ElementCount(*from.shape))
      stored[layer.outputs[0]->index()] = stored[layer.inputs[0]->index()];
  }
  return stored;
}

std::int64_t ElementsOf(const Value& value) {
  if (!value.shape) return 0;
  Result<std::int64_t> count = CheckedElementCount(*value.shape);
  return count.ok() ? *count : 0;
}

// How many bits a parameter of each operand of a workload has; 0 where it scales another.
std::vector<int> ParameterBits(const Workload& workload) {
  std::vector<int> bits;
  const auto add = [&](const LayerConfig& config, std::size_t place) {
    const auto* product = std::get_if<MatMulConfig>(&config);
    const bool scales = product != nullptr && place >= (product->bias == MatMulBias::kNone ? 2u : 3u);
    bits.push_back(scales ? 0 : BitsPerElement(OperandsOf(config)[place].type));
  };
  if (const auto* config = std::get_if<LayerConfig>(&workload)) {
    for (std::size_t i = 0; i < OperandsOf(*config).size(); ++i) add(*config, i);
    return bits;
  }
  std::set<RegionOperand> seen;
  for (const RegionMember& member : std::get<Region>(workload).members) {
    for (std::size_t i = 0; i < member.operands.size(); ++i)
      if (member.operands[i].source != RegionOperand::Source::kMember && seen.insert(member.operands[i]).second)
        add(member.config, i);
  }
  return bits;
}

std::vector<Weight> WeightsOf(const ModelGraph& graph, const Layer& layer) {
  std::vector<Weight> weights;
  auto add = [&](std::size_t input) {
    if (input >= layer.inputs.size() || !layer.inputs[input]) return;
    ValueId id = *layer.inputs[input];
    if (graph.value(id).kind == ValueKind::kWeight) weights.push_back({id, ElementsOf(graph.value(id))});
  };
  if (layer.status == LayerStatus::kFree) return weights;
  if (layer.status == LayerStatus::kMeasurable) {
    const std::vector<int> bits = ParameterBits(*layer.workload);
    for (std::size_t i = 0; i < layer.operand_inputs.size(); ++i) {
      const std::size_t before = weights.size();
      add(layer.operand_inputs[i]);
      if (weights.size() == before || i >= bits.size()) continue;
      // Weights that are packed in bytes have several parameters in each.
      Weight& weight = weights.back();
      if (bits[i] == 0) weight.parameters = 0;
      if (bits[i] > 0 && bits[i] < 8 && graph.value(weight.id).type == DataType::kU8) weight.parameters *= 8 / bits[i];
    }
  } else {
    for (std::size_t input = 0; input < layer.inputs.size(); ++input) add(input);
  }
  return weights;
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

bool IsSparse(const Workload& workload) {
  const auto is_sparse = [](const LayerConfig& config) {
    const auto* product = std::get_if<MatMulConfig>(&config);
    return product != nullptr && product->sparsity != Sparsity::kNone;
  };
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return is_sparse(*config);
  return std::ranges::any_of(std::get<Region>(workload).members, is_sparse, &RegionMember::config);
}

// Hostile loops in loops may run more often than there are numbers.
std::int64_t Times(std::int64_t value, std::int64_t executions) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(value, executions, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

std::int64_t Plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

// Of a loop of which only a run decides whether it runs at all one iteration counts; of an If both branches.
std::int64_t TimesOf(const Layer& layer, const SubGraph& body) {
  const bool may_not_run = body.may_run_oftener || layer.bodies.size() > 1;
  return may_not_run ? std::max<std::int64_t>(body.least_executions, 1) : body.least_executions;
}

// Layers of bodies count as often as an inference runs them at least.
void AddGraph(const ModelGraph& graph, std::int64_t executions, std::set<std::string>& configurations,
              InspectTotals& totals) {
  std::set<ValueId> weights;
  const std::vector<ValueId> stored = StoredWeights(graph);
  totals.layers += graph.layers.size();
  for (const Layer& layer : graph.layers) {
    if (layer.status == LayerStatus::kMeasurable) ++totals.measurable;
    if (layer.status == LayerStatus::kFree) ++totals.free;
    if (layer.status == LayerStatus::kUnknown) ++totals.unknown;
    for (const SubGraph& body : layer.bodies) {
      if (body.graph == nullptr) continue;
      if (body.may_run_oftener && body.least_executions == 0) ++totals.open_loops;
      const std::int64_t inner = Times(executions, TimesOf(layer, body));
      AddGraph(*body.graph, std::min(inner, kMaxExecutions), configurations, totals);
    }
    // What holds bodies does nothing beside them.
    if (!layer.bodies.empty()) continue;
    const auto add = [&](std::int64_t& sum, std::int64_t value) { sum = Plus(sum, Times(value, executions)); };
    add(totals.flops.value, layer.work.direct.value);
    add(totals.conventional_flops.value, layer.work.conventional.value);
    add(totals.read.value, layer.work.read().value);
    add(totals.written.value, layer.work.written.value);
    if (layer.workload) {
      configurations.insert(Format(*layer.workload));
      add(totals.multiply_adds, MultiplyAdds(*layer.workload));
      totals.sparse_products += IsSparse(*layer.workload) ? 1 : 0;
    }
    for (const Weight& weight : WeightsOf(graph, layer)) {
      const ValueId id = stored[weight.id.index()];
      if (!weights.insert(id).second) continue;
      const Value& value = graph.value(id);
      totals.parameters += weight.parameters;
      totals.parameter_bytes += SizeOf(value.type, ElementsOf(value));
    }
  }
}

}  // namespace

std::int64_t ParametersOf(const ModelGraph& graph, const Layer& layer) {
  std::int64_t sum = 0;
  for (const Weight& weight : WeightsOf(graph, layer)) sum += weight.parameters;
  return sum;
}

InspectTotals TotalsOf(const ModelGraph& graph) {
  InspectTotals totals;
  totals.weights = graph.weights;
  std::set<std::string> configurations;
  AddGraph(graph, 1, configurations, totals);
  totals.configurations = configurations.size();
  return totals;
}

std::string_view InspectStatus(const Layer& layer) {
  constexpr EnumNames<LayerStatus::kUnknown> kNames = {"measurable", "free", "unknown"};
  return kNames[layer.status];
}

}  // namespace infimum
