// What each family of layers provides beside its public functions; the functions on LayerConfig choose
// among these. A new family adds a line of each kind.
#pragma once

#include <vector>

#include "infimum/layer/layer_config.h"

namespace infimum {

// Shape and type of each operand and output, for a configuration that Validate accepts.
std::vector<Operand> OperandsOfFamily(const AttentionConfig& config);
std::vector<Operand> OperandsOfFamily(const ConvolutionConfig& config);
std::vector<Operand> OperandsOfFamily(const MatMulConfig& config);
std::vector<Operand> OperandsOfFamily(const MovementConfig& config);
std::vector<Operand> OperandsOfFamily(const NormalizationConfig& config);
std::vector<Operand> OperandsOfFamily(const PointwiseConfig& config);
std::vector<Operand> OperandsOfFamily(const PoolingConfig& config);
std::vector<Operand> OperandsOfFamily(const RecurrentConfig& config);
std::vector<Operand> OperandsOfFamily(const ReductionConfig& config);
std::vector<Operand> OperandsOfFamily(const ReorderConfig& config);
std::vector<Operand> OperandsOfFamily(const ResampleConfig& config);
std::vector<Operand> OperandsOfFamily(const ScanConfig& config);
std::vector<Operand> OperandsOfFamily(const SoftmaxConfig& config);
std::vector<Operand> OperandsOfFamily(const SortConfig& config);

std::vector<Operand> OutputsOfFamily(const AttentionConfig& config);
std::vector<Operand> OutputsOfFamily(const ConvolutionConfig& config);
std::vector<Operand> OutputsOfFamily(const MatMulConfig& config);
std::vector<Operand> OutputsOfFamily(const MovementConfig& config);
std::vector<Operand> OutputsOfFamily(const NormalizationConfig& config);
std::vector<Operand> OutputsOfFamily(const PointwiseConfig& config);
std::vector<Operand> OutputsOfFamily(const PoolingConfig& config);
std::vector<Operand> OutputsOfFamily(const RecurrentConfig& config);
std::vector<Operand> OutputsOfFamily(const ReductionConfig& config);
std::vector<Operand> OutputsOfFamily(const ReorderConfig& config);
std::vector<Operand> OutputsOfFamily(const ResampleConfig& config);
std::vector<Operand> OutputsOfFamily(const ScanConfig& config);
std::vector<Operand> OutputsOfFamily(const SoftmaxConfig& config);
std::vector<Operand> OutputsOfFamily(const SortConfig& config);

// A bias is added to the accumulator: it has the output's type, or s32 where integers are multiplied and
// the output is an integer too.
DataType BiasType(const OperandTypes& types);

}  // namespace infimum
