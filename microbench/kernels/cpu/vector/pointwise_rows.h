// Element-wise functions over one contiguous row, in the types that arithmetic is done in: f32, f64, s32,
// s64, u8. Other types are converted block by block around them.
#pragma once

#include <cstdint>

#include "infimum/layer/pointwise.h"
#include "src/core/layer/reduction.h"

namespace infimum::cpu {

// What a row is computed in.
enum class ComputeType { kF32, kF64, kS32, kS64, kU8 };

// Operands step by one element, or by none where one element serves the whole row.
using UnaryRow = void (*)(const void* x, void* y, std::int64_t count);
using BinaryRow = void (*)(const void* a, int a_step, const void* b, int b_step, void* y, std::int64_t count);
using WhereRow = void (*)(const std::uint8_t* condition, int condition_step, const void* a, int a_step, const void* b,
                          int b_step, void* y, std::int64_t count);
using ConvertRow = void (*)(const void* x, void* y, std::int64_t count);

// A reduction of one row, and of rows into a row of totals.
struct ReductionRows {
  float (*row)(const float* x, std::int64_t count) = nullptr;
  void (*accumulate)(float* total, const float* x, std::int64_t count) = nullptr;
  float start = 0;
};

struct QuantizeValues {
  float scale;
  float zero;
  float low;
  float high;
};
using QuantizeRow = void (*)(const float* x, void* y, std::int64_t count, QuantizeValues values);
using DequantizeRow = void (*)(const void* x, float* y, std::int64_t count, QuantizeValues values);

}  // namespace infimum::cpu
