// Evaluates a node whose inputs are small constants: the Shape/Gather/Concat chains with which exporters
// compute shapes, masks and positions.
//
//   Fold(view of Concat({64}, {-1}))   -> {64, -1}
//
// What is not known here, or too large, is not an error: the result stays a weight without elements.
#pragma once

#include <optional>
#include <vector>

#include "src/readers/onnx/parse/node_view.h"

namespace infimum {

// The elements of every output, or nothing. Each present input must have its value; shapes and types of
// the outputs are those that inference found, and absent where it found none.
std::vector<Tensor> Fold(const NodeView& node);

// For the parts of Fold, each in its own file. `Folder` is one operator's evaluation.
using Folder = std::vector<Tensor> (*)(const NodeView& node);
Folder FindArithmeticFolder(std::string_view op);
Folder FindMovementFolder(std::string_view op);
Folder FindReductionFolder(std::string_view op);

// One tensor as a list, nothing as an empty one.
std::vector<Tensor> ListOf(std::optional<Tensor> tensor);

// An axis of ONNX, negative ones counted from the end; nullopt outside of the rank.
std::optional<std::size_t> AxisOf(std::int64_t axis, std::size_t rank);

}  // namespace infimum
