#include <onnx/shape_inference/implementation.h>

#include <unordered_set>

#include "src/readers/onnx/graph_builder.h"
#include "src/readers/onnx/parse/input_dimensions.h"
#include "src/readers/onnx/shapes/microsoft_shapes.h"

namespace infimum {
namespace {

// Nodes of a graph and of all bodies in it.
std::int64_t CountNodes(const onnx::GraphProto& graph) {
  std::int64_t count = graph.node_size();
  for (const onnx::NodeProto& node : graph.node()) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) count += CountNodes(attribute.g());
      for (const onnx::GraphProto& body : attribute.graphs()) count += CountNodes(body);
    }
  }
  return count;
}

// Equal inputs do not give equal outputs, so nothing is known before the first inference.
bool IsRandom(std::string_view op) {
  static const std::unordered_set<std::string_view> random = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                                              "RandomUniformLike", "Multinomial",      "Bernoulli"};
  return random.contains(op);
}

}  // namespace

ReadContext::ReadContext(ModelFile& file, const ReadOptions& options)
    : file_(file),
      model_(file.model()),
      dims_(options.dims),
      arena_(file.arena()),
      external_data_(file.path(), !options.needs_weights),
      weights_(options.floats),
      // Each node once, and loops again while their shapes settle, but nested ones not without end.
      nodes_left_(1000 + 64 * CountNodes(model_.graph())) {
  for (const onnx::OperatorSetIdProto& import : model_.opset_import())
    opsets_[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
  if (model_.ir_version() < 3 && opsets_.empty()) opsets_[""] = 1;  // before operator sets had versions
}

std::optional<std::int64_t> ReadContext::OpsetOf(std::string_view domain) const {
  const auto found = opsets_.find(domain);
  return found == opsets_.end() ? std::nullopt : std::optional<std::int64_t>(found->second);
}

const OperatorInfo& ReadContext::Find(const std::string& domain, const std::string& op) {
  const auto [found, inserted] = operators_.try_emplace(domain + "/" + op);
  OperatorInfo& info = found->second;
  if (!inserted) return info;
  if (const auto function = FindMicrosoftInference(domain, op)) {
    info.infer = function;
    info.foldable = true;
    return info;
  }
  const std::int64_t opset = OpsetOf(domain).value_or(1);
  if (opset < 1 || opset > INT32_MAX) return info;
  info.schema = onnx::OpSchemaRegistry::Schema(op, static_cast<int>(opset), domain);
  if (info.schema == nullptr || info.schema->Deprecated()) return info;
  info.foldable = !IsRandom(op);
  if (info.schema->has_type_and_shape_inference_function()) {
    info.infer = info.schema->GetTypeAndShapeInferenceFunction();
  } else if (info.schema->HasFunction()) {
    const onnx::FunctionProto* function = info.schema->GetFunction(static_cast<int>(opset));
    if (function != nullptr)
      info.infer = [function](onnx::InferenceContext& context) {
        onnx::shape_inference::DataValueMap known;
        onnx::shape_inference::InferShapeForFunctionNode(*function, onnx::OpSchemaRegistry::Instance(), context,
                                                         onnx::ShapeInferenceOptions(false, 1, true), {}, nullptr,
                                                         &known);
      };
  }
  return info;
}

onnx::TypeProto* ReadContext::ClaimedType(const std::string& value) {
  if (!claimed_) {
    claimed_.emplace();
    for (const onnx::ValueInfoProto& info : model_.graph().value_info()) claimed_->emplace(info.name(), &info.type());
    for (const onnx::ValueInfoProto& info : model_.graph().output()) claimed_->emplace(info.name(), &info.type());
  }
  const auto found = claimed_->find(value);
  return found == claimed_->end() ? nullptr : BoundType(*found->second, dims_, arena_);
}

Status ReadContext::CountNode() {
  if (--nodes_left_ >= 0) return {};
  return Error{"loops are nested too deeply to infer their shapes; unroll the innermost ones"};
}

bool ReadContext::KeepElements(std::size_t bytes) {
  if (bytes > bytes_left_) return false;
  bytes_left_ -= bytes;
  return true;
}

}  // namespace infimum
