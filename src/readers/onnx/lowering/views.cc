// Operators that cost nothing at inference, each with the reason, and control flow, whose bodies are
// layers of their own.
#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/operator_table.h"

namespace infimum::lowering {
namespace {

Result<Lowering> Reshaped(const NodeView&) { return Free("changes the shape, not the elements"); }
Result<Lowering> Same(const NodeView&) { return Free("returns its input"); }
Result<Lowering> FromShape(const NodeView&) { return Free("follows from shapes that are known"); }
Result<Lowering> Known(const NodeView&) { return Free("a constant"); }
Result<Lowering> Bodies(const NodeView&) { return Unknown("control flow: its bodies are graphs of their own"); }

// Dropout and its fused relatives: the mask, where one is asked for, is all ones.
Result<Lowering> LowerDropout(const NodeView& node) {
  const auto training = InputValue(node, 2);
  if (HasInput(node, 2) && !training) return Unknown("whether it drops elements is known only at run time");
  if (training.value_or(0) != 0)
    return Unknown("it drops elements (training_mode = 1); export the model for inference");
  if (node.opset < 7 && node.domain == kOnnx) {
    INFIMUM_ASSIGN_OR_RETURN(const bool test, Flag(node, "is_test", true));
    if (!test) return Unknown("it drops elements (is_test = 0); export the model for inference");
  }
  return Free("drops nothing at inference");
}

}  // namespace

std::span<const OperatorEntry> ViewOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Reshape", Reshaped},
      {kOnnx, "Flatten", Reshaped},
      {kOnnx, "Squeeze", Reshaped},
      {kOnnx, "Unsqueeze", Reshaped},
      {kMicrosoft, "ExpandDims", Reshaped},
      {kOnnx, "Identity", Same},
      {kMicrosoft, "SampleOp", Same},
      {kOnnx, "Shape", FromShape},
      {kOnnx, "Size", FromShape},
      {kOnnx, "Constant", Known},
      {kOnnx, "Dropout", LowerDropout},
      {kMicrosoft, "BitmaskDropout", LowerDropout},
      {kOnnx, "If", Bodies},
      {kOnnx, "Loop", Bodies},
      {kOnnx, "Scan", Bodies},
  };
  return kEntries;
}

}  // namespace infimum::lowering
