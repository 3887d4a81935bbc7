#include "src/emit/onednn_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

#include "infimum/layer/pointwise.h"
#include "src/core/layer/field_text.h"
#include "src/emit/library_texts.h"

namespace infimum::emit {
namespace {

using Source = RegionOperand::Source;

constexpr const char* kOwnKernels = "oneDNN has no primitive for it; infimum measures kernels of its own";

// The error names the first type that oneDNN does not have.
Status CheckTypes(std::initializer_list<DataType> types) {
  for (const DataType type : types)
    if (OneDnnType(type).empty()) return Error{fmt::format("oneDNN 3.2 has no type {} here", Name(type))};
  return {};
}

Status CheckTypes(const OperandTypes& types) { return CheckTypes({types.input, types.output}); }

// The tables of the files that a project gets say which names they know.
bool IsEltwise(PointwiseKind kind) {
  return EmbeddedFile("pointwise.cc").find(fmt::format("{{\"{}\", algorithm::eltwise_", ValueText(kind))) !=
         std::string_view::npos;
}
bool IsBinary(PointwiseKind kind) {
  return EmbeddedFile("pointwise.cc").find(fmt::format("{{\"{}\", algorithm::binary_", ValueText(kind))) !=
         std::string_view::npos;
}
bool IsTag(const std::string& name, std::size_t rank) {
  return EmbeddedFile("movement.cc").find(fmt::format("{{\"{0}\", tag::{0}, {1}}}", name, rank)) !=
         std::string_view::npos;
}

bool HasBias(const ConvolutionConfig& config) { return config.bias; }
bool HasBias(const MatMulConfig& config) { return config.bias != MatMulBias::kNone; }

template <class Config>
Status CheckProduct(const Config& config) {
  const OperandTypes& types = config.types;
  INFIMUM_RETURN_IF_ERROR(CheckTypes({types.input, types.weights, types.output}));
  if (IsFloatingPoint(types.input) && IsInteger(types.weights))
    return Error{"its integer weights become f32 first, by kernels of infimum's own, which are not emitted"};
  return HasBias(config) ? CheckTypes({OperandsOf(LayerConfig(config))[2].type}) : Status();
}

struct Checker {
  Status operator()(const ConvolutionConfig& config) const { return CheckProduct(config); }

  Status operator()(const MatMulConfig& config) const {
    if (config.scales.any())
      return Error{
          "its weights have a scale for each block, which kernels of infimum's own read; they are not emitted"};
    INFIMUM_RETURN_IF_ERROR(CheckProduct(config));
    const bool scaled = IsInteger(config.types.input) && config.types.output != DataType::kS32;
    if (config.bias == MatMulBias::kFull && scaled && IsInteger(OperandsOf(LayerConfig(config))[2].type))
      return Error{"its full bias in the accumulator's scale would have to be converted at each run"};
    return {};
  }

