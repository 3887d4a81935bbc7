// The convolution that Conv, ConvInteger, QLinearConv, FusedConv and their channels-last forms share:
// they differ in the positions of the operands among the inputs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "src/core/layer/convolution.h"
#include "src/readers/onnx/lowering/operator_table.h"

namespace infimum::lowering {

struct ConvolutionInputs {
  std::size_t input = 0;
  std::size_t weights = 1;
  std::size_t bias = 2;
};

// The configuration of a forward or transposed convolution, checked against the declared output.
Result<ConvolutionConfig> ReadConvolution(const NodeView& node, const ConvolutionInputs& inputs, bool transposed);

// The same node as if its activations were channels first: input 0, the inputs in `also` and output 0
// are NxHxWxC and are seen as NxCxHxW. Layouts are no part of a workload, so the lowering is the same.
Result<Lowering> LowerChannelsLast(const NodeView& node, LowerFunction lower, std::span<const std::size_t> also = {});

// "Relu" -> relu, "" and "NONE" -> nullopt; an error for an activation without a kind.
Result<std::optional<PointwiseKind>> ActivationKind(const std::string& name);

Result<Lowering> LowerConvolution(const NodeView& node);
Result<Lowering> LowerTransposedConvolution(const NodeView& node);
Result<Lowering> LowerFusedConvolution(const NodeView& node);

}  // namespace infimum::lowering
