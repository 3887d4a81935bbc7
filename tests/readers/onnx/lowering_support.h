// Nodes in one line of text, so that a table of cases (lowering/*.txt) reads like the operators' documentation.
//
//   Gemm (f32 4x8, w f32 16x8 -> f32 4x16) transB=1
//     matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x16 bias=no weights=const {0,1}
//
// Operator: "Softmax", "Softmax@11" at an opset (else 21), "com.microsoft.Gelu" of another domain.
// Operands: type and shape; "w" before for a weight; "=[2,3]" behind for a weight's integer elements;
//   "-" for one that is not given; "?" for a shape that is not known.
// Attributes, behind the operands: "strides=[2,2] group=1 alpha=0.5 mode=linear names={Tanh;Relu}".
// Among the attributes numbers that only a run decides, as stated: "moe.experts=6".
// The answer: canonical text and {operand inputs}, or "free: ..." or "unknown: ...", with "; at least " and a text
// where one is known.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "src/readers/onnx/lowering/lower.h"

namespace infimum {

// A node with everything that its view points to.
class TestNode {
 public:
  explicit TestNode(std::string_view text);
  TestNode(const TestNode&) = delete;
  TestNode& operator=(const TestNode&) = delete;

  NodeView View() const;
  std::map<std::string, AttributeValue>& attributes() { return attributes_; }
  std::vector<std::optional<OperandView>>& inputs() { return inputs_; }
  std::vector<std::optional<OperandView>>& outputs() { return outputs_; }
  // A shape that lives as long as the node.
  const Shape* Keep(Shape shape);

 private:
  std::optional<OperandView> ReadOperand(std::string_view text);

  std::string op_;
  std::string domain_;
  std::int64_t opset_ = 21;
  std::vector<std::optional<OperandView>> inputs_;
  std::vector<std::optional<OperandView>> outputs_;
  std::map<std::string, AttributeValue> attributes_;
  StatedQuantities stated_;
  std::vector<std::unique_ptr<Shape>> shapes_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

std::string TextOf(const Lowering& lowering);

// What must hold of every answer: the workload is valid, its text reads back, and it has as many operands as inputs
// were named for it.
void ExpectSound(const Lowering& lowering);

// Changes one thing: drops an operand, its shape or its type, gives it other dimensions, gives an
// attribute another value or type.
void Damage(TestNode& node, std::mt19937& random);

}  // namespace infimum
