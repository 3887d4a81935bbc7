// One node as ONNX's shape inference sees it. We walk the graph ourselves, node by node in topological
// order, and ask each operator's own inference function: so constants fold as we go, a chain of
// Shape/Gather/Concat gives its numbers to the Reshape behind it, and an error names its node.
//
//   NodeInference inference(node, {&x, &w}, arena);
//   schema->GetTypeAndShapeInferenceFunction()(inference);
//   inference.output_type(0)
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/defs/shape_inference.h>
#include <onnx/onnx_pb.h>

#include <memory>
#include <string>
#include <vector>

#include "infimum/graph/model_graph.h"
#include "src/core/graph/tensor.h"

namespace infimum {

// What is known of a value while the graph is read, beside what the ModelGraph keeps.
struct KnownValue {
  onnx::TypeProto* type = nullptr;           // null: not known; dimensions may be missing
  bool constant = false;                     // known before the first inference
  const onnx::TensorProto* proto = nullptr;  // the elements as ONNX holds them, where few
  std::shared_ptr<const Tensor> tensor;      // the same, decoded; either may be there without the other
  ZeroPattern zeros = {};
};

// The elements in either form, made from the other where that is missing; null where there are none.
const onnx::TensorProto* ProtoOf(KnownValue& value, google::protobuf::Arena& arena);
const Tensor* TensorOf(KnownValue& value);

class NodeInference final : public onnx::InferenceContext {
 public:
  // One entry for each input of the node; null where it is not given.
  NodeInference(const onnx::NodeProto& node, std::vector<KnownValue*> inputs, google::protobuf::Arena& arena);

  const onnx::AttributeProto* getAttribute(const std::string& name) const override;
  std::size_t getNumInputs() const override { return inputs_.size(); }
  const onnx::TypeProto* getInputType(std::size_t index) const override;
  bool hasInput(std::size_t index) const override { return index < inputs_.size() && inputs_[index] != nullptr; }
  const onnx::TensorProto* getInputData(std::size_t index) const override;
  std::size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(std::size_t index) override;
  bool hasOutput(std::size_t index) override;
  // Bodies are read by us (control_flow.cc), never from within an inference function.
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string&) override { return nullptr; }
  const onnx::SparseTensorProto* getInputSparseData(std::size_t) const override { return nullptr; }
  // ONNX's own partial data propagation; its results are folded here already.
  const onnx::TensorShapeProto* getSymbolicInput(std::size_t) const override { return nullptr; }
  std::string getDisplayName() const override { return node_.name(); }

  // Null where the inference function set nothing.
  onnx::TypeProto* output_type(std::size_t index) const;

 private:
  const onnx::NodeProto& node_;
  std::vector<KnownValue*> inputs_;
  std::vector<onnx::TypeProto*> outputs_;
  google::protobuf::Arena& arena_;
};

}  // namespace infimum
