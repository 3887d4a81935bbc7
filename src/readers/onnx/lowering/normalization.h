// Normalisations over the trailing dimensions, shared with the fused forms of com.microsoft.
#pragma once

#include "src/core/layer/normalization.h"
#include "src/readers/onnx/lowering/operator_table.h"

namespace infimum::lowering {

// Layer or RMS normalisation over the dimensions from `axis` on: canonically outer x inner.
NormalizationConfig TrailingNormalization(NormalizationKind kind, OperandTypes types, const Shape& shape,
                                          std::size_t axis, bool scale, bool bias);

// Softmax as ONNX defines it at an opset: before 13 everything from `axis` on is one line.
Result<SoftmaxConfig> ReadSoftmax(const NodeView& node, SoftmaxKind kind, bool one_line_from_axis);

// Y, Mean, InvStdDev: only the first is computed at inference.
Result<Lowering> LowerRms(const NodeView& node);

}  // namespace infimum::lowering
