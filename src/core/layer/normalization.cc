#include "src/core/layer/normalization.h"

#include <array>

#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

constexpr std::array kNormalizationNames = {
    NamedValue<NormalizationKind>{NormalizationKind::kBatch, "batch"},
    NamedValue<NormalizationKind>{NormalizationKind::kLayer, "layer"},
    NamedValue<NormalizationKind>{NormalizationKind::kInstance, "instance"},
    NamedValue<NormalizationKind>{NormalizationKind::kGroup, "group"},
    NamedValue<NormalizationKind>{NormalizationKind::kRms, "rms"},
    NamedValue<NormalizationKind>{NormalizationKind::kLocalResponse, "lrn"},
    NamedValue<NormalizationKind>{NormalizationKind::kLp, "lp"},
    NamedValue<NormalizationKind>{NormalizationKind::kMeanVariance, "mvn"},
};

constexpr std::array kSoftmaxNames = {
    NamedValue<SoftmaxKind>{SoftmaxKind::kSoftmax, "softmax"},
    NamedValue<SoftmaxKind>{SoftmaxKind::kLogSoftmax, "log_softmax"},
    NamedValue<SoftmaxKind>{SoftmaxKind::kHardmax, "hardmax"},
};

ExactCount FlopsPerElement(const NormalizationConfig& config) {
  switch (config.kind) {
    case NormalizationKind::kBatch:
      return 2;
    case NormalizationKind::kLayer:
    case NormalizationKind::kInstance:
    case NormalizationKind::kGroup:
    case NormalizationKind::kMeanVariance:
      return 8;
    case NormalizationKind::kRms:
    case NormalizationKind::kLp:
      return 5;
    case NormalizationKind::kLocalResponse:
      return ExactCount(2) * config.size + 3;
  }
  CheckFailed(__FILE__, __LINE__, "kind", "a normalization kind is one of the enumerators");
}

bool HasStatistics(const NormalizationConfig& config) { return config.kind == NormalizationKind::kBatch; }

bool HasParameters(const NormalizationConfig& config) { return config.scale || config.bias || HasStatistics(config); }

// The shape of scale, bias, mean and variance: one element for each channel, or for each position of the normalized
// dimensions.
Shape ParameterShape(const NormalizationConfig& config) {
  const auto axis = config.input.dims.begin() + config.axis;
  if (config.kind == NormalizationKind::kLayer || config.kind == NormalizationKind::kRms)
    return Shape{{axis, config.input.dims.end()}};
  return Shape{{*axis}};
}

Status CheckFields(const NormalizationConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, HasParameters(config)));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("in", config.input));
  if (config.input.rank() == 0) return Error{"in=scalar has nothing to normalize over, write at least one dimension"};
  INFIMUM_RETURN_IF_ERROR(CheckRange("axis", config.axis, 0, static_cast<std::int64_t>(config.input.rank()) - 1));
  if (config.kind == NormalizationKind::kGroup) {
    INFIMUM_RETURN_IF_ERROR(CheckRange("groups", config.groups, 1, kMaxElements));
    const std::int64_t channels = config.input.dims[static_cast<std::size_t>(config.axis)];
    if (channels % config.groups != 0)
      return Error{"groups=" + std::to_string(config.groups) + " does not divide " + std::to_string(channels) +
                   " channels"};
  } else if (config.groups != 0) {
    return Error{"groups belongs to kind=group, remove it"};
  }
  if (config.kind == NormalizationKind::kLocalResponse) {
    INFIMUM_RETURN_IF_ERROR(CheckRange("size", config.size, 1, kMaxElements));
  } else if (config.size != 0) {
    return Error{"size belongs to kind=lrn, remove it"};
  }
  const bool may_have_parameters = config.kind != NormalizationKind::kLocalResponse &&
                                   config.kind != NormalizationKind::kLp &&
                                   config.kind != NormalizationKind::kMeanVariance;
  if (!may_have_parameters && (config.scale || config.bias))
    return Error{"kind=" + ValueText(config.kind) + " has neither scale nor bias, write scale=no bias=no"};
  return {};
}

Result<Work> ComputeWork(const NormalizationConfig& config) {
  INFIMUM_ASSIGN_OR_RETURN(const Flops flops, (FlopsPerElement(config) * ElementCount(config.input)).AsFlops());
  return WholeWork(OperandsOfFamily(config), OutputsOfFamily(config), flops);
}

Status CheckFields(const SoftmaxConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, false));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("in", config.input));
  if (config.input.rank() == 0) return Error{"in=scalar has no axis, write at least one dimension"};
  return CheckRange("axis", config.axis, 0, static_cast<std::int64_t>(config.input.rank()) - 1);
}

}  // namespace

std::span<const NamedValue<NormalizationKind>> NamesOf(NormalizationKind) { return kNormalizationNames; }
std::span<const NamedValue<SoftmaxKind>> NamesOf(SoftmaxKind) { return kSoftmaxNames; }

Work WorkOf(const NormalizationConfig& config) { return ComputeWork(config).value(); }

Status Validate(const NormalizationConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckFields(config));
  INFIMUM_RETURN_IF_ERROR(ComputeWork(config));
  return {};
}

std::vector<Operand> OperandsOfFamily(const NormalizationConfig& config) {
  std::vector<Operand> operands = {{config.input, config.types.input, false}};
  const int parameters = (config.scale ? 1 : 0) + (config.bias ? 1 : 0) + (HasStatistics(config) ? 2 : 0);
  for (int i = 0; i < parameters; ++i) operands.push_back({ParameterShape(config), config.types.weights, true});
  return operands;
}

// At most 5 * kMaxElements operations: exact without a check.
Work WorkOf(const SoftmaxConfig& config) {
  const Flops flops{(config.kind == SoftmaxKind::kHardmax ? 1 : 5) * ElementCount(config.input)};
  return WholeWork(OperandsOfFamily(config), OutputsOfFamily(config), flops);
}

Status Validate(const SoftmaxConfig& config) { return CheckFields(config); }

SoftmaxConfig MakeSoftmax(SoftmaxKind kind, OperandTypes types, const Shape& shape, std::size_t axis) {
  // An invalid configuration stays as it is; Validate refuses it.
  if (!CheckTensor("in", shape).ok() || axis >= shape.rank())
    return {kind, types, shape, static_cast<std::int64_t>(axis)};
  return {kind, types, OuterAxisInner(shape, axis), 1};
}

}  // namespace infimum
