#include "src/readers/onnx/shapes/delegated_inference.h"

#include <onnx/defs/schema.h>

#include <utility>

namespace infimum {

DelegatedInference::DelegatedInference(onnx::InferenceContext& base, std::vector<std::size_t> inputs)
    : base_(base), inputs_(std::move(inputs)) {
  for (const std::size_t input : inputs_)
    types_.push_back(input < base.getNumInputs() ? base.getInputType(input) : nullptr);
}

void DelegatedInference::ReplaceInput(std::size_t index, onnx::TypeProto type) {
  types_.at(index) = &(replaced_[index] = std::move(type));
}

void DelegatedInference::SetAttribute(const std::string& name, std::vector<std::int64_t> values) {
  onnx::AttributeProto& attribute = attributes_[name];
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

void DelegatedInference::SetAttribute(const std::string& name, std::int64_t value) {
  onnx::AttributeProto& attribute = attributes_[name];
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void DelegatedInference::Infer(const std::string& op, int opset) {
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(op, opset, "");
  if (schema != nullptr) schema->GetTypeAndShapeInferenceFunction()(*this);
}

const onnx::AttributeProto* DelegatedInference::getAttribute(const std::string& name) const {
  const auto own = attributes_.find(name);
  return own != attributes_.end() ? &own->second : base_.getAttribute(name);
}

const onnx::TensorProto* DelegatedInference::getInputData(std::size_t index) const {
  return inputs_.at(index) < base_.getNumInputs() ? base_.getInputData(inputs_[index]) : nullptr;
}

onnx::TypeProto Permuted(const onnx::TypeProto& type, const std::vector<int>& order) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape() ||
      type.tensor_type().shape().dim_size() != static_cast<int>(order.size()))
    return type;
  onnx::TypeProto result;
  result.mutable_tensor_type()->set_elem_type(type.tensor_type().elem_type());
  auto& shape = *result.mutable_tensor_type()->mutable_shape();
  for (const int axis : order) *shape.add_dim() = type.tensor_type().shape().dim(axis);
  return result;
}

onnx::TypeProto ToChannelsSecond(const onnx::TypeProto& type) {
  const int rank = type.tensor_type().shape().dim_size();
  if (rank < 3) return type;
  std::vector<int> order = {0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) order.push_back(i);
  return Permuted(type, order);
}

onnx::TypeProto ToChannelsLast(const onnx::TypeProto& type) {
  const int rank = type.tensor_type().shape().dim_size();
  if (rank < 3) return type;
  std::vector<int> order = {0};
  for (int i = 2; i < rank; ++i) order.push_back(i);
  order.push_back(1);
  return Permuted(type, order);
}

const onnx::TensorShapeProto* InputShape(const onnx::InferenceContext& context, std::size_t index) {
  if (index >= context.getNumInputs()) return nullptr;
  const onnx::TypeProto* type = context.getInputType(index);
  if (type == nullptr || !type->has_tensor_type() || !type->tensor_type().has_shape()) return nullptr;
  return &type->tensor_type().shape();
}

void SetElementType(onnx::InferenceContext& context, int onnx_type, std::size_t output) {
  if (output < context.getNumOutputs()) context.getOutputType(output)->mutable_tensor_type()->set_elem_type(onnx_type);
}

void SetElementTypeFrom(onnx::InferenceContext& context, std::size_t input, std::size_t output) {
  if (input >= context.getNumInputs()) return;
  const onnx::TypeProto* type = context.getInputType(input);
  if (type != nullptr && type->has_tensor_type()) SetElementType(context, type->tensor_type().elem_type(), output);
}

void SetShapeFrom(onnx::InferenceContext& context, std::size_t input, std::size_t output) {
  const onnx::TensorShapeProto* shape = InputShape(context, input);
  if (shape != nullptr && output < context.getNumOutputs()) *OutputShapeOf(context, output) = *shape;
}

onnx::TensorShapeProto* OutputShapeOf(onnx::InferenceContext& context, std::size_t output) {
  return context.getOutputType(output)->mutable_tensor_type()->mutable_shape();
}

}  // namespace infimum
