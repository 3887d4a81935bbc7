#include "tests/support/graph_builder.h"

#include <cstring>
#include <memory>

namespace infimum::testing {

ValueId GraphBuilder::AddValue(std::string name, ValueKind kind, Shape shape, DataType type) {
  infimum::Value value;
  value.name = std::move(name);
  value.kind = kind;
  value.type = type;
  value.shape = std::move(shape);
  graph_.values.push_back(std::move(value));
  return ValueId(graph_.values.size() - 1);
}

ValueId GraphBuilder::Input(std::string name, std::vector<std::int64_t> dims, DataType type) {
  const ValueId id = AddValue(std::move(name), ValueKind::kGraphInput, Shape{std::move(dims)}, type);
  graph_.inputs.push_back(id);
  return id;
}

ValueId GraphBuilder::Weight(std::string name, std::vector<std::int64_t> dims, DataType type) {
  return AddValue(std::move(name), ValueKind::kWeight, Shape{std::move(dims)}, type);
}

ValueId GraphBuilder::Number(std::string name, float number) {
  const ValueId id = Weight(std::move(name), {});
  Tensor tensor{DataType::kF32, Shape{}, std::vector<std::byte>(sizeof number)};
  std::memcpy(tensor.bytes.data(), &number, sizeof number);
  graph_.value(id).constant = std::move(tensor);
  return id;
}

ValueId GraphBuilder::Number16(std::string name, DataType type, std::uint16_t bits) {
  const ValueId id = Weight(std::move(name), {});
  Tensor tensor{type, Shape{}, std::vector<std::byte>(sizeof bits)};
  std::memcpy(tensor.bytes.data(), &bits, sizeof bits);
  graph_.value(id).constant = std::move(tensor);
  return id;
}

ValueId GraphBuilder::Captured(std::string name, std::vector<std::int64_t> dims) {
  return AddValue(std::move(name), ValueKind::kIntermediate, Shape{std::move(dims)}, DataType::kF32);
}

void GraphBuilder::Output(ValueId value) {
  graph_.outputs.push_back(value);
  graph_.value(value).is_graph_output = true;
}

ValueId GraphBuilder::AddLayer(const std::string& name, const std::string& op, std::vector<ValueId> inputs, Shape shape,
                               DataType type, LayerStatus status) {
  infimum::Layer layer;
  layer.name = name;
  layer.op = op;
  layer.origins = {name};
  for (ValueId input : inputs) layer.inputs.push_back(input);
  layer.status = status;
  if (status != LayerStatus::kMeasurable) layer.reason = "by the test";
  const ValueId output = AddValue(name + "_out", ValueKind::kIntermediate, std::move(shape), type);
  layer.outputs.push_back(output);
  graph_.layers.push_back(std::move(layer));
  return output;
}

void GraphBuilder::SetWorkload(LayerConfig config) {
  infimum::Layer& layer = last();
  layer.work = WorkOf(config);
  layer.workload = std::move(config);
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) layer.operand_inputs.push_back(i);
}

ValueId GraphBuilder::MatMul(const std::string& name, ValueId a, ValueId b) {
  const Shape& left = *graph_.value(a).shape;
  const Shape& right = *graph_.value(b).shape;
  const bool constant = graph_.value(b).kind == ValueKind::kWeight;
  const auto config = MakeMatMul({DataType::kF32, DataType::kF32, DataType::kF32}, left, right, MatMulBias::kNone,
                                 constant ? Constness::kConstant : Constness::kVariable);
  INFIMUM_CHECK(config.ok(), "a test's shapes multiply");
  const Shape shape{{left.dims[0], right.dims[1]}};
  const ValueId output = AddLayer(name, "MatMul", {a, b}, shape, DataType::kF32, LayerStatus::kMeasurable);
  SetWorkload(*config);
  return output;
}

ValueId GraphBuilder::Unary(const std::string& name, PointwiseKind kind, ValueId input) {
  PointwiseConfig config;
  config.kind = kind;
  config.inputs = {*graph_.value(input).shape};
  const Shape shape = *graph_.value(input).shape;
  const ValueId output = AddLayer(name, "Relu", {input}, shape, DataType::kF32, LayerStatus::kMeasurable);
  SetWorkload(Canonicalize(config));
  return output;
}

