// Normalisations and softmax by kernels of ours, on row-major tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/values.h"
#include "src/core/layer/normalization.h"

namespace infimum::cpu {

// What those kernels do with one row of f32: from x, which may be y, to y.
using RowFunction = std::function<void(const float* x, float* y)>;

// Whether a normalization goes over rows of neighbouring elements: layer and RMS normalizations.
bool IsRowwise(const NormalizationConfig& config);
// `operands` as the layer's; the first of them, the rows, is not looked at and may be null.
RowFunction NormalizationRow(const NormalizationConfig& config, const LayerValues& values,
                             const std::vector<const HostTensor*>& operands);
RowFunction SoftmaxRow(SoftmaxKind kind, std::int64_t length);

std::vector<Offer> NormalizationKernelOffers(const NormalizationConfig& config, const LayerValues& values);
std::vector<Offer> SoftmaxKernelOffers(const SoftmaxConfig& config);

}  // namespace infimum::cpu
