// What a layer configuration leaves open because it changes results, not cost: the values that
// benchmarks use, unless a replay brings the model's own. Kernels, primitives and the reference are given them alike,
// so that they agree; a kernel that has values compiled in is offered only where they are these.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "infimum/graph/replay_schedule.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/pointwise.h"

namespace infimum::cpu {

struct ScalarValues {
  double epsilon = 1e-5;
  double leaky_slope = 0.01;
  double elu_alpha = 1.0;
  double selu_alpha = 1.67326319217681884765625;
  double selu_gamma = 1.05070102214813232421875;
  double hard_sigmoid_alpha = 0.2;
  double hard_sigmoid_beta = 0.5;
  double clip_low = 0.0;
  double clip_high = 6.0;
  double threshold = 1.0;
  double shrink_lambda = 0.5;
  double quick_gelu_alpha = 1.702;
  double cubic_coefficient = -0.75;
  double lp_power = 2.0;
  double response_alpha = 1e-4;
  double response_beta = 0.75;
  double response_k = 1.0;
  // QuantizeLinear and DequantizeLinear: floating point values of about -1 to 1 fill an 8-bit type.
  double quantize_scale = 1.0 / 100;

  friend bool operator==(const ScalarValues&, const ScalarValues&) = default;
};
inline constexpr ScalarValues kUsualValues;

// All that a layer may be given. What is left out is as benchmarks have it.
struct LayerValues : ScalarValues {
  std::vector<std::int64_t> starts;  // of a slice, for each dimension; empty: from the front

  friend bool operator==(const LayerValues&, const LayerValues&) = default;
};

// From a schedule's names, which are those of the members above; the error names what is unknown or has a wrong count.
Result<LayerValues> LayerValuesFrom(const ReplayValues& values);

// Whether a kernel into which the usual values of a kind were compiled computes what these values ask for.
bool AreUsual(PointwiseKind kind, const LayerValues& values);

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
