// Element-wise layers by kernels of ours: every kind, every type, with broadcasting.
#pragma once

#include <vector>

#include "infimum/layer/pointwise.h"
#include "microbench/kernels/cpu/vector/pointwise_rows.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

std::vector<Offer> PointwiseKernelOffers(const PointwiseConfig& config, const LayerValues& values);

// A candidate of ours: infimum/<name>:<instruction set>, on row-major tensors.
Offer KernelOffer(const std::string& name, std::function<Result<std::unique_ptr<Program>>(const Problem&)> make);

// A quantization as the kernels that convert rows take it.
QuantizeValues KernelValues(DataType type, const Quantization& quantization);

}  // namespace infimum::cpu
