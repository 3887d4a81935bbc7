#include "infimum/graph/model_graph.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_map>

#include "src/core/graph/captured_values.h"

namespace infimum {
namespace {

// Names of values that a body takes from outside: those that it neither produces nor declares as inputs.
// ONNX lets no body name a value like one outside, so a name means the same thing in both.
void CollectCaptured(const ModelGraph& body, std::set<std::string_view>& captured) {
  std::set<std::string_view> own;
  for (ValueId input : body.inputs) own.insert(body.value(input).name);
  std::set<std::string_view> wanted;
  for (const Layer& layer : body.layers) {
    for (const std::optional<ValueId>& output : layer.outputs) {
      if (output) own.insert(body.value(*output).name);
    }
    for (const std::optional<ValueId>& input : layer.inputs) {
      if (input) wanted.insert(body.value(*input).name);
    }
    for (const SubGraph& inner : layer.bodies) CollectCaptured(*inner.graph, wanted);
  }
  for (ValueId output : body.outputs) wanted.insert(body.value(output).name);
  std::set_difference(wanted.begin(), wanted.end(), own.begin(), own.end(), std::inserter(captured, captured.end()));
}

std::int64_t CappedProduct(std::int64_t a, std::int64_t b) { return a > kMaxExecutions / b ? kMaxExecutions : a * b; }

void VisitBelow(const ModelGraph& graph, std::int64_t executions,
                const std::function<void(const Layer&, std::int64_t)>& visit) {
  for (const Layer& layer : graph.layers) {
    visit(layer, executions);
    for (const SubGraph& body : layer.bodies) {
      VisitBelow(*body.graph, CappedProduct(executions, std::max<std::int64_t>(body.least_executions, 1)), visit);
    }
  }
}

}  // namespace

std::vector<std::vector<LayerId>> Predecessors(const ModelGraph& graph) {
  std::vector<std::optional<LayerId>> producer(graph.values.size());
  std::unordered_map<std::string_view, LayerId> producer_by_name;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    for (const std::optional<ValueId>& output : graph.layers[i].outputs) {
      if (!output) continue;
      producer[output->index()] = LayerId(i);
      producer_by_name.emplace(graph.value(*output).name, LayerId(i));
    }
  }
  std::vector<std::vector<LayerId>> predecessors(graph.layers.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    std::vector<LayerId>& before = predecessors[i];
    for (const std::optional<ValueId>& input : layer.inputs) {
      // What is known before any run waits for nothing, though a layer may stand for it (the Shape of a value).
      if (input && producer[input->index()] && graph.value(*input).kind != ValueKind::kWeight)
        before.push_back(*producer[input->index()]);
    }
    std::set<std::string_view> captured;
    for (const SubGraph& body : layer.bodies) CollectCaptured(*body.graph, captured);
    for (std::string_view name : captured) {
      const auto found = producer_by_name.find(name);
      if (found != producer_by_name.end() && found->second < LayerId(i)) before.push_back(found->second);
    }
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
  }
  return predecessors;
}

std::vector<ValueId> CapturedValues(const ModelGraph& graph) {
  std::set<std::string_view> names;
  for (const Layer& layer : graph.layers)
    for (const SubGraph& body : layer.bodies) CollectCaptured(*body.graph, names);
  std::vector<ValueId> captured;
  if (names.empty()) return captured;
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (names.contains(graph.values[i].name)) captured.push_back(ValueId(i));
  return captured;
}

void VisitLayers(const ModelGraph& graph,
                 const std::function<void(const Layer& layer, std::int64_t executions)>& visit) {
  VisitBelow(graph, 1, visit);
}

}  // namespace infimum
