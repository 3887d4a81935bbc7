// What a layer of 8-bit tensors with scales of its own means: the same layer in f32, between a DequantizeLinear of each
// operand and a QuantizeLinear of the result.
//
//   reduction kind=mean dtype=s8:-:s8 in=2048x49 axes=1, in0_scale 0.02, out_scale 0.01
//     dequantize, reduction kind=mean dtype=f32:-:f32 in=2048x49 axes=1, quantize
//
// Products multiply the integers themselves, conversions are what they are: neither has such a form. Nor has a layer
// that only moves elements between tensors of one scale. Without values of its own a layer computes on integers as they
// are, as benchmarks do.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "infimum/layer/layer_config.h"
#include "infimum/measurement/candidate.h"
#include "microbench/onednn/kernels/pointwise_rows.h"
#include "microbench/onednn/program.h"
#include "microbench/onednn/reference.h"
#include "microbench/onednn/values.h"

namespace infimum::cpu {

std::optional<LayerConfig> DequantizedForm(const LayerConfig& config, const LayerValues& values);

// Programs that convert, run an offer of the form, and convert back, each over whole tensors; kDequantized stands
// before the offer's name. Empty where the layer has no form.
inline constexpr std::string_view kDequantized = "dequantized/";
std::vector<Offer> DequantizedOffers(const LayerConfig& config, CandidateTier tier, const LayerValues& values);

// nullptr where the layer has no form, or its form no reference.
std::unique_ptr<Reference> MakeDequantizedReference(const LayerConfig& config, const LayerValues& values);

// A quantization as the kernels that convert rows take it.
QuantizeValues KernelValues(DataType type, const Quantization& quantization);

}  // namespace infimum::cpu
