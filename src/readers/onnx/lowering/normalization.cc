#include "src/readers/onnx/lowering/normalization.h"

#include <vector>

#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/convolution.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {
namespace {

// The types of a normalisation: input, scale's, output.
Result<OperandTypes> TypesOf(const NodeView& node, bool with_scale) {
  return with_scale ? BinaryTypes(node, 0, 1) : UnaryTypes(node);
}

Status NeedsChannels(const Shape& input) {
  if (input.rank() >= 2) return Status();
  return Error{"an input of " + Format(input) + " has no channels"};
}

// Input 0 and `operands` more, all of them one element a channel.
Result<Lowering> OverChannels(const NodeView& node, NormalizationKind kind, std::size_t operands, std::int64_t groups) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, TypesOf(node, operands > 0));
  INFIMUM_RETURN_IF_ERROR(NeedsChannels(input));
  std::vector<std::size_t> inputs{0};
  for (std::size_t i = 1; i <= operands; ++i) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape operand, InputShape(node, i));
    const std::int64_t count = ElementCount(operand);
    if (count != input.dims[1])
      return Error{"input " + std::to_string(i) + " has " + std::to_string(count) + " elements where the input has " +
                   std::to_string(input.dims[1]) + " channels"};
    inputs.push_back(i);
  }
  NormalizationConfig config;
  config.kind = kind;
  config.types = types;
  config.input = input;
  config.axis = 1;
  config.groups = groups;
  config.scale = config.bias = operands > 0;
  return Measurable(config, std::move(inputs));
}

Result<Lowering> LowerBatch(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const bool training, Flag(node, "training_mode", false));
  INFIMUM_ASSIGN_OR_RETURN(const bool spatial, Flag(node, "spatial", true));
  if (training) return Unknown("it computes batch statistics (training_mode = 1); export the model for inference");
  if (!spatial) return Unknown("it normalizes each element by its own statistics (spatial = 0)");
  return OverChannels(node, NormalizationKind::kBatch, 4, 0);
}

Result<Lowering> LowerInstance(const NodeView& node) { return OverChannels(node, NormalizationKind::kInstance, 2, 0); }

Result<Lowering> LowerGroup(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t groups, RequiredInteger(node, "num_groups", {1, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(const Shape scale, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  // Before opset 21 scale and bias had one element for each group.
  if (input.rank() >= 2 && ElementCount(scale) == groups && groups != input.dims[1]) {
    INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, BinaryTypes(node, 0, 1));
    const std::int64_t inner = ProductOf(input, 1, input.rank());
    if (inner % groups != 0) return Error{"attribute 'num_groups' does not divide the channels"};
    const Shape grouped{{input.dims[0], groups, inner / groups}};
    NormalizationConfig config;
    config.kind = NormalizationKind::kGroup;
    config.types = types;
    config.input = grouped;
    config.groups = groups;
    config.scale = config.bias = true;
    return Measurable(config, {0, 1, 2});
  }
  return OverChannels(node, NormalizationKind::kGroup, 2, groups);
}

Result<Lowering> Trailing(const NodeView& node, NormalizationKind kind) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", -1, input.rank()));
  const bool scale = HasInput(node, 1);
  const bool bias = HasInput(node, 2) && kind == NormalizationKind::kLayer;
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, TypesOf(node, scale));
  std::vector<std::size_t> inputs{0};
  if (scale) inputs.push_back(1);
  if (bias) inputs.push_back(2);
  const NormalizationConfig config = TrailingNormalization(kind, types, input, axis, scale, bias);
  // A scale that broadcasts within the normalized dimensions is a multiplication of its own.
  if (scale) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape scale_shape, InputShape(node, 1));
    if (ElementCount(scale_shape) != config.input.dims[1]) {
      RegionBuilder region(node);
      const OperandTypes plain{types.input, DataType::kNone, types.output};
      auto value = region.Add(TrailingNormalization(kind, plain, input, axis, false, false), {region.Input(0)});
      INFIMUM_ASSIGN_OR_RETURN(
          value, region.AddPointwise(PointwiseKind::kMultiply, {types.output, types.weights, types.output},
                                     {input, scale_shape}, {value, region.Input(1)}));
      if (bias) {
        INFIMUM_ASSIGN_OR_RETURN(const Shape bias_shape, InputShape(node, 2));
        INFIMUM_ASSIGN_OR_RETURN(value,
                                 region.AddPointwise(PointwiseKind::kAdd, {types.output, types.weights, types.output},
                                                     {input, bias_shape}, {value, region.Input(2)}));
      }
      return region.Finish();
    }
  }
  return Measurable(config, std::move(inputs));
}

Result<Lowering> LowerLayer(const NodeView& node) { return Trailing(node, NormalizationKind::kLayer); }

Result<Lowering> LowerLocalResponse(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t size, RequiredInteger(node, "size", {1, kMaxAttribute}));
  INFIMUM_RETURN_IF_ERROR(NeedsChannels(input));
  NormalizationConfig config;
  config.kind = NormalizationKind::kLocalResponse;
  config.types = types;
  config.input = input;
  config.axis = 1;
  config.size = size;
  return Measurable(config, {0});
}

