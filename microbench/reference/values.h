// What a layer configuration leaves open because it changes results, not cost: the values that
// benchmarks use, unless a replay brings the model's own. Kernels, primitives and the reference are given them alike,
// so that they agree; a kernel that has values compiled in is offered only where they are these.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "infimum/graph/replay_schedule.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/layer_config.h"
#include "infimum/layer/pointwise.h"
#include "src/core/layer/small_float.h"

namespace infimum::cpu {

struct ScalarValues : PointwiseParameters {
  double epsilon = 1e-5;
  double cubic_coefficient = -0.75;
  double response_alpha = 1e-4;
  double response_beta = 0.75;
  double response_k = 1.0;
  // Of a resize to the nearest element: position p takes (p + shift) input / output, rounded down. 0.5: half pixels.
  double nearest_shift = 0.5;
  // Of linear and cubic resizes and grids, not 0: the first and the last element of input and output lie on each other,
  // and not their outer edges.
  double aligned_corners = 0;
  // Of a grid's positions outside of the input, not 0: the element at the edge, and not zero.
  double border = 0;
  // QuantizeLinear and DequantizeLinear: floating point values of about -1 to 1 fill an 8-bit type.
  double quantize_scale = 1.0 / 100;

  friend bool operator==(const ScalarValues&, const ScalarValues&) = default;
};
inline constexpr ScalarValues kUsualValues;

// The value of an element of an 8-bit tensor: (element - zero) * scale. One number each for the whole tensor, or of
// a product's weights one for each output channel.
struct Quantization {
  std::vector<double> scales{1};
  std::vector<double> zeros{0};

  double scale(std::size_t channel = 0) const { return scales[scales.size() == 1 ? 0 : channel]; }
  double zero(std::size_t channel = 0) const { return zeros[zeros.size() == 1 ? 0 : channel]; }
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

// All values that a layer may have. Absent ones are those of benchmarks.
struct LayerValues : ScalarValues {
  // A slice, for each dimension: where it starts (empty: at the front) and how far apart it takes elements (empty:
  // each one). A pad: where in its input it starts, below 0 by what comes before (empty: half of all).
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> steps;
  // Of 8-bit operands in their order, and of the result; empty and absent: the usual ones.
  std::vector<Quantization> operands;
  std::optional<Quantization> output;
  // Of an attention: what its scores are multiplied by (absent: 1 / sqrt(head)), and its mask; whether keys lie as
  // head x kv, as the first product of a model that writes attention out reads them.
  std::optional<double> scale;
  double mask_scale = 1;
  bool keys_transposed = false;
  bool quantized() const { return !operands.empty() || output; }
  friend bool operator==(const LayerValues&, const LayerValues&) = default;
};

// From a schedule's names, which are those of the members above, "in0_scale" and "in0_zero" of the first operand's
// quantization, "out_scale" and "out_zero" of the result's; the error names what is unknown or has a wrong count.
Result<LayerValues> LayerValuesFrom(const ReplayValues& values);

// Whether the configuration can be given these values: as many scales as it has channels, starts within its input.
Status CheckValues(const LayerConfig& config, const LayerValues& values);

// Whether a kernel into which the usual values of a kind were compiled computes what these values ask for.
bool AreUsual(PointwiseKind kind, const LayerValues& values);

inline std::int64_t ZeroPointOf(DataType type) {
  if (IsSmallFloat(type)) return 0;
  return type == DataType::kU8 ? 128 : type == DataType::kU16 ? 32768 : 3;
}

// Of QuantizeLinear, DequantizeLinear and what does one after the other.
Quantization InputQuantization(const OperandTypes& types, const LayerValues& values);
Quantization OutputQuantization(PointwiseKind kind, const OperandTypes& types, const LayerValues& values);

// Scales and zero points of a product of 8-bit integers. Accumulators that stay s32 (ConvInteger, MatMulInteger) are
// not scaled. Without values of its own, weights are symmetric, with a scale for each output channel.
struct ProductValues {
  double input_scale = 1;
  std::int64_t input_zero = 0;
  std::vector<double> weight_scales;  // empty: the usual ones
  std::vector<double> weight_zeros;   // empty: all zero
  double output_scale = 1;
  std::int64_t output_zero = 0;
  bool scaled = false;

  double WeightScale(std::int64_t channel) const;
  double WeightZero(std::int64_t channel) const;
  // Libraries take weights that are symmetric alone.
  bool symmetric() const;
};

// `depth`: products summed for each output element.
ProductValues ProductValuesOf(const OperandTypes& types, std::int64_t depth, const LayerValues& values = {});

}  // namespace infimum::cpu
