// What a layer configuration leaves open because it changes results, not cost: the values that
// benchmarks use. Kernels, primitives and the reference read them here, so that they agree.
#pragma once

#include <cmath>
#include <cstdint>

#include "infimum/layer/data_type.h"

namespace infimum::cpu {

inline constexpr double kEpsilon = 1e-5;
inline constexpr double kLeakySlope = 0.01;
inline constexpr double kEluAlpha = 1.0;
inline constexpr double kSeluAlpha = 1.67326319217681884765625;
inline constexpr double kSeluGamma = 1.05070102214813232421875;
inline constexpr double kHardSigmoidAlpha = 0.2;
inline constexpr double kHardSigmoidBeta = 0.5;
inline constexpr double kClipLow = 0.0;
inline constexpr double kClipHigh = 6.0;
inline constexpr double kThreshold = 1.0;
inline constexpr double kShrinkLambda = 0.5;
inline constexpr double kQuickGeluAlpha = 1.702;
inline constexpr double kCubicCoefficient = -0.75;
inline constexpr double kLpPower = 2.0;
inline constexpr double kResponseAlpha = 1e-4;
inline constexpr double kResponseBeta = 0.75;
inline constexpr double kResponseK = 1.0;

// QuantizeLinear and DequantizeLinear: floating point values of about -1 to 1 fill an 8-bit type.
inline constexpr double kQuantizeScale = 1.0 / 100;
inline constexpr std::int64_t ZeroPointOf(DataType type) {
  return type == DataType::kU8 ? 128 : type == DataType::kU16 ? 32768 : 3;
}

// Scales and zero points of a product of 8-bit integers. Weights are symmetric, with a scale for each
// output channel. Accumulators that stay s32 (ConvInteger, MatMulInteger) are not scaled.
struct ProductValues {
  double input_scale = 1;
  std::int64_t input_zero = 0;
  double output_scale = 1;
  std::int64_t output_zero = 0;
  bool scaled = false;

  double WeightScale(std::int64_t channel) const {
    return scaled ? 0.01 * (1 + static_cast<double>(channel % 7) / 8) : 1;
  }
};

// `depth`: products summed for each output element.
inline ProductValues ProductValuesOf(const OperandTypes& types, std::int64_t depth) {
  ProductValues values;
  if (!IsInteger(types.input)) return values;
  // The same zero for both: flipping the sign bit moves it by 128.
  values.input_zero = types.input == DataType::kU8 ? 121 : 121 - 128;
  if (types.output == DataType::kS32) return values;
  values.scaled = true;
  values.input_scale = 1.0 / 64;
  if (IsInteger(types.output)) {
    // Inputs have a deviation of about 74 steps, weights of 36: the outputs then of about 40.
    values.output_scale = std::sqrt(static_cast<double>(depth)) * 74 * 36 * values.input_scale * 0.014 / 40;
    values.output_zero = types.output == DataType::kU8 ? 128 : 2;
  }
  return values;
}

}  // namespace infimum::cpu
