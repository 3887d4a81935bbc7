// If, Loop and Scan: their bodies become graphs of their own with the least number of times that they
// run, so that a bound can count them. A branch whose condition is known replaces its If.
#include <algorithm>
#include <utility>

#include "infimum/base/text.h"
#include "src/core/graph/run_time_quantities.h"
#include "src/readers/onnx/graph_builder.h"
#include "src/readers/onnx/parse/node_view.h"
#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {
namespace {

using google::protobuf::Arena;

const onnx::GraphProto* BodyOf(const onnx::NodeProto& node, std::string_view name) {
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  return nullptr;
}

// The dimension of `axis` taken out of a tensor's type, or put in; null for what is no shaped tensor.
onnx::TypeProto* WithoutAxis(const onnx::TypeProto& type, std::int64_t axis, Arena& arena) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return nullptr;
  auto* result = Arena::CreateMessage<onnx::TypeProto>(&arena);
  *result = type;
  auto& dims = *result->mutable_tensor_type()->mutable_shape()->mutable_dim();
  if (axis < 0) axis += dims.size();
  if (axis < 0 || axis >= dims.size()) return nullptr;
  dims.DeleteSubrange(static_cast<int>(axis), 1);
  return result;
}

onnx::TypeProto* WithAxis(const onnx::TypeProto& type, std::int64_t axis, std::optional<std::int64_t> extent,
                          Arena& arena) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return nullptr;
  auto* result = Arena::CreateMessage<onnx::TypeProto>(&arena);
  result->mutable_tensor_type()->set_elem_type(type.tensor_type().elem_type());
  const auto& dims = type.tensor_type().shape().dim();
  if (axis < 0) axis += dims.size() + 1;
  if (axis < 0 || axis > dims.size()) return nullptr;
  auto& wider = *result->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i <= dims.size(); ++i) {
    if (i == axis) {
      auto* dim = wider.add_dim();
      if (extent) dim->set_dim_value(*extent);
    }
    if (i < dims.size()) *wider.add_dim() = dims.Get(i);
  }
  return result;
}

// What holds for both: equal dimensions stay, others become unknown; null where they are no such tensors.
onnx::TypeProto* Common(const onnx::TypeProto* a, const onnx::TypeProto* b, Arena& arena) {
  if (a == nullptr || b == nullptr || !a->has_tensor_type() || !b->has_tensor_type()) return nullptr;
  if (a->tensor_type().elem_type() != b->tensor_type().elem_type()) return nullptr;
  auto* result = Arena::CreateMessage<onnx::TypeProto>(&arena);
  result->mutable_tensor_type()->set_elem_type(a->tensor_type().elem_type());
  const auto& first = a->tensor_type().shape().dim();
  const auto& second = b->tensor_type().shape().dim();
  if (!a->tensor_type().has_shape() || !b->tensor_type().has_shape() || first.size() != second.size()) return result;
  auto& shape = *result->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < first.size(); ++i) {
    auto* dim = shape.add_dim();
    const bool equal = first.Get(i).has_dim_value() && second.Get(i).has_dim_value() &&
                       first.Get(i).dim_value() == second.Get(i).dim_value();
    if (equal) dim->set_dim_value(first.Get(i).dim_value());
  }
  return result;
}

// Whether the second type promises no more than the first: a loop whose state keeps this shape may rely on it.
bool Keeps(const onnx::TypeProto* state, const onnx::TypeProto* next) {
  if (state == nullptr) return true;
  if (next == nullptr || state->value_case() != next->value_case()) return false;
  if (!state->has_tensor_type() || !state->tensor_type().has_shape()) return true;
  const auto& before = state->tensor_type().shape().dim();
  const auto& after = next->tensor_type().shape().dim();
  if (!next->tensor_type().has_shape() || before.size() != after.size()) return false;
  for (int i = 0; i < before.size(); ++i)
    if (before.Get(i).has_dim_value() &&
        (!after.Get(i).has_dim_value() || before.Get(i).dim_value() != after.Get(i).dim_value()))
      return false;
  return true;
}

onnx::TypeProto* ScalarType(int onnx_type, Arena& arena) {
  auto* type = Arena::CreateMessage<onnx::TypeProto>(&arena);
  SetTensorType(onnx_type, Shape{}, *type);
  return type;
}

