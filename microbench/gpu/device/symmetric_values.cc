#include "microbench/gpu/device/symmetric_values.h"

#include <cmath>

namespace infimum::cuda {
namespace {

constexpr double kInputScale = 1.0 / 64;
constexpr double kWeightScale = 1.0 / 72;
// Deviations of random operands in steps: all 8 bits of the one, 7 of the other. Results then have one of 40 steps.
constexpr double kInputDeviation = 74, kWeightDeviation = 36, kOutputDeviation = 40;

cpu::LayerValues ValuesOf(const OperandTypes& types, std::int64_t depth) {
  cpu::LayerValues values;
  if (!IsInteger(types.input)) return values;
  values.operands = {{{kInputScale}, {0}}, {{kWeightScale}, {0}}};
  if (IsInteger(types.output) && types.output != DataType::kS32) {
    const double deviation = std::sqrt(static_cast<double>(depth)) * kInputDeviation * kWeightDeviation;
    values.output = {{kInputScale * kWeightScale * deviation / kOutputDeviation}, {0}};
  }
  return values;
}

}  // namespace

cpu::ValuedRegion BenchmarkedRegion(const Workload& workload) {
  cpu::ValuedRegion problem{cpu::RegionOf(workload), {}};
  for (const RegionMember& member : problem.region.members) {
    if (const auto* convolution = std::get_if<ConvolutionConfig>(&member.config)) {
      const std::int64_t depth = convolution->input.dims[1] / convolution->groups * ElementCount(convolution->kernel);
      problem.values.push_back(ValuesOf(convolution->types, depth));
    } else if (const auto* product = std::get_if<MatMulConfig>(&member.config)) {
      problem.values.push_back(ValuesOf(product->types, product->a.dims.back()));
    } else {
      problem.values.emplace_back();
    }
  }
  return problem;
}

Result<double> FactorOf(const OperandTypes& types, std::int64_t depth, const cpu::LayerValues& values) {
  const cpu::ProductValues product = cpu::ProductValuesOf(types, depth, values);
  if (product.input_zero != 0 || product.output_zero != 0 || !product.symmetric())
    return Error{"unsupported: zero points, which GPU libraries do not have"};
  if (product.weight_scales.size() > 1) return Error{"unsupported: a scale for each channel"};
  return product.input_scale * product.WeightScale(0) / product.output_scale;
}

}  // namespace infimum::cuda
