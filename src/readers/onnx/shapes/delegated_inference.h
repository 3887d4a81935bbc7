// Lets ONNX's inference function of one operator answer for another one that has the same shapes under
// other inputs, attributes or layouts.
//
//   DelegatedInference conv(context, {0, 3});   // QLinearConv: x and w are inputs 0 and 3
//   conv.Infer("Conv", 11);
#pragma once

#include <onnx/defs/shape_inference.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace infimum {

class DelegatedInference final : public onnx::InferenceContext {
 public:
  // `inputs`: for each input of the other operator, the input of this one.
  DelegatedInference(onnx::InferenceContext& base, std::vector<std::size_t> inputs);

  // The type that the other operator sees in place of its input.
  void ReplaceInput(std::size_t index, onnx::TypeProto type);
  void SetAttribute(const std::string& name, std::vector<std::int64_t> values);
  void SetAttribute(const std::string& name, std::int64_t value);
  // Runs the inference of ONNX's operator in that operator set.
  void Infer(const std::string& op, int opset);

  const onnx::AttributeProto* getAttribute(const std::string& name) const override;
  std::size_t getNumInputs() const override { return types_.size(); }
  const onnx::TypeProto* getInputType(std::size_t index) const override { return types_.at(index); }
  const onnx::TensorProto* getInputData(std::size_t index) const override;
  std::size_t getNumOutputs() const override { return base_.getNumOutputs(); }
  onnx::TypeProto* getOutputType(std::size_t index) override { return base_.getOutputType(index); }
  bool hasOutput(std::size_t index) override { return base_.hasOutput(index); }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string&) override { return nullptr; }
  const onnx::SparseTensorProto* getInputSparseData(std::size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(std::size_t) const override { return nullptr; }

 private:
  onnx::InferenceContext& base_;
  std::vector<std::size_t> inputs_;
  std::vector<const onnx::TypeProto*> types_;
  std::map<std::size_t, onnx::TypeProto> replaced_;
  std::map<std::string, onnx::AttributeProto> attributes_;
};

// The type with its dimensions in the order `order`; unchanged where the rank is another or not known.
onnx::TypeProto Permuted(const onnx::TypeProto& type, const std::vector<int>& order);
// Channels last to channels second, and back.
onnx::TypeProto ToChannelsSecond(const onnx::TypeProto& type);
onnx::TypeProto ToChannelsLast(const onnx::TypeProto& type);

// Null where there is no such input, or its shape is not known.
const onnx::TensorShapeProto* InputShape(const onnx::InferenceContext& context, std::size_t index);
// The output's element type from an input, or as given.
void SetElementTypeFrom(onnx::InferenceContext& context, std::size_t input, std::size_t output);
void SetElementType(onnx::InferenceContext& context, int onnx_type, std::size_t output);
// The output has the shape of the input.
void SetShapeFrom(onnx::InferenceContext& context, std::size_t input, std::size_t output);
onnx::TensorShapeProto* OutputShapeOf(onnx::InferenceContext& context, std::size_t output);

}  // namespace infimum
