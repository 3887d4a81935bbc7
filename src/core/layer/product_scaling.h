// The numbers that benchmarks give a product of 8-bit integers, of which a layer's text says nothing because they
// change results, not cost. Zero points of weights are 0; an accumulator that stays s32 is not scaled.
//
//   a GEMM over 1,024 products of u8 by s8 to u8:
//     input (x - 121) / 64, weights 0.01 to 0.0175 by channel, output (y - 128) * 0.466
#pragma once

#include <cmath>
#include <cstdint>

#include "infimum/layer/data_type.h"

namespace infimum::product_scaling {

inline constexpr double kInputScale = 1.0 / 64;

// Of output channel c: element c % 7.
inline constexpr double kWeightScales[] = {0.01,          0.01 * 9 / 8,  0.01 * 10 / 8, 0.01 * 11 / 8,
                                           0.01 * 12 / 8, 0.01 * 13 / 8, 0.01 * 14 / 8};
inline constexpr double kMeanWeightScale = 0.014;

// The same zero for both: flipping the sign bit moves it by 128.
constexpr int InputZero(DataType type) { return type == DataType::kU8 ? 121 : 121 - 128; }

// Inputs have a deviation of about 74 steps, weights of 36: the outputs then of about 40. `depth`: products summed.
inline double OutputScale(std::int64_t depth) {
  return std::sqrt(static_cast<double>(depth)) * 74 * 36 * kInputScale * kMeanWeightScale / 40;
}
constexpr int OutputZero(DataType type) { return type == DataType::kU8 ? 128 : 2; }

}  // namespace infimum::product_scaling
