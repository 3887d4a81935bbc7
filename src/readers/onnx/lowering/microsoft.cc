// com.microsoft's fused element-wise and normalisation operators, which ONNX Runtime's optimizer writes.
#include <vector>

#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/convolution.h"
#include "src/readers/onnx/lowering/movement.h"
#include "src/readers/onnx/lowering/normalization.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {
namespace {

using Source = RegionBuilder::Source;

OperandTypes UnbiasedTypes(DataType type) { return {type, DataType::kNone, type}; }

// `value` of `shape` plus input `position` of the node.
Result<Source> AddInput(RegionBuilder& region, const NodeView& node, DataType type, const Shape& shape, Source value,
                        std::size_t position) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape added, InputShape(node, position));
  INFIMUM_ASSIGN_OR_RETURN(const DataType added_type, InputType(node, position));
  INFIMUM_ASSIGN_OR_RETURN(const Shape joined, Broadcast(shape, added));
  if (joined != shape)
    return Error{"input " + std::to_string(position) + " of " + Format(added) + " does not broadcast to " +
                 Format(shape)};
  return region.AddPointwise(PointwiseKind::kAdd, {type, added_type, type}, {shape, added},
                             {value, region.Input(position)});
}

// Normalisation of `value` over its last dimension with scale and bias from inputs of the node: as
// operands where they are weights, else as element-wise members.
Result<Source> AddNormalization(RegionBuilder& region, const NodeView& node, NormalizationKind kind, DataType type,
                                const Shape& shape, Source value, std::optional<std::size_t> scale,
                                std::optional<std::size_t> bias) {
  if (shape.rank() == 0) return Error{"it normalizes a scalar"};
  const bool constant = (!scale || ConstnessOf(node, *scale) == Constness::kConstant) &&
                        (!bias || ConstnessOf(node, *bias) == Constness::kConstant);
  OperandTypes types = UnbiasedTypes(type);
  std::vector<Source> operands{value};
  for (const auto& parameter : {scale, bias}) {
    if (!parameter) continue;
    INFIMUM_ASSIGN_OR_RETURN(const Shape parameter_shape, InputShape(node, *parameter));
    INFIMUM_ASSIGN_OR_RETURN(types.weights, InputType(node, *parameter));
    if (ElementCount(parameter_shape) != shape.dims.back())
      return Error{"input " + std::to_string(*parameter) + " of " + Format(parameter_shape) + " does not fit " +
                   Format(shape)};
    operands.push_back(region.Input(*parameter));
  }
  if (constant)
    return region.Add(TrailingNormalization(kind, types, shape, shape.rank() - 1, scale.has_value(), bias.has_value()),
                      operands);
  const Shape row{{shape.dims.back()}};
  Source result =
      region.Add(TrailingNormalization(kind, UnbiasedTypes(type), shape, shape.rank() - 1, false, false), {value});
  const OperandTypes pair{type, types.weights, type};
  if (scale) {
    INFIMUM_ASSIGN_OR_RETURN(
        result, region.AddPointwise(PointwiseKind::kMultiply, pair, {shape, row}, {result, region.Input(*scale)}));
  }
  if (bias) {
    INFIMUM_ASSIGN_OR_RETURN(
        result, region.AddPointwise(PointwiseKind::kAdd, pair, {shape, row}, {result, region.Input(*bias)}));
  }
  return result;
}

std::optional<std::size_t> IfGiven(const NodeView& node, std::size_t position) {
  return HasInput(node, position) ? std::optional(position) : std::nullopt;
}

// Input 0 plus input 1, then an activation. Without input 1 the activation alone.
template <PointwiseKind kKind>
Result<Lowering> BiasedActivation(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  RegionBuilder region(node);
  Source value = region.Input(0);
  if (HasInput(node, 1)) {
    INFIMUM_ASSIGN_OR_RETURN(value, AddInput(region, node, types.input, input, value, 1));
  }
  INFIMUM_RETURN_IF_ERROR(region.AddPointwise(kKind, types, {input}, {value}));
  return region.Finish();
}

// Input 0 plus each further one of `positions` that is given.
Result<Lowering> SumOf(const NodeView& node, const std::vector<std::size_t>& positions) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  RegionBuilder region(node);
  Source value = region.Input(0);
  for (const std::size_t position : positions) {
    if (!HasInput(node, position)) continue;
    INFIMUM_ASSIGN_OR_RETURN(value, AddInput(region, node, types.output, input, value, position));
  }
  if (!value.is_member) return Free("adds nothing");
  return region.Finish();
}

