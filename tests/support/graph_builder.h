// Small models by hand.
//
//   GraphBuilder model;
//   ValueId x = model.Input("x", {8, 1000});
//   ValueId w = model.Weight("w", {1000, 10});
//   ValueId y = model.MatMul("fc", x, w);
//   model.Output(model.Unary("relu", PointwiseKind::kRelu, y));
//   const ModelGraph& graph = model.graph();
//
// Or by names alone, where shapes do not matter: each value is made when it is first named, f32 of eight elements.
//
//   GraphBuilder model;  model.Input("x");  model.Layer("a", {"x"}, {"y"}, "pointwise kind=relu ...");
//   model.Output("y");
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum::testing {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "") { graph_.name = std::move(name); }

  ValueId Input(std::string name, std::vector<std::int64_t> dims, DataType type = DataType::kF32);
  ValueId Weight(std::string name, std::vector<std::int64_t> dims, DataType type = DataType::kF32);
  // A constant of one element.
  ValueId Number(std::string name, float number);
  // A constant of f16 or bf16, by the bits of its element.
  ValueId Number16(std::string name, DataType type, std::uint16_t bits);
  // A value of the graph around, seen by name.
  ValueId Captured(std::string name, std::vector<std::int64_t> dims);
  void Output(ValueId value);

  ValueId MatMul(const std::string& name, ValueId a, ValueId b);
  ValueId Unary(const std::string& name, PointwiseKind kind, ValueId input);
  ValueId Binary(const std::string& name, PointwiseKind kind, ValueId a, ValueId b);
  // Any operator with one output; its operands are `inputs`, in order.
  ValueId Measurable(const std::string& name, const std::string& op, std::vector<ValueId> inputs, LayerConfig config);
  // Rows of a table.
  ValueId Gather(const std::string& name, ValueId table, ValueId indices, std::int64_t count);
  ValueId View(const std::string& name, ValueId input, std::vector<std::int64_t> dims);
  ValueId Free(const std::string& name, const std::string& op, std::vector<ValueId> inputs,
               std::vector<std::int64_t> dims, DataType type);
  ValueId Unknown(const std::string& name, ValueId input);
  ValueId If(const std::string& name, ValueId condition, ModelGraph then_branch, ModelGraph else_branch);
  ValueId Loop(const std::string& name, ValueId input, ModelGraph body, std::int64_t least_executions);

  ValueId Value(const std::string& name);
  void Input(const std::string& name);
  void Weight(const std::string& name);
  void Output(const std::string& name) { Output(Value(name)); }
  // Without a workload the layer is free.
  infimum::Layer& Layer(const std::string& name, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& workload = "");
  static void AddBody(infimum::Layer& layer, std::string name, GraphBuilder body, std::int64_t least_executions);

  infimum::Layer& last() { return graph_.layers.back(); }
  ModelGraph& graph() { return graph_; }
  ModelGraph Take() { return std::move(graph_); }

 private:
  ValueId AddValue(std::string name, ValueKind kind, Shape shape, DataType type);
  ValueId AddLayer(const std::string& name, const std::string& op, std::vector<ValueId> inputs, Shape shape,
                   DataType type, LayerStatus status);
  void SetWorkload(LayerConfig config);

  ModelGraph graph_;
};

}  // namespace infimum::testing
