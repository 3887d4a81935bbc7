// Copies of elements as members of a region: what several fused operators have inside.
#pragma once

#include "src/core/layer/movement.h"
#include "src/readers/onnx/lowering/operator_table.h"

namespace infimum::lowering {

// No axis, no permutation: slices, pads, copies, expansions.
MovementConfig Move(MovementKind kind, DataType type, const Shape& input, const Shape& output);
MovementConfig Fill(DataType type, const Shape& output);
MovementConfig Concat(DataType type, const std::vector<Shape>& inputs, std::size_t axis);
MovementConfig Transpose(DataType type, const Shape& input, const std::vector<std::int64_t>& permutation);
// Rows of a table by `indices` of them: in=rows x row out=count x row.
MovementConfig GatherRows(DataType type, DataType index_type, std::int64_t rows, std::int64_t row, std::int64_t count);

// Whether a permutation only moves dimensions of one element: the elements stay in their order.
bool KeepsOrder(const Shape& shape, const std::vector<std::int64_t>& permutation);

Result<Lowering> LowerConcat(const NodeView& node);

}  // namespace infimum::lowering