Result<Lowering> LowerBiasAdd(const NodeView& node) { return SumOf(node, {1, 2}); }

// inputs: x, bias, residual, ratio, training mode.
Result<Lowering> LowerBiasDropout(const NodeView& node) {
  if (HasInput(node, 4) && InputValue(node, 4).value_or(1) != 0)
    return Unknown("it drops elements, or may do so at run time; export the model for inference");
  return SumOf(node, {1, 2});
}

Result<Lowering> LowerBiasSplitGelu(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  if (input.rank() == 0 || input.dims.back() % 2 != 0)
    return Error{"an input of " + Format(input) + " cannot be halved"};
  RegionBuilder region(node);
  INFIMUM_ASSIGN_OR_RETURN(const Source sum, AddInput(region, node, type, input, region.Input(0), 1));
  Shape half = input;
  half.dims.back() /= 2;
  const Source left = region.Add(Move(MovementKind::kSlice, type, input, half), {sum});
  const Source right = region.Add(Move(MovementKind::kSlice, type, input, half), {sum});
  INFIMUM_ASSIGN_OR_RETURN(const Source gelu,
                           region.AddPointwise(PointwiseKind::kGeluErf, UnbiasedTypes(type), {half}, {right}));
  INFIMUM_RETURN_IF_ERROR(
      region.AddPointwise(PointwiseKind::kMultiply, {type, type, type}, {half, half}, {left, gelu}));
  return region.Finish();
}

// Everything from `axis` on is one line, as in opset 12.
Result<Lowering> LowerBiasSoftmax(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const SoftmaxConfig softmax, ReadSoftmax(node, SoftmaxKind::kSoftmax, true));
  RegionBuilder region(node);
  INFIMUM_ASSIGN_OR_RETURN(const Source sum, AddInput(region, node, type, input, region.Input(0), 1));
  region.Add(softmax, {sum});
  return region.Finish();
}

// inputs: x, skip, gamma, beta, bias; outputs: y, mean, inverse deviation, the sum.
Result<Lowering> SkipNormalization(const NodeView& node, NormalizationKind kind, std::optional<std::size_t> beta,
                                   std::size_t bias) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  RegionBuilder region(node);
  INFIMUM_ASSIGN_OR_RETURN(Source value, AddInput(region, node, type, input, region.Input(0), 1));
  if (HasInput(node, bias)) {
    INFIMUM_ASSIGN_OR_RETURN(value, AddInput(region, node, type, input, value, bias));
  }
  const std::vector<Source> leaving = HasOutput(node, 3) ? std::vector{value} : std::vector<Source>{};
  if (beta && !HasInput(node, *beta)) beta.reset();
  INFIMUM_RETURN_IF_ERROR(AddNormalization(region, node, kind, type, input, value, 2, beta));
  return region.Finish(leaving);
}

Result<Lowering> LowerSkipLayer(const NodeView& node) {
  return SkipNormalization(node, NormalizationKind::kLayer, 3, 4);
}
Result<Lowering> LowerSkipRms(const NodeView& node) {
  return SkipNormalization(node, NormalizationKind::kRms, std::nullopt, 3);
}

