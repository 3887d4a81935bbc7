#include "microbench/gpu/device/symmetric_values.h"

#include <algorithm>
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

Result<std::vector<double>> FactorsOf(const OperandTypes& types, std::int64_t depth, const cpu::LayerValues& values) {
  const cpu::ProductValues product = cpu::ProductValuesOf(types, depth, values);
  if (product.input_zero != 0 || product.output_zero != 0 || !product.symmetric())
    return Error{"unsupported: zero points, which GPU libraries do not have"};
  std::vector<double> factors;
  const auto channels = static_cast<std::int64_t>(std::max<std::size_t>(product.weight_scales.size(), 1));
  for (std::int64_t c = 0; c < channels; ++c)
    factors.push_back(product.input_scale * product.WeightScale(c) / product.output_scale);
  return factors;
}

}  // namespace infimum::cuda
