#include "microbench/reference/replay_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "infimum/measurement/contract.h"
#include "microbench/reference/random_fill.h"

namespace infimum::cpu {
namespace {

// The allowed error of an 8-bit layer: one step, relative to its range.
constexpr double kStepOfRange = 0x1p-7;

// The configuration that reads a step's operand, and as which of its own.
struct Reader {
  const LayerConfig* config = nullptr;
  std::size_t operand = 0;
};
Reader ReaderOf(const ReplayStep& step, std::size_t operand) {
  if (const auto* config = std::get_if<LayerConfig>(&step.workload)) return {config, operand};
  const Region& region = std::get<Region>(step.workload);
  std::size_t inputs = 0;
  for (const RegionMember& member : region.members) {
    for (const RegionOperand& one : member.operands)
      if (one.source == RegionOperand::Source::kInput)
        inputs = std::max(inputs, static_cast<std::size_t>(one.index) + 1);
  }
  const bool is_weight = operand >= inputs;
  const RegionOperand wanted{is_weight ? RegionOperand::Source::kWeight : RegionOperand::Source::kInput,
                             static_cast<std::int64_t>(is_weight ? operand - inputs : operand)};
  for (const RegionMember& member : region.members) {
    const auto found = std::ranges::find(member.operands, wanted);
    if (found != member.operands.end())
      return {&member.config, static_cast<std::size_t>(found - member.operands.begin())};
  }
  return {};
}

// The range of random weights of a GEMM or convolution with which its sums vary as its other operand does; 0 for all
// other operands.
double LargestWeight(const LayerConfig& config, std::size_t operand) {
  if (operand != 1) return 0;
  double depth = 0;
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&config)) {
    depth = static_cast<double>(convolution->input.dims[1]) / static_cast<double>(convolution->groups) *
            static_cast<double>(ElementCount(convolution->kernel));
  } else if (const auto* product = std::get_if<MatMulConfig>(&config)) {
    depth = static_cast<double>(product->a.dims.back());
  }
  return depth > 0 ? std::sqrt(3 / depth) : 0;
}

}  // namespace

Result<ReplayTensors> ReplayTensors::Of(const ReplaySchedule& schedule, const TensorFolder* folder,
                                        std::uint64_t seed) {
  std::vector<bool> made(schedule.tensors.size(), false);
  for (const ReplayStep& step : schedule.steps) {
    for (const std::size_t output : step.outputs) made[output] = true;
  }
  ReplayTensors result;
  result.are_expected_ = folder != nullptr;
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
      } else if (!made[i] && folder != nullptr) {
        INFIMUM_RETURN_IF_ERROR(folder->Read(tensor.name, tensor.type, tensor.shape, given.data()));
      }
    }
    if (tensor.is_output && folder != nullptr) {
      HostTensor& expected = result.expected_[i];
      INFIMUM_ASSIGN_OR_RETURN(expected, HostTensor::Make(tensor.shape, tensor.type));
      INFIMUM_RETURN_IF_ERROR(folder->Read(tensor.name, tensor.type, tensor.shape, expected.data()));
    }
  }
  if (folder == nullptr) INFIMUM_RETURN_IF_ERROR(result.Fill(schedule, seed));
  return result;
}

Status ReplayTensors::Fill(const ReplaySchedule& schedule, std::uint64_t seed) {
  std::vector<bool> is_filled(schedule.tensors.size(), false);
  // A product's weight that another step moves first is as small as the product wants it.
  std::vector<double> most(schedule.tensors.size(), 0);
  for (auto step = schedule.steps.rbegin(); step != schedule.steps.rend(); ++step) {
    for (std::size_t i = 0; i < step->operands.size(); ++i) {
      const std::size_t tensor = step->operands[i];
      const Reader reader = ReaderOf(*step, i);
      if (schedule.tensors[tensor].kind != ReplayTensorKind::kWeight || reader.config == nullptr) continue;
      most[tensor] = std::holds_alternative<MovementConfig>(*reader.config)
                         ? most[step->outputs[0]]
                         : LargestWeight(*reader.config, reader.operand);
    }
  }
  for (const ReplayStep& step : schedule.steps) {
    for (const std::size_t output : step.outputs) is_filled[output] = true;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      const std::size_t index = step.operands[i];
      const ReplayTensor& tensor = schedule.tensors[index];
      if (tensor.kind == ReplayTensorKind::kIntermediate || tensor.fill || is_filled[index]) continue;
      is_filled[index] = true;
      HostTensor& given = given_[index];
      const Reader reader = ReaderOf(step, i);
      if (reader.config == nullptr) continue;
      if (most[index] > 0 && !IsInteger(tensor.type)) {
        for (std::int64_t k = 0; k < given.count(); ++k) {
          const double unit = static_cast<double>(HashOf(seed + index, static_cast<std::uint64_t>(k)) >> 11) * 0x1p-53;
          given.Set(k, (2 * unit - 1) * most[index]);
        }
        continue;
      }
      const Operand as = OperandsOf(*reader.config)[reader.operand];
      INFIMUM_ASSIGN_OR_RETURN(HostTensor seen, HostTensor::Over(given.data(), as.shape, as.type));
      FillOperand(*reader.config, reader.operand, HashOf(seed, index), seen);
    }
  }
  return {};
}

Status ReplayTensors::Expect(std::size_t output, const HostTensor& elements) {
  INFIMUM_ASSIGN_OR_RETURN(expected_[output], HostTensor::Make(elements.shape(), elements.type()));
  std::memcpy(expected_[output].data(), elements.data(), elements.bytes());
  are_expected_ = true;
  return {};
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