// inputs: ids, segments, three tables, gamma, beta, mask, positions; outputs: y, mask index, the sum.
Result<Lowering> LowerEmbedding(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape ids, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape words, InputShape(node, 2));
  INFIMUM_ASSIGN_OR_RETURN(const Shape positions, InputShape(node, 3));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 2));
  if (ids.rank() != 2 || words.rank() != 2 || positions.rank() != 2 || positions.dims[1] != words.dims[1])
    return Error{"ids of " + Format(ids) + " do not fit tables of " + Format(words) + " and " + Format(positions)};
  const std::int64_t count = ElementCount(ids);
  const std::int64_t hidden = words.dims[1];
  const Shape shape{{ids.dims[0], ids.dims[1], hidden}};
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(shape));
  RegionBuilder region(node);
  const auto gather = [&](std::size_t table, std::size_t indices, std::int64_t picked) -> Result<Source> {
    INFIMUM_ASSIGN_OR_RETURN(const Shape rows, InputShape(node, table));
    INFIMUM_ASSIGN_OR_RETURN(const DataType index_type, InputType(node, indices));
    if (rows.rank() != 2 || rows.dims[1] != hidden)
      return Error{"a table of " + Format(rows) + " does not fit " + Format(words)};
    return region.Add(GatherRows(type, index_type, rows.dims[0], hidden, picked),
                      {region.Input(table), region.Input(indices)});
  };
  INFIMUM_ASSIGN_OR_RETURN(Source value, gather(2, 0, count));
  // Positions count up from 0 where they are not given.
  Shape position_shape{{ids.dims[1], hidden}};
  Source position = region.Input(3);
  if (HasInput(node, 8)) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape indices, InputShape(node, 8));
    const std::int64_t picked = ElementCount(indices);
    if (picked != count && picked != ids.dims[1])
      return Error{"positions of " + Format(indices) + " do not fit " + Format(ids)};
    if (picked == count) position_shape = shape;
    INFIMUM_ASSIGN_OR_RETURN(position, gather(3, 8, picked));
  } else if (positions.dims[0] < ids.dims[1]) {
    return Error{"a table of " + Format(positions) + " has fewer rows than there are positions"};
  } else if (positions.dims[0] > ids.dims[1]) {
    position = region.Add(Move(MovementKind::kSlice, type, positions, position_shape), {position});
  }
  const OperandTypes pair{type, type, type};
  INFIMUM_ASSIGN_OR_RETURN(value,
                           region.AddPointwise(PointwiseKind::kAdd, pair, {shape, position_shape}, {value, position}));
  if (HasInput(node, 1) && HasInput(node, 4)) {
    INFIMUM_ASSIGN_OR_RETURN(const Source segment, gather(4, 1, count));
    INFIMUM_ASSIGN_OR_RETURN(value, region.AddPointwise(PointwiseKind::kAdd, pair, {shape, shape}, {value, segment}));
  }
  std::vector<Source> leaving;
  if (HasOutput(node, 2)) leaving.push_back(value);
  if (HasOutput(node, 1) && HasInput(node, 7)) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape mask, InputShape(node, 7));
    INFIMUM_ASSIGN_OR_RETURN(const DataType mask_type, InputType(node, 7));
    if (mask.rank() == 2 && mask.dims[1] > 1)
      leaving.push_back(
          region.Add(MakeReduction(ReductionKind::kSum, UnbiasedTypes(mask_type), mask, {1}), {region.Input(7)}));
  }
  INFIMUM_RETURN_IF_ERROR(
      AddNormalization(region, node, NormalizationKind::kLayer, type, shape, value, 5, IfGiven(node, 6)));
  return region.Finish(leaving);
}

// inputs: x, gamma, beta, and for the fused form skip and bias; outputs: y, the sum.
Result<Lowering> GroupNorm(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType scale_type, InputType(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t groups, RequiredInteger(node, "groups", {1, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t activation, IntegerIn(node, "activation", 0, {0, 1}));
  if (input.rank() < 3) return Error{"an input of " + Format(input) + " has no channels"};
  if (ConstnessOf(node, 1) != Constness::kConstant || ConstnessOf(node, 2) != Constness::kConstant)
    return Unknown("its scale and bias are not weights");
  RegionBuilder region(node);
  Source value = region.Input(0);
  std::vector<Source> leaving;
  if (HasInput(node, 3)) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape skip, InputShape(node, 3));
    // All of it, or one element for each channel of an image.
    Shape added = input;
    if (ElementCount(skip) != ElementCount(input)) std::fill(added.dims.begin() + 2, added.dims.end(), 1);
    if (ElementCount(skip) != ElementCount(added))
      return Error{"a skip of " + Format(skip) + " does not fit " + Format(input)};
    INFIMUM_ASSIGN_OR_RETURN(
        value, region.AddPointwise(PointwiseKind::kAdd, {type, type, type}, {input, added}, {value, region.Input(3)}));
    if (HasInput(node, 4)) {
      Shape channels{{input.dims[1]}};
      channels.dims.resize(input.rank() - 1, 1);
      INFIMUM_ASSIGN_OR_RETURN(value, region.AddPointwise(PointwiseKind::kAdd, {type, type, type}, {input, channels},
                                                          {value, region.Input(4)}));
    }
    if (HasOutput(node, 1)) leaving.push_back(value);
  }
  NormalizationConfig config;
  config.kind = NormalizationKind::kGroup;
  config.types = {type, scale_type, type};
  config.input = input;
  config.groups = groups;
  config.scale = config.bias = true;
  value = region.Add(config, {value, region.Input(1), region.Input(2)});
  if (activation == 1) {
    INFIMUM_RETURN_IF_ERROR(region.AddPointwise(PointwiseKind::kSwish, UnbiasedTypes(type), {input}, {value}));
  }
  return region.Finish(leaving);
}

