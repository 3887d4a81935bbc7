// Small graphs by hand: values are named when they are first used.
//
//   GraphBuilder g;  g.Input("x");  g.Layer("a", {"x"}, {"y"}, "pointwise kind=relu ...");  g.Output("y");
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "test") { graph.name = std::move(name); }

  ValueId Value(const std::string& name) {
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      if (graph.values[i].name == name) return ValueId(i);
    }
    infimum::Value value;
    value.name = name;
    value.type = DataType::kF32;
    value.shape = Shape{{8}};
    graph.values.push_back(value);
    return ValueId(graph.values.size() - 1);
  }

  void Input(const std::string& name) {
    graph.inputs.push_back(Value(name));
    graph.value(graph.inputs.back()).kind = ValueKind::kGraphInput;
  }
  void Weight(const std::string& name) { graph.value(Value(name)).kind = ValueKind::kWeight; }
  void Output(const std::string& name) {
    graph.outputs.push_back(Value(name));
    graph.value(graph.outputs.back()).is_graph_output = true;
  }

  // Without a workload the layer is free.
  infimum::Layer& Layer(const std::string& name, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& workload = "") {
    infimum::Layer layer;
    layer.name = name;
    layer.op = workload.empty() ? "Reshape" : "Op";
    for (const std::string& input : inputs) layer.inputs.emplace_back(Value(input));
    for (const std::string& output : outputs) layer.outputs.emplace_back(Value(output));
    layer.status = workload.empty() ? LayerStatus::kFree : LayerStatus::kMeasurable;
    if (workload.empty()) {
      layer.reason = "a view";
    } else {
      Result<Workload> parsed = ParseWorkload(workload);
      INFIMUM_CHECK(parsed.ok(), "the test's workload parses");
      layer.workload = std::move(*parsed);
      layer.work = WorkOf(*layer.workload);
    }
    graph.layers.push_back(std::move(layer));
    return graph.layers.back();
  }

  static void AddBody(infimum::Layer& layer, std::string name, GraphBuilder body, std::int64_t least_executions) {
    SubGraph sub;
    sub.name = std::move(name);
    sub.graph = std::make_unique<ModelGraph>(std::move(body.graph));
    sub.least_executions = least_executions;
    layer.bodies.push_back(std::move(sub));
  }

  ModelGraph graph;
};

}  // namespace infimum
