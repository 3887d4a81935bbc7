// Nodes in one line of text, so that a table of cases reads like the operators' documentation.
//
//   LowerText({"Conv", "f32 1x3x8x8, w f32 16x3x3x3 -> f32 1x16x6x6", ""})
//     ->  "convolution dtype=f32:f32:f32 in=1x3x8x8 ... {0,1}"
//
// Operator: "Softmax", "Softmax@11" at an opset (else 21), "com.microsoft.Gelu" of another domain.
// Operands: type and shape; "w" before for a weight; "=[2,3]" behind for a weight's integer elements;
//   "-" for one that is not given; "?" for a shape that is not known.
// Attributes: "strides=[2,2] group=1 alpha=0.5 mode=linear names={Tanh;Relu}".
// The answer: canonical text and {operand inputs}, or "free: ..." or "unknown: ...".
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "src/readers/onnx/lowering/lower.h"

namespace infimum {

struct LoweringCase {
  std::string op;
  std::string operands;
  std::string attributes;
  std::string expected;
};

// A node with everything that its view points to.
class TestNode {
 public:
  TestNode(const std::string& op, const std::string& operands, const std::string& attributes);
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
  std::vector<std::unique_ptr<Shape>> shapes_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

std::string TextOf(const Lowering& lowering);

// Lowers each case and compares; also checks what must hold of every answer: the workload is valid, its
// text reads back, and it has as many operands as inputs were named for it. The same must hold of the
// case with its inputs, shapes and attributes damaged in a hundred ways, none of which may crash.
void ExpectLowerings(const std::vector<LoweringCase>& cases);
void ExpectSound(const Lowering& lowering);

// Changes one thing: drops an operand, its shape or its type, gives it other dimensions, gives an
// attribute another value or type.
void Damage(TestNode& node, std::mt19937& random);

}  // namespace infimum