Result<Lowering> LowerGroupNorm(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const bool channels_last, Flag(node, "channels_last", true));
  return channels_last ? LowerChannelsLast(node, GroupNorm) : GroupNorm(node);
}

// x normalised over its last elements and scaled, times an activation of the gate.
Result<Lowering> LowerGatedRms(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape scale, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const Shape gate, InputShape(node, 2));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const std::string name, Text(node, "activation", "silu"));
  INFIMUM_ASSIGN_OR_RETURN(const auto activation, ActivationKind(name));
  const std::int64_t width = ElementCount(scale);
  const std::int64_t count = ElementCount(input);
  if (width < 1 || count % width != 0 || gate != input)
    return Error{"a scale of " + Format(scale) + " does not fit " + Format(input)};
  const Shape rows{{count / width, width}};
  RegionBuilder region(node);
  INFIMUM_ASSIGN_OR_RETURN(const Source normal, AddNormalization(region, node, NormalizationKind::kRms, type, rows,
                                                                 region.Input(0), 1, std::nullopt));
  Source gated = region.Input(2);
  if (activation) {
    INFIMUM_ASSIGN_OR_RETURN(gated, region.AddPointwise(*activation, UnbiasedTypes(type), {gate}, {gated}));
  }
  INFIMUM_RETURN_IF_ERROR(
      region.AddPointwise(PointwiseKind::kMultiply, {type, type, type}, {input, input}, {normal, gated}));
  return region.Finish();
}

// inputs: x, y, gate: x + y gate.
Result<Lowering> LowerGatedAdd(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape x, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape y, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const Shape gate, InputShape(node, 2));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape joined, Broadcast(y, gate));
  if (joined != y || x != y)
    return Error{"inputs of " + Format(x) + ", " + Format(y) + " and " + Format(gate) + " do not fit"};
  RegionBuilder region(node);
  const OperandTypes types{type, type, type};
  INFIMUM_ASSIGN_OR_RETURN(const Source scaled, region.AddPointwise(PointwiseKind::kMultiply, types, {y, gate},
                                                                    {region.Input(1), region.Input(2)}));
  INFIMUM_RETURN_IF_ERROR(region.AddPointwise(PointwiseKind::kAdd, types, {x, y}, {region.Input(0), scaled}));
  return region.Finish();
}

}  // namespace

std::span<const OperatorEntry> MicrosoftOperators() {
  using K = PointwiseKind;
  static constexpr OperatorEntry kEntries[] = {
      {kMicrosoft, "BiasAdd", LowerBiasAdd},
      {kMicrosoft, "BiasDropout", LowerBiasDropout},
      {kMicrosoft, "BiasGelu", BiasedActivation<K::kGeluErf>},
      {kMicrosoft, "BiasSoftmax", LowerBiasSoftmax},
      {kMicrosoft, "BiasSplitGelu", LowerBiasSplitGelu},
      {kMicrosoft, "BitmaskBiasDropout", LowerBiasDropout},
      {kMicrosoft, "EmbedLayerNormalization", LowerEmbedding},
      {kMicrosoft, "FastGelu", BiasedActivation<K::kGeluTanh>},
      {kMicrosoft, "GatedAdd", LowerGatedAdd},
      {kMicrosoft, "GatedRMSNorm", LowerGatedRms},
      {kMicrosoft, "GroupNorm", LowerGroupNorm},
      {kMicrosoft, "SkipGroupNorm", LowerGroupNorm},
      {kMicrosoft, "SkipLayerNormalization", LowerSkipLayer},
      {kMicrosoft, "SkipSimplifiedLayerNormalization", LowerSkipRms},
  };
  return kEntries;
}

}  // namespace infimum::lowering