// Of a value that is one integer, and known.
std::optional<std::int64_t> OnlyInteger(KnownValue& value) {
  const std::optional<std::vector<std::int64_t>> integers = IntegersOf(TensorOf(value));
  return integers && integers->size() == 1 ? std::optional(integers->front()) : std::nullopt;
}

KnownValue Variable(onnx::TypeProto* type) {
  KnownValue value;
  value.type = type;
  return value;
}

}  // namespace

struct OnnxGraphBuilder::Body {
  std::unique_ptr<ModelGraph> graph;
  std::vector<KnownValue> outputs;
  std::vector<ValueId> captured;
};

Result<OnnxGraphBuilder::Body> OnnxGraphBuilder::BuildBody(const onnx::GraphProto& graph,
                                                           const std::vector<KnownValue>& arguments) {
  OnnxGraphBuilder builder(context_, this);
  INFIMUM_RETURN_IF_ERROR(builder.Build(graph, arguments));
  Body body;
  body.outputs = builder.outputs();
  body.captured = builder.captured();
  body.graph = std::make_unique<ModelGraph>(builder.Take());
  return body;
}

void OnnxGraphBuilder::AddBody(Layer& layer, std::string name, Body body, std::optional<std::int64_t> executions) {
  // What the body reads from here is an input of the layer: it must wait for it.
  for (const ValueId id : body.captured)
    if (std::find(layer.inputs.begin(), layer.inputs.end(), id) == layer.inputs.end()) layer.inputs.emplace_back(id);
  layer.bodies.push_back({std::move(name), std::move(body.graph), executions.value_or(0), !executions});
}

Status OnnxGraphBuilder::AddCounted(const onnx::NodeProto& node, std::vector<KnownValue> outputs, Layer layer) {
  layer.status = LayerStatus::kFree;
  layer.reason = "its bodies count as sub-graphs";
  INFIMUM_RETURN_IF_ERROR(AddOutputs(node, std::move(outputs), layer));
  graph_.layers.push_back(std::move(layer));
  return {};
}

bool OnnxGraphBuilder::IsConstantTrue(std::optional<ValueId> id) {
  if (!id) return true;  // not given: no condition
  return known(*id).constant && OnlyInteger(known(*id)).value_or(0) != 0;
}

Status OnnxGraphBuilder::AddIf(const onnx::NodeProto& node, Layer layer) {
  const onnx::GraphProto* branches[] = {BodyOf(node, "then_branch"), BodyOf(node, "else_branch")};
  if (branches[0] == nullptr || branches[1] == nullptr || layer.inputs.empty() || !layer.inputs[0])
    return Error{"an If needs a condition, a then_branch and an else_branch"};
  KnownValue& condition = known(*layer.inputs[0]);
  if (condition.constant) {
    if (const std::optional<std::int64_t> truth = OnlyInteger(condition))
      return InlineBranch(node, *branches[*truth != 0 ? 0 : 1], std::move(layer));
  } else if (const auto holds = StateQuantity(kIfThen, layer.name, 0, 1)) {
    return InlineBranch(node, *branches[*holds != 0 ? 0 : 1], std::move(layer));
  }
  std::vector<KnownValue> outputs(static_cast<std::size_t>(node.output_size()));
  for (const bool first : {true, false}) {
    const char* name = first ? "then_branch" : "else_branch";
    Result<Body> body = BuildBody(*branches[first ? 0 : 1], {});
    if (!body.ok()) return Within(name, body.error());
    if (body->outputs.size() != outputs.size())
      return Error{std::string(name) + " has " + std::to_string(body->outputs.size()) + " outputs where the node has " +
                   std::to_string(outputs.size())};
    for (std::size_t i = 0; i < outputs.size(); ++i)
      outputs[i].type =
          first ? body->outputs[i].type : Common(outputs[i].type, body->outputs[i].type, context_.arena());
    // Either may run: the least is none, and a bound takes the cheaper of the two.
    AddBody(layer, name, std::move(*body), 0);
  }
  return AddCounted(node, std::move(outputs), std::move(layer));
}