ValueId GraphBuilder::Binary(const std::string& name, PointwiseKind kind, ValueId a, ValueId b) {
  PointwiseConfig config;
  config.kind = kind;
  config.types.weights = DataType::kF32;
  config.inputs = {*graph_.value(a).shape, *graph_.value(b).shape};
  const auto shape = Broadcast(config.inputs[0], config.inputs[1]);
  INFIMUM_CHECK(shape.ok(), "a test's shapes broadcast");
  const ValueId output = AddLayer(name, "Add", {a, b}, *shape, DataType::kF32, LayerStatus::kMeasurable);
  SetWorkload(Canonicalize(config));
  return output;
}

ValueId GraphBuilder::Measurable(const std::string& name, const std::string& op, std::vector<ValueId> inputs,
                                 LayerConfig config) {
  const Operand result = OutputsOf(config).front();
  const ValueId output = AddLayer(name, op, std::move(inputs), result.shape, result.type, LayerStatus::kMeasurable);
  SetWorkload(std::move(config));
  return output;
}

ValueId GraphBuilder::Gather(const std::string& name, ValueId table, ValueId indices, std::int64_t count) {
  MovementConfig config;
  config.kind = MovementKind::kGather;
  config.types.weights = DataType::kS64;
  config.inputs = {*graph_.value(table).shape};
  const std::int64_t columns = graph_.value(table).shape->dims[1];
  config.outputs = {Shape{{count, columns}}};
  config.axis = 0;
  config.indices = count;
  const ValueId output =
      AddLayer(name, "Gather", {table, indices}, config.outputs[0], DataType::kF32, LayerStatus::kMeasurable);
  SetWorkload(config);
  return output;
}

ValueId GraphBuilder::View(const std::string& name, ValueId input, std::vector<std::int64_t> dims) {
  return AddLayer(name, "Reshape", {input}, Shape{std::move(dims)}, graph_.value(input).type, LayerStatus::kFree);
}

ValueId GraphBuilder::Free(const std::string& name, const std::string& op, std::vector<ValueId> inputs,
                           std::vector<std::int64_t> dims, DataType type) {
  return AddLayer(name, op, std::move(inputs), Shape{std::move(dims)}, type, LayerStatus::kFree);
}

ValueId GraphBuilder::Unknown(const std::string& name, ValueId input) {
  const Shape shape = *graph_.value(input).shape;
  return AddLayer(name, "Strange", {input}, shape, DataType::kF32, LayerStatus::kUnknown);
}

ValueId GraphBuilder::If(const std::string& name, ValueId condition, ModelGraph then_branch, ModelGraph else_branch) {
  const Shape shape = *then_branch.value(then_branch.outputs[0]).shape;
  const ValueId output = AddLayer(name, "If", {condition}, shape, DataType::kF32, LayerStatus::kUnknown);
  last().bodies.push_back({"then_branch", std::make_unique<ModelGraph>(std::move(then_branch)), 0});
  last().bodies.push_back({"else_branch", std::make_unique<ModelGraph>(std::move(else_branch)), 0});
  return output;
}

ValueId GraphBuilder::Loop(const std::string& name, ValueId input, ModelGraph body, std::int64_t least_executions) {
  const Shape shape = *body.value(body.outputs[0]).shape;
  const ValueId output = AddLayer(name, "Loop", {input}, shape, DataType::kF32, LayerStatus::kUnknown);
  last().bodies.push_back({"body", std::make_unique<ModelGraph>(std::move(body)), least_executions});
  return output;
}

ValueId GraphBuilder::Value(const std::string& name) {
  for (std::size_t i = 0; i < graph_.values.size(); ++i)
    if (graph_.values[i].name == name) return ValueId(i);
  return AddValue(name, ValueKind::kIntermediate, Shape{{8}}, DataType::kF32);
}

void GraphBuilder::Input(const std::string& name) {
  graph_.inputs.push_back(Value(name));
  graph_.value(graph_.inputs.back()).kind = ValueKind::kGraphInput;
}

void GraphBuilder::Weight(const std::string& name) { graph_.value(Value(name)).kind = ValueKind::kWeight; }

infimum::Layer& GraphBuilder::Layer(const std::string& name, const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs, const std::string& workload) {
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
  graph_.layers.push_back(std::move(layer));
  return last();
}

void GraphBuilder::AddBody(infimum::Layer& layer, std::string name, GraphBuilder body, std::int64_t least_executions) {
  layer.bodies.push_back({std::move(name), std::make_unique<ModelGraph>(body.Take()), least_executions});
}

}  // namespace infimum::testing
