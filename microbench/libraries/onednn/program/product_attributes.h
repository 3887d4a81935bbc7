// Scales and zero points of 8-bit products, as run-time attributes and their arguments; the same for
// convolutions and matrix products.
#pragma once

#include "microbench/libraries/onednn/program/primitive_program.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

// `channel_mask`: the bit of the weights' output-channel dimension (3 for grouped weights).
void SetProductAttributes(const ProductValues& values, int channel_mask, dnnl::primitive_attr& attributes);

// The vectors behind those attributes. Zero points of inputs that are floating point are absent.
void BindProductVectors(const ProductValues& values, std::int64_t channels, PrimitiveCall& call);

// The bias that oneDNN wants, which it adds after scaling: that of a product whose result is an 8-bit
// integer is an integer in the accumulator's scale and becomes f32.
DataType LibraryBiasType(const ProductValues& values, DataType bias);
void BindBias(const ProductValues& values, const HostTensor& bias, const Shape& shape, bool constant,
              PrimitiveCall& call);

}  // namespace infimum::cpu
