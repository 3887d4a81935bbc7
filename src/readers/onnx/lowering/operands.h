// A node's inputs and outputs with what a lowering needs of them checked: that they are given, and
// that type and shape are known. Errors name the input by position and by name.
//
//   INFIMUM_ASSIGN_OR_RETURN(const Shape x, InputShape(node, 0));
//   INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "src/core/layer/work.h"
#include "src/readers/onnx/parse/node_view.h"

namespace infimum::lowering {

bool HasInput(const NodeView& node, std::size_t position);
bool HasOutput(const NodeView& node, std::size_t position);

Result<Shape> InputShape(const NodeView& node, std::size_t position);
Result<DataType> InputType(const NodeView& node, std::size_t position);
Result<Shape> OutputShape(const NodeView& node, std::size_t position);
Result<DataType> OutputType(const NodeView& node, std::size_t position);

// Input `position` : none : output 0, as for operators of one operand.
Result<OperandTypes> UnaryTypes(const NodeView& node, std::size_t position = 0);
// Two inputs and output 0.
Result<OperandTypes> BinaryTypes(const NodeView& node, std::size_t first, std::size_t second);

// Whether an input is a weight, and its bias with it where there is one: only together may they be packed.
Constness ConstnessOf(const NodeView& node, std::size_t position, std::optional<std::size_t> bias = std::nullopt);

// The elements of a small integer input that is a constant; nullopt where they are not known.
std::optional<std::vector<std::int64_t>> InputValues(const NodeView& node, std::size_t position);
// The single element of such an input.
std::optional<std::int64_t> InputValue(const NodeView& node, std::size_t position);

// Counts a negative axis from the back; an error where it is outside of [-rank, rank).
Result<std::size_t> NormalizedAxis(std::int64_t axis, std::size_t rank);
// The attribute `name`, likewise.
Result<std::size_t> AxisIn(const NodeView& node, const std::string& name, std::int64_t otherwise, std::size_t rank);
// All of them, ascending and without repeats.
Result<std::vector<std::int64_t>> NormalizedAxes(const std::vector<std::int64_t>& axes, std::size_t rank);

// Product of the dimensions in [begin, end). The shape was checked when the node was entered.
std::int64_t ProductOf(const Shape& shape, std::size_t begin, std::size_t end);
// outer x axis x inner, in that order.
Shape AroundAxis(const Shape& shape, std::size_t axis);
// Without dimensions of one element.
Shape Squeezed(const Shape& shape);

}  // namespace infimum::lowering
