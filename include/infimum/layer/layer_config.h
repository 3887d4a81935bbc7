// A layer configuration: the logical operator with every parameter that changes its cost, and its one
// canonical text, which is plan line, benchmark label, database key and reproduction argument alike.
//
//   Result<LayerConfig> c = ParseLayerConfig("pointwise kind=relu dtype=f32:-:f32 in=802816");
//   Format(*c) == "pointwise kind=relu dtype=f32:-:f32 in=802816"
//
// ParseLayerConfig(Format(c)) == c for every valid c. Fields are written in one order; a field marked optional is
// left out when it has its default. Errors give the column (from 1) of what is wrong:
//   17: unknown field 'strid' for convolution, did you mean 'stride'?
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "infimum/layer/pointwise.h"
#include "src/core/layer/attention.h"
#include "src/core/layer/convolution.h"
#include "src/core/layer/matmul.h"
#include "src/core/layer/movement.h"
#include "src/core/layer/normalization.h"
#include "src/core/layer/pooling.h"
#include "src/core/layer/recurrent.h"
#include "src/core/layer/reduction.h"

namespace infimum {

using LayerConfig = std::variant<ConvolutionConfig, MatMulConfig, PoolingConfig, NormalizationConfig, SoftmaxConfig,
                                 PointwiseConfig, ReductionConfig, ScanConfig, SortConfig, RecurrentConfig,
                                 AttentionConfig, ResampleConfig, MovementConfig, ReorderConfig>;

std::string Format(const LayerConfig& config);
Result<LayerConfig> ParseLayerConfig(std::string_view text);

// The family's name, the first word of the text.
std::string_view FamilyOf(const LayerConfig& config);

Status Validate(const LayerConfig& config);
Work WorkOf(const LayerConfig& config);
const OperandTypes& TypesOf(const LayerConfig& config);

// Shape and type of each operand in operand order (see each family's header), and of each output.
struct Operand {
  Shape shape;
  DataType type = DataType::kF32;
  bool constant = false;

  friend bool operator==(const Operand&, const Operand&) = default;
};
std::vector<Operand> OperandsOf(const LayerConfig& config);
std::vector<Operand> OutputsOf(const LayerConfig& config);

}  // namespace infimum
