// Element-wise layers as steps of a program; what single layers and regions share.
#pragma once

#include "microbench/kernels/cuda/pointwise_program.h"

namespace infimum::cuda {

// In what arithmetic a layer's numbers are what they should be: floats in their own, integers exactly. nullopt: none.
std::optional<Arithmetic> ArithmeticOf(const PointwiseConfig& config, const cpu::LayerValues& values);

// Adds the layer on operands that stand at `places`. False where the kind is not known in the program's arithmetic.
bool AddLayer(const PointwiseConfig& config, const cpu::LayerValues& values,
              const std::vector<PointwiseProgram::Place>& places, PointwiseProgram& program);

// A complete program as offers "name:vector8", "name:vector4", or "name:scalar" where nothing wider is possible.
// Operands and outputs of the buffers are the program's.
std::vector<KernelOffer> ProgramOffers(const std::string& name, PointwiseProgram program);

// Batch normalization at inference: element-wise, with parameters by channel.
std::vector<KernelOffer> BatchNormalizationOffers(const NormalizationConfig& config, const cpu::LayerValues& values);

}  // namespace infimum::cuda