Status OnnxGraphBuilder::InlineBranch(const onnx::NodeProto& node, const onnx::GraphProto& branch, Layer layer) {
  if (branch.output_size() != node.output_size())
    return Error{"the branch has " + std::to_string(branch.output_size()) + " outputs where the node has " +
                 std::to_string(node.output_size())};
  layer.status = LayerStatus::kFree;
  layer.reason = "folded: its condition is known or stated, and the layers of that branch replace it";
  graph_.layers.push_back(std::move(layer));
  const std::size_t first_own = graph_.values.size();
  scopes_.emplace_back();
  INFIMUM_RETURN_IF_ERROR(AddInitializers(branch));
  INFIMUM_RETURN_IF_ERROR(AddNodes(branch));
  std::vector<ValueId> results;
  for (const onnx::ValueInfoProto& output : branch.output()) {
    const std::optional<ValueId> id = Find(output.name());
    if (!id) return UndefinedName(output.name(), "branch output");
    results.push_back(*id);
  }
  scopes_.pop_back();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& name = node.output(static_cast<int>(i));
    if (name.empty()) continue;
    if (!scopes_.back().emplace(name, results[i]).second) return Error{"output " + Quoted(name) + " is defined twice"};
    if (results[i].index() >= first_own) graph_.value(results[i]).name = name;
  }
  return {};
}

Status OnnxGraphBuilder::AddLoop(const onnx::NodeProto& node, Layer layer) {
  const onnx::GraphProto* proto = BodyOf(node, "body");
  if (proto == nullptr || layer.inputs.size() < 2) return Error{"a Loop needs a trip count, a condition and a body"};
  const std::size_t states = layer.inputs.size() - 2;
  Arena& arena = context_.arena();

  std::vector<onnx::TypeProto*> types;
  for (std::size_t i = 0; i < states; ++i) {
    const std::optional<ValueId> id = layer.inputs[i + 2];
    types.push_back(id ? known(*id).type : nullptr);
  }
  // The body runs only while the condition holds, so inside it is true.
  KnownValue condition = Variable(ScalarType(onnx::TensorProto::BOOL, arena));
  condition.constant = true;
  condition.tensor = std::make_shared<const Tensor>(Tensor{DataType::kBool, Shape{}, {std::byte{1}}});
  // The state enters with its first shape; dimensions that the body changes become unknown, once, then all.
  std::optional<Body> body;
  for (int attempt = 0;; ++attempt) {
    std::vector<KnownValue> arguments = {Variable(ScalarType(onnx::TensorProto::INT64, arena)), condition};
    for (onnx::TypeProto* type : types) arguments.push_back(Variable(type));
    INFIMUM_ASSIGN_OR_RETURN(body, Within("body", BuildBody(*proto, arguments)));
    if (body->outputs.size() != static_cast<std::size_t>(node.output_size()) + 1 || body->outputs.size() < states + 1)
      return Error{"the body has " + std::to_string(body->outputs.size()) + " outputs where the node needs " +
                   std::to_string(node.output_size() + 1)};
    bool settled = true;
    for (std::size_t i = 0; i < states; ++i) {
      if (Keeps(types[i], body->outputs[i + 1].type)) continue;
      settled = false;
      types[i] = attempt == 0 ? Common(types[i], body->outputs[i + 1].type, arena) : nullptr;
    }
    if (settled) break;
  }

  std::optional<std::int64_t> trips;
  std::int64_t most = kMaxElements;
  if (layer.inputs[0]) {
    const std::optional<std::int64_t> count = OnlyInteger(known(*layer.inputs[0]));
    KnownValue& goes_on = body->outputs[0];
    const bool always = goes_on.constant && OnlyInteger(goes_on).value_or(0) != 0;
    if (count) most = std::clamp<std::int64_t>(*count, 0, kMaxElements);
    if (count && always && IsConstantTrue(layer.inputs[1])) trips = most;
  }
  if (!trips) trips = StateQuantity(kLoopTrips, layer.name, 0, most);
  std::vector<KnownValue> outputs(static_cast<std::size_t>(node.output_size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i < states)
      outputs[i].type = types[i];
    else if (body->outputs[i + 1].type != nullptr)
      outputs[i].type = WithAxis(*body->outputs[i + 1].type, 0, trips, arena);
  }
  AddBody(layer, "body", std::move(*body), trips);
  return AddCounted(node, std::move(outputs), std::move(layer));
}