  Status operator()(const PoolingConfig& config) const {
    if (config.kind == PoolingKind::kMaxWithIndices)
      return Error{
          "oneDNN counts indices within a window, ONNX within the tensor; infimum measures a kernel of its own"};
    if (config.kind == PoolingKind::kLp) return Error{"oneDNN has no Lp pooling; infimum measures a kernel of its own"};
    INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types));
    const std::size_t rank = config.kernel.rank();
    if (config.input.rank() < 3 || config.input.rank() > 5) return Error{"oneDNN pools in one to three dimensions"};
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t end = (config.output.dims[2 + i] - 1) * config.stride.dims[i] +
                               config.dilation.dims[i] * (config.kernel.dims[i] - 1) + 1 - config.input.dims[2 + i] -
                               config.padding[i];
      if (config.kind == PoolingKind::kAverageWithPad && end > config.padding[rank + i])
        return Error{
            "its last windows reach beyond the padding, which oneDNN would count; infimum measures its own kernel"};
    }
    return {};
  }

  Status operator()(const NormalizationConfig& config) const {
    INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types));
    const bool f32_weights = config.types.weights == DataType::kF32;
    switch (config.kind) {
      case NormalizationKind::kBatch:
        if (config.axis != 1 || config.input.rank() < 2) return Error{"oneDNN's channels are the second dimension"};
        return f32_weights ? Status() : Error{"oneDNN 3.2 takes scale and bias in f32 alone"};
      case NormalizationKind::kLayer:
        if (!f32_weights && (config.scale || config.bias)) return Error{"oneDNN 3.2 takes scale and bias in f32 alone"};
        return {};
      case NormalizationKind::kLocalResponse:
        if (config.size % 2 == 0 || config.input.rank() != 4)
          return Error{
              "oneDNN's window reaches as far to both sides, in images alone; infimum measures a kernel of its own"};
        return {};
      default:
        return Error{"oneDNN 3.2 has no primitive for this kind; infimum measures kernels of its own"};
    }
  }

  Status operator()(const SoftmaxConfig& config) const {
    if (config.kind == SoftmaxKind::kHardmax)
      return Error{"oneDNN has no hardmax; infimum measures a kernel of its own"};
    return CheckTypes(config.types);
  }

  Status operator()(const PointwiseConfig& config) const {
    INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types));
    if (config.types.input == DataType::kS32 || config.types.output == DataType::kS32)
      return Error{"oneDNN computes in f32, which does not hold every s32; infimum measures kernels of its own"};
    if (IsBinary(config.kind)) {
      if (config.inputs.size() != 2) return Error{"oneDNN combines two tensors; infimum measures kernels of its own"};
      const std::size_t rank = OutputShape(config).rank();
      if (rank == 0 || rank > 6) return Error{"oneDNN combines tensors of one to six dimensions"};
      return config.types.weights == DataType::kNone ? Status() : CheckTypes({config.types.weights});
    }
    if (!IsEltwise(config.kind))
      return Error{"oneDNN has no primitive for this kind; infimum measures kernels of its own"};
    if (config.inputs.size() != 1 || config.inputs[0].rank() == 0)
      return Error{"oneDNN has no tensors without dimensions"};
    return {};
  }

  Status operator()(const ReductionConfig& config) const {
    switch (config.kind) {
      case ReductionKind::kSum:
      case ReductionKind::kMean:
      case ReductionKind::kMax:
      case ReductionKind::kMin:
      case ReductionKind::kProduct:
        break;
      default:
        return Error{"oneDNN's reductions do not have this kind; infimum measures kernels of its own"};
    }
    if (config.input.rank() == 0 || config.input.rank() > 6) return Error{"oneDNN reduces one to six dimensions"};
    if (!IsFloatingPoint(config.types.input) || !IsFloatingPoint(config.types.output))
      return Error{"oneDNN reduces in f32, which does not hold every integer; infimum measures kernels of its own"};
    INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types));
    const bool reduces = std::ranges::any_of(
        config.axes, [&](std::int64_t axis) { return config.input.dims[static_cast<std::size_t>(axis)] != 1; });
    return reduces ? Status() : Error{"nothing is reduced, which oneDNN refuses"};
  }

  Status operator()(const ResampleConfig& config) const {
    if (config.kind != ResampleKind::kNearest && config.kind != ResampleKind::kLinear)
      return Error{"oneDNN resamples to the nearest element or linearly; infimum measures or estimates the rest"};
    const std::size_t rank = config.input.rank();
    if (rank < 3 || rank > 5 || config.output.rank() != rank || config.input.dims[0] != config.output.dims[0] ||
        config.input.dims[1] != config.output.dims[1])
      return Error{"oneDNN resamples one to three dimensions behind batch and channels"};
    return CheckTypes(config.types);
  }

  Status operator()(const MovementConfig& config) const {
    const bool concat = config.kind == MovementKind::kConcat;
    if (!concat && config.kind != MovementKind::kTranspose)
      return Error{"oneDNN has no primitive for this movement; infimum measures kernels of its own"};
    if (CarrierOf(config.types.input) == DataType::kNone)
      return Error{fmt::format("oneDNN has no type of {}'s size; infimum measures kernels of its own",
                               Name(config.types.input))};
    const std::size_t rank = config.outputs[0].rank();
    if (concat && (rank == 0 || rank > 6 || config.inputs.size() > 64))
      return Error{"oneDNN concatenates up to 64 tensors of one to six dimensions"};
    if (rank == 0 || rank > 6) return Error{"oneDNN transposes one to six dimensions"};
    return {};
  }

  Status operator()(const ReorderConfig& config) const {
    INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types));
    for (const std::string& layout : {config.from, config.to})
      if (!IsTag(layout, config.input.rank()))
        return Error{fmt::format("{} is no layout of oneDNN for {} dimensions", layout, config.input.rank())};
    return {};
  }

  Status operator()(const RecurrentConfig& config) const {
    const OperandTypes& types = config.types;
    if (!IsFloatingPoint(types.input) || types.input != types.weights || types.input != types.output)
      return Error{"oneDNN's recurrent layers have one floating point type for all tensors here"};
    return CheckTypes({types.input});
  }

  template <class Config>
  Status operator()(const Config&) const {
    return Error{kOwnKernels};
  }
  Status operator()(const AttentionConfig&) const {
    return Error{"it runs as a oneDNN Graph partition or by kernels of infimum's own, which are not emitted"};
  }
};

