// The numeric contract: what a candidate may do to the numbers and still count.
//
//   strict-f32   f32 storage, multiply and accumulate
//   tf32         f32 storage, 10-bit mantissa in products
//   f16, bf16    storage in that type, f32 accumulation
//   int8         8-bit integer storage and products, s32 accumulation
//   fp8          8-bit floats, f32 accumulation
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "infimum/layer/workload.h"

namespace infimum {

enum class NumericContract { kStrictF32, kTf32, kF16, kBf16, kInt8, kFp8 };

std::string_view Name(NumericContract contract);
std::optional<NumericContract> FindContract(std::string_view name);

// The contract that a workload's own storage types ask for: int8 where the input or the output has at
// most 8 integer bits (weights alone do not: those of 4 bits or f8 under f16 activations are f16 arithmetic),
// else the narrowest floating type of input, weights and output; strict-f32 where nothing is narrower,
// also for f64 and for integers of indices and shapes. A region: its first product's, or first member's.
NumericContract NativeContract(const Workload& workload);

// Why no candidate of a workload can count under a contract: what it stores is of another. "" where one may:
//
//   f32 under int8     "it is stored as the contract strict-f32 has it, and int8 asks for 8-bit integers: a ..."
//   f16 under bf16     "it is stored as the contract f16 has it, and bf16 asks for that type or f32"
//   f32 under f16      "": its products may be rounded so
//   s8 under any       "": integer products are exact, and a quantized model keeps its layers
std::string ContractRefusal(NumericContract contract, const Workload& workload);

// What the distance from the f64 reference is measured in. By family and output type:
//   integer outputs of at most 8 bits   kSteps       units of the output, i.e. of its scale
//   convolution, matmul                 kProduct     |y - ref| / (|A| |B|), element by element
//   softmax, normalization              kMaximum     |y - ref| / max|ref|
//   everything else                     kRelative    |y - ref| / max(|ref|, 1)
// A region is measured by its last member's output type and its first GEMM (or first member).
enum class ErrorMeasure { kProduct, kMaximum, kRelative, kSteps };
ErrorMeasure MeasureOf(const Workload& workload);

// The largest error in that measure that still meets the contract, over all elements; 0 where the result
// must be exact. The table and its reasons are in contract.cc.
double Tolerance(NumericContract contract, const Workload& workload);

}  // namespace infimum
