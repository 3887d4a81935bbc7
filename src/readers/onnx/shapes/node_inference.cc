#include "src/readers/onnx/shapes/node_inference.h"

#include <optional>
#include <utility>

#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {

using google::protobuf::Arena;

const onnx::TensorProto* ProtoOf(KnownValue& value, Arena& arena) {
  if (value.proto == nullptr && value.tensor != nullptr) {
    auto* proto = Arena::CreateMessage<onnx::TensorProto>(&arena);
    EncodeTensor(*value.tensor, *proto);
    value.proto = proto;
  }
  return value.proto;
}

const Tensor* TensorOf(KnownValue& value) {
  if (value.tensor == nullptr && value.proto != nullptr) {
    const Result<Shape> shape = CheckedShapeOf(*value.proto);
    if (!shape.ok()) return nullptr;
    if (std::optional<Tensor> tensor = DecodeTensor(*value.proto, *shape))
      value.tensor = std::make_shared<const Tensor>(std::move(*tensor));
  }
  return value.tensor.get();
}

NodeInference::NodeInference(const onnx::NodeProto& node, std::vector<KnownValue*> inputs, Arena& arena)
    : node_(node), inputs_(std::move(inputs)), arena_(arena) {
  outputs_.reserve(static_cast<std::size_t>(node.output_size()));
  for (int i = 0; i < node.output_size(); ++i) outputs_.push_back(Arena::CreateMessage<onnx::TypeProto>(&arena));
}

const onnx::AttributeProto* NodeInference::getAttribute(const std::string& name) const {
  for (const onnx::AttributeProto& attribute : node_.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

const onnx::TypeProto* NodeInference::getInputType(std::size_t index) const {
  if (index >= inputs_.size()) fail_type_inference("input ", index, " is missing");
  return inputs_[index] == nullptr ? nullptr : inputs_[index]->type;
}

const onnx::TensorProto* NodeInference::getInputData(std::size_t index) const {
  if (index >= inputs_.size()) fail_type_inference("input ", index, " is missing");
  return inputs_[index] == nullptr ? nullptr : ProtoOf(*inputs_[index], arena_);
}

onnx::TypeProto* NodeInference::getOutputType(std::size_t index) {
  if (index >= outputs_.size()) fail_type_inference("output ", index, " is missing");
  return outputs_[index];
}

bool NodeInference::hasOutput(std::size_t index) {
  return index < outputs_.size() && !node_.output(static_cast<int>(index)).empty();
}

onnx::TypeProto* NodeInference::output_type(std::size_t index) const {
  return outputs_[index]->value_case() == onnx::TypeProto::VALUE_NOT_SET ? nullptr : outputs_[index];
}

}  // namespace infimum