Result<Lowering> LowerLp(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", -1, input.rank()));
  NormalizationConfig config;
  config.kind = NormalizationKind::kLp;
  config.types = types;
  config.input = AroundAxis(input, axis);
  config.axis = 1;
  return Measurable(config, {0});
}

Result<Lowering> LowerMeanVariance(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const auto given, IntegersIn(node, "axes"));
  INFIMUM_RETURN_IF_ERROR(NeedsChannels(input));
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::int64_t> axes,
                           NormalizedAxes(given.value_or(std::vector<std::int64_t>{0, 2, 3}), input.rank()));
  const std::size_t rank = input.rank();
  std::vector<std::int64_t> spatial;
  for (std::size_t i = 2; i < rank; ++i) spatial.push_back(static_cast<std::int64_t>(i));
  std::vector<std::int64_t> all_but_channels = spatial;
  all_but_channels.insert(all_but_channels.begin(), 0);
  NormalizationConfig config;
  config.types = types;
  config.input = input;
  config.axis = 1;
  if (axes == all_but_channels) {
    config.kind = NormalizationKind::kMeanVariance;
  } else if (axes == spatial) {
    config.kind = NormalizationKind::kInstance;
  } else {
    // Trailing dimensions are a layer normalisation without scale.
    const std::size_t first = rank - axes.size();
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != static_cast<std::int64_t>(first + i))
        return Unknown("no normalization workload has its statistics over these axes");
    if (axes.empty()) return Error{"attribute 'axes' is empty"};
    config = TrailingNormalization(NormalizationKind::kLayer, types, input, first, false, false);
  }
  return Measurable(config, {0});
}

template <SoftmaxKind kKind>
Result<Lowering> LowerSoftmax(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const SoftmaxConfig config, ReadSoftmax(node, kKind, node.opset < 13));
  return Measurable(config, {0});
}

template <LowerFunction kLower>
Result<Lowering> Nhwc(const NodeView& node) {
  return LowerChannelsLast(node, kLower);
}

}  // namespace

NormalizationConfig TrailingNormalization(NormalizationKind kind, OperandTypes types, const Shape& shape,
                                          std::size_t axis, bool scale, bool bias) {
  NormalizationConfig config;
  config.kind = kind;
  config.types = types;
  if (!scale && !bias) config.types.weights = DataType::kNone;
  config.input = Shape{{ProductOf(shape, 0, axis), ProductOf(shape, axis, shape.rank())}};
  config.axis = 1;
  config.scale = scale;
  config.bias = bias;
  return config;
}

Result<SoftmaxConfig> ReadSoftmax(const NodeView& node, SoftmaxKind kind, bool one_line_from_axis) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t given, IntegerIn(node, "axis", one_line_from_axis ? 1 : -1));
  if (!one_line_from_axis) {
    if (input.rank() == 0) return MakeSoftmax(kind, types, Shape{{1}}, 0);
    INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, NormalizedAxis(given, input.rank()));
    return MakeSoftmax(kind, types, input, axis);
  }
  // Here axis may equal the rank: each element is a line of its own.
  const auto rank = static_cast<std::int64_t>(input.rank());
  if (given < -rank || given > rank)
    return Error{"axis " + std::to_string(given) + " does not exist in a tensor of rank " + std::to_string(rank)};
  const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  return MakeSoftmax(kind, types, Shape{{ProductOf(input, 0, axis), ProductOf(input, axis, input.rank())}}, 1);
}

Result<Lowering> LowerRms(const NodeView& node) { return Trailing(node, NormalizationKind::kRms); }

std::span<const OperatorEntry> NormalizationOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "BatchNormalization", LowerBatch},
      {kOnnx, "InstanceNormalization", LowerInstance},
      {kOnnx, "GroupNormalization", LowerGroup},
      {kOnnx, "LayerNormalization", LowerLayer},
      {kOnnx, "RMSNormalization", LowerRms},
      {kOnnx, "SimplifiedLayerNormalization", LowerRms},  // ONNX Runtime's, in ONNX's domain
      {kMicrosoft, "SimplifiedLayerNormalization", LowerRms},
      {kOnnx, "LRN", LowerLocalResponse},
      {kOnnx, "LpNormalization", LowerLp},
      {kOnnx, "MeanVarianceNormalization", LowerMeanVariance},
      {kOnnx, "Softmax", LowerSoftmax<SoftmaxKind::kSoftmax>},
      {kOnnx, "LogSoftmax", LowerSoftmax<SoftmaxKind::kLogSoftmax>},
      {kOnnx, "Hardmax", LowerSoftmax<SoftmaxKind::kHardmax>},
      {kChannelsLast, "BatchNormalization", Nhwc<LowerBatch>},
      {kChannelsLast, "InstanceNormalization", Nhwc<LowerInstance>},
      {kChannelsLast, "LRN", Nhwc<LowerLocalResponse>},
  };
  return kEntries;
}

}  // namespace infimum::lowering
