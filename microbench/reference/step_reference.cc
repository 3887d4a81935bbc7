#include "microbench/reference/step_reference.h"

#include <algorithm>

#include "microbench/reference/dequantized_form.h"
#include "microbench/reference/reference.h"

namespace infimum::cpu {

NumericContract ContractOf(const Workload& workload, const ReplaySchedule& schedule) {
  const NumericContract own = NativeContract(workload);
  const std::optional<NumericContract> asked = FindContract(schedule.contract);
  return own == NumericContract::kStrictF32 && asked == NumericContract::kTf32 ? *asked : own;
}

Result<std::vector<LayerValues>> ValuesOf(const ReplayStep& step) {
  std::vector<LayerValues> all;
  for (const ReplayValues& values : step.values) {
    INFIMUM_ASSIGN_OR_RETURN(LayerValues one, LayerValuesFrom(values));
    all.push_back(std::move(one));
  }
  if (const auto* config = std::get_if<LayerConfig>(&step.workload)) {
    INFIMUM_RETURN_IF_ERROR(CheckValues(*config, all[0]));
    return all;
  }
  const Region& region = std::get<Region>(step.workload);
  for (std::size_t i = 0; i < region.members.size(); ++i) {
    INFIMUM_RETURN_IF_ERROR(CheckValues(region.members[i].config, all[i]));
  }
  return all;
}

Status StepProblem::Make(const Region& region, const RegionValues& values, const Operands& operands,
                         const Outputs& outputs) {
  problem_.region = region;
  problem_.values = values;
  std::int64_t inputs = 0;
  for (const RegionMember& member : region.members) {
    for (const RegionOperand& operand : member.operands) {
      if (operand.source == RegionOperand::Source::kInput) inputs = std::max(inputs, operand.index + 1);
    }
  }
  problem_.inputs.assign(operands.begin(), operands.begin() + inputs);
  problem_.weights.assign(operands.begin() + inputs, operands.end());
  for (std::size_t i = 0; i < region.members.size(); ++i) {
    std::vector<HostTensor*> results;
    for (const Operand& output : OutputsOf(region.members[i].config)) {
      const auto found = std::ranges::find(region.outputs, static_cast<std::int64_t>(i));
      if (found != region.outputs.end() && results.empty()) {
        results.push_back(outputs[static_cast<std::size_t>(found - region.outputs.begin())]);
        continue;
      }
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(output.shape, output.type));
      results.push_back(&inner_.emplace_back(std::move(tensor)));
    }
    problem_.members.push_back(std::move(results));
  }
  return {};
}

double StepTolerance(const ReplayStep& step, NumericContract contract) {
  const double tolerance = Tolerance(contract, step.workload);
  const auto* config = std::get_if<LayerConfig>(&step.workload);
  const Result<std::vector<LayerValues>> values = ValuesOf(step);
  const bool rounds = config != nullptr && values && IsNarrow(TypesOf(*config).output) &&
                      DequantizedForm(*config, values->front()).has_value();
  return rounds ? std::max(tolerance, 1.0) : tolerance;
}

Result<std::optional<double>> StepError(const ReplayStep& step, const Operands& operands, const Outputs& outputs,
                                        std::uint64_t seed) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<LayerValues> values, ValuesOf(step));
  if (const auto* region = std::get_if<Region>(&step.workload)) {
    StepProblem tensors;
    INFIMUM_RETURN_IF_ERROR(tensors.Make(*region, values, operands, outputs));
    return RegionError(tensors.problem(), seed);
  }
  const std::unique_ptr<Reference> reference = MakeReference(std::get<LayerConfig>(step.workload), values[0]);
  if (reference == nullptr) return std::optional<double>();
  std::deque<TensorSource> tensors;
  Sources sources;
  for (const HostTensor* operand : operands) sources.push_back(&tensors.emplace_back(*operand));
  return std::optional<double>(LargestError(*reference, MeasureOf(step.workload), sources, outputs, seed));
}

bool ComputeReference(const LayerConfig& config, const LayerValues& values, const Operands& operands,
                      const Outputs& outputs) {
  const std::unique_ptr<Reference> reference = MakeReference(config, values);
  if (reference == nullptr) return false;
  std::deque<TensorSource> tensors;
  Sources sources;
  for (const HostTensor* operand : operands) sources.push_back(&tensors.emplace_back(*operand));
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    HostTensor& tensor = *outputs[output];
    for (std::int64_t i = 0; i < tensor.count(); ++i) tensor.Set(i, reference->At(output, i, sources).value);
  }
  return true;
}

}  // namespace infimum::cpu