constexpr const char* kNotOnePrimitive =
    "oneDNN runs only a product and element-wise layers behind it as one primitive; this region is a oneDNN Graph "
    "partition, or kernels of infimum's own or layer after layer, which are not emitted";

bool Commutes(PointwiseKind kind) {
  return kind == PointwiseKind::kAdd || kind == PointwiseKind::kMultiply || kind == PointwiseKind::kMinimum ||
         kind == PointwiseKind::kMaximum;
}

// The step that a member is, or nothing where a post-operation cannot be it.
std::optional<FusedStep> StepOf(const PointwiseConfig& config, const std::vector<RegionOperand>& operands,
                                std::int64_t previous, const Shape& output) {
  const auto is_previous = [&](const RegionOperand& operand) {
    return operand.source == Source::kMember && operand.index == previous;
  };
  FusedStep step{config.kind};
  if (operands.size() == 1)
    return is_previous(operands[0]) && IsEltwise(config.kind) ? std::optional(step) : std::nullopt;
  if (operands.size() != 2 || !IsBinary(config.kind) || config.types.output == DataType::kBool) return std::nullopt;
  const std::size_t chained = is_previous(operands[0]) ? 0 : 1;
  const RegionOperand& other = operands[1 - chained];
  if (!is_previous(operands[chained]) || other.source == Source::kMember) return std::nullopt;
  if (chained == 1 && !Commutes(config.kind)) return std::nullopt;
  if (ElementCount(config.inputs[chained]) != ElementCount(output)) return std::nullopt;
  const std::optional<Shape> shape = Unmerged(config.inputs[1 - chained], OutputShape(config), output);
  if (!shape) return std::nullopt;
  step.binary = true;
  step.shape = *shape;
  step.type = config.types.weights != DataType::kNone && chained == 0 ? config.types.weights : config.types.input;
  step.constant = other.source == Source::kWeight;
  return step;
}

}  // namespace

Status CheckOneDnnLayer(const LayerConfig& config) { return std::visit(Checker(), config); }

DataType CarrierOf(DataType type) {
  switch (BitsPerElement(type)) {
    case 8:
      return DataType::kU8;
    case 16:
      return DataType::kBF16;
    case 32:
      return DataType::kF32;
    default:
      return DataType::kNone;
  }
}

std::string_view OneDnnType(DataType type) {
  constexpr DataType kBothHave[] = {DataType::kF64, DataType::kF32, DataType::kF16, DataType::kBF16,
                                    DataType::kS32, DataType::kS8,  DataType::kU8};
  if (type == DataType::kBool) return "u8";
  return std::ranges::find(kBothHave, type) != std::end(kBothHave) ? Name(type) : "";
}

Result<Fusion> FusionOf(const Region& region) {
  const std::vector<RegionMember>& members = region.members;
  const auto* convolution = std::get_if<ConvolutionConfig>(&members[0].config);
  const auto* matmul = std::get_if<MatMulConfig>(&members[0].config);
  const auto* normalization = std::get_if<NormalizationConfig>(&members[0].config);
  if (normalization != nullptr && normalization->kind != NormalizationKind::kBatch) normalization = nullptr;
  const bool is_product = convolution != nullptr || matmul != nullptr;
  if (members.size() < 2 || (!is_product && normalization == nullptr)) return Error{kNotOnePrimitive};
  if (region.outputs.size() != 1)
    return Error{"a result within it is wanted too, which no post-operation writes; it runs layer after layer"};
  const DataType type = TypesOf(members[0].config).output;
  if (!IsFloatingPoint(type)) return Error{"what follows a product of integers is not emitted with it"};
  const Shape output = OutputsOf(members[0].config)[0].shape;
  Fusion fusion{members[0].config, {}};
  for (std::size_t i = 1; i < members.size(); ++i) {
    const auto* config = std::get_if<PointwiseConfig>(&members[i].config);
    if (config == nullptr) return Error{kNotOnePrimitive};
    std::optional<FusedStep> step;
    if (config->types.input == type && config->types.output == type)
      step = StepOf(*config, members[i].operands, static_cast<std::int64_t>(i) - 1, output);
    // Of a normalization oneDNN has the usual activation alone.
    if (step && !is_product && step->kind != PointwiseKind::kRelu) step.reset();
    if (!step)
      return Error{"no post-operation of oneDNN is its member " + std::to_string(i) +
                   "; it runs layer after layer, or " + "as a oneDNN Graph partition"};
    if (step->binary) INFIMUM_RETURN_IF_ERROR(CheckTypes({step->type}));
    fusion.steps.push_back(std::move(*step));
  }
  INFIMUM_RETURN_IF_ERROR(CheckOneDnnLayer(fusion.first));
  return fusion;
}

}  // namespace infimum::emit
