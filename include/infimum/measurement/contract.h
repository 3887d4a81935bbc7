// The numeric contract: what a candidate may do to the numbers and still count.
//
//   strict-f32   f32 storage, multiply and accumulate
//   tf32         f32 storage, 10-bit mantissa in products
//   f16, bf16    storage in that type, f32 accumulation
//   int8         8-bit integer storage and products, s32 accumulation
//   fp8          8-bit floats, f32 accumulation
#pragma once

#include <optional>
#include <string_view>

#include "infimum/layer/workload.h"

namespace infimum {

enum class NumericContract { kStrictF32, kTf32, kF16, kBf16, kInt8, kFp8 };

std::string_view Name(NumericContract contract);
std::optional<NumericContract> FindContract(std::string_view name);

// The contract that a workload's own storage types ask for.
NumericContract NativeContract(const Workload& workload);

// How far a result may be from the f64 reference: for products |y - ref| / (|A| |B|), for softmax and
// normalisations error / max|ref|, else error / max(|ref|, 1); for int8, steps of the output scale.
double Tolerance(NumericContract contract, const Workload& workload);

}  // namespace infimum