Status OnnxGraphBuilder::AddScan(const onnx::NodeProto& node, Layer layer) {
  const onnx::GraphProto* proto = BodyOf(node, "body");
  const auto attribute = [&](const char* name) -> const AttributeValue* {
    const auto found = layer.attributes.find(name);
    return found == layer.attributes.end() ? nullptr : &found->second;
  };
  const auto* scanned_attribute = attribute("num_scan_inputs");
  const auto* scanned = scanned_attribute == nullptr ? nullptr : std::get_if<std::int64_t>(scanned_attribute);
  const auto count = static_cast<std::int64_t>(layer.inputs.size());
  if (proto == nullptr || scanned == nullptr || *scanned < 1 || *scanned > count)
    return Error{"a Scan needs a body and num_scan_inputs between 1 and its number of inputs"};
  const auto states = static_cast<std::size_t>(count - *scanned);
  const auto axis_of = [&](const char* name, std::size_t position) -> std::int64_t {
    const AttributeValue* value = attribute(name);
    const auto* axes = value == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(value);
    return axes == nullptr || position >= axes->size() ? 0 : (*axes)[position];
  };

  Arena& arena = context_.arena();
  std::vector<KnownValue> arguments;
  std::optional<std::int64_t> length;
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    onnx::TypeProto* type = layer.inputs[i] ? known(*layer.inputs[i]).type : nullptr;
    if (i >= states && type != nullptr) {
      const std::int64_t axis = axis_of("scan_input_axes", i - states);
      if (const std::optional<Shape> shape = ShapeOf(*type)) {
        const auto rank = static_cast<std::int64_t>(shape->rank());
        const std::int64_t at = axis < 0 ? axis + rank : axis;
        if (at < 0 || at >= rank)
          return Error{"scan input " + std::to_string(i - states) + " of " + std::to_string(rank) +
                       " dimensions has no axis " + std::to_string(axis)};
        length = shape->dims[static_cast<std::size_t>(at)];
      }
      type = WithoutAxis(*type, axis, arena);
    }
    arguments.push_back(Variable(type));
  }
  Result<Body> body = BuildBody(*proto, arguments);
  if (!body.ok()) return Within("body", body.error());
  if (body->outputs.size() != static_cast<std::size_t>(node.output_size()) || body->outputs.size() < states)
    return Error{"the body has " + std::to_string(body->outputs.size()) + " outputs where the node has " +
                 std::to_string(node.output_size())};
  std::vector<KnownValue> outputs(body->outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    onnx::TypeProto* type = body->outputs[i].type;
    if (i < states || type == nullptr)
      outputs[i].type = type;
    else
      outputs[i].type = WithAxis(*type, axis_of("scan_output_axes", i - states), length, arena);
  }
  AddBody(layer, "body", std::move(*body), length);
  return AddCounted(node, std::move(outputs), std::move(layer));
}

// Bodies of other operators: shown with their declared types, with an unknown number of iterations.
Status OnnxGraphBuilder::AddOtherBodies(const onnx::NodeProto& node, Layer layer) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    std::vector<KnownValue> arguments;
    for (const onnx::ValueInfoProto& input : attribute.g().input()) {
      auto* type = Arena::CreateMessage<onnx::TypeProto>(&context_.arena());
      *type = input.type();
      const std::optional<Shape> shape = ShapeOf(*type);
      const bool usable = type->has_tensor_type() && (!shape || CheckedElementCount(*shape).ok());
      arguments.push_back(Variable(usable ? type : nullptr));
    }
    Result<Body> body = BuildBody(attribute.g(), arguments);
    if (!body.ok()) return Within(Quoted(attribute.name()), body.error());
    AddBody(layer, attribute.name(), std::move(*body), std::nullopt);
  }
  layer.reason = "the number of iterations of " + layer.op + " is not known";
  std::vector<KnownValue> outputs(static_cast<std::size_t>(node.output_size()));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    outputs[i].type = context_.ClaimedType(node.output(static_cast<int>(i)));
  INFIMUM_RETURN_IF_ERROR(AddOutputs(node, std::move(outputs), layer));
  graph_.layers.push_back(std::move(layer));
  return {};
}

}  // namespace infimum
