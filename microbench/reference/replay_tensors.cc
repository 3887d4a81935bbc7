#include "microbench/reference/replay_tensors.h"

#include <algorithm>
#include <cmath>

#include "infimum/measurement/contract.h"

namespace infimum::cpu {
namespace {

// What a layer of 8 bits may be off by, one step, in parts of its range.
constexpr double kStepOfRange = 0x1p-7;

}  // namespace

Result<ReplayTensors> ReplayTensors::Read(const ReplaySchedule& schedule, const TensorFolder& folder) {
  std::vector<bool> made(schedule.tensors.size(), false);
  for (const ReplayStep& step : schedule.steps) {
    for (const std::size_t output : step.outputs) made[output] = true;
  }
  ReplayTensors result;
  result.given_.resize(schedule.tensors.size());
  result.expected_.resize(schedule.tensors.size());
  for (std::size_t i = 0; i < schedule.tensors.size(); ++i) {
    const ReplayTensor& tensor = schedule.tensors[i];
    result.names_.push_back(tensor.name);
    if (tensor.kind != ReplayTensorKind::kIntermediate) {
      HostTensor& given = result.given_[i];
      INFIMUM_ASSIGN_OR_RETURN(given, HostTensor::Make(tensor.shape, tensor.type));
      if (tensor.fill) {
        for (std::int64_t k = 0; k < given.count(); ++k) given.Set(k, *tensor.fill);
      } else if (!made[i]) {
        INFIMUM_RETURN_IF_ERROR(folder.Read(tensor.name, tensor.type, tensor.shape, given.data()));
      }
    }
    if (tensor.is_output) {
      HostTensor& expected = result.expected_[i];
      INFIMUM_ASSIGN_OR_RETURN(expected, HostTensor::Make(tensor.shape, tensor.type));
      INFIMUM_RETURN_IF_ERROR(folder.Read(tensor.name, tensor.type, tensor.shape, expected.data()));
    }
  }
  return result;
}

ReplayStep ReplayTensors::WithNumbers(const ReplayStep& step) const {
  ReplayStep result = step;
  for (std::size_t i = 0; i < step.value_tensors.size(); ++i) {
    for (const auto& [name, tensor] : step.value_tensors[i]) {
      std::vector<double>& numbers = result.values[i][name];
      for (std::int64_t k = 0; k < given_[tensor].count(); ++k) numbers.push_back(given_[tensor].Get(k));
    }
  }
  result.value_tensors.clear();
  return result;
}

ReplayOutput ReplayTensors::Compared(std::size_t tensor, const HostTensor& found) const {
  const HostTensor& expected = expected_[tensor];
  double largest = 0, difference = 0;
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    const double wanted = expected.Get(i), value = found.Get(i);
    if (std::isfinite(wanted)) largest = std::max(largest, std::fabs(wanted));
    if (value == wanted || (std::isnan(value) && std::isnan(wanted))) continue;
    const double distance = std::fabs(value - wanted);
    difference = std::isnan(distance) ? INFINITY : std::max(difference, distance);
  }
  ReplayOutput output;
  output.name = names_[tensor];
  output.error = difference == 0 ? 0 : difference / std::max(largest, 1e-30);
  return output;
}

void OutputTolerance::Add(const ReplayStep& step, double tolerance) {
  const bool in_steps = MeasureOf(step.workload) == ErrorMeasure::kSteps;
  const double allowed = in_steps ? std::min(tolerance, kStepOfRange) : tolerance;
  squares_ += allowed * allowed;
}

double OutputTolerance::value() const { return 2 * std::sqrt(squares_); }

}  // namespace infimum::cpu
