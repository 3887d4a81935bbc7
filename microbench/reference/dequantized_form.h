// The meaning of a layer of 8-bit tensors with scales of its own: the same layer in f32, between a DequantizeLinear of
// each operand and a QuantizeLinear of the result.
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

#include "microbench/reference/reference.h"

namespace infimum::cpu {

std::optional<LayerConfig> DequantizedForm(const LayerConfig& config, const LayerValues& values);

// nullptr where the layer has no form, or its form no reference.
std::unique_ptr<Reference> MakeDequantizedReference(const LayerConfig& config, const LayerValues& values);

// Whether a tensor of this type has a scale: integers of at most 16 bits.
bool IsNarrow(DataType type);

LayerValues WithoutQuantization(LayerValues values);

}  // namespace infimum::cpu
