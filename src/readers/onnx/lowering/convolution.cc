#include "src/readers/onnx/lowering/convolution.h"

#include <algorithm>
#include <vector>

#include "infimum/base/text.h"
#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/region_builder.h"
#include "src/readers/onnx/lowering/window.h"

namespace infimum::lowering {
namespace {

Shape SpatialOf(const Shape& shape) { return Shape{{shape.dims.begin() + 2, shape.dims.end()}}; }

// ONNX's order is out x in/groups x kernel. Some execution providers keep out x kernel x in/groups.
Shape WithChannelsSecond(const Shape& weights, std::int64_t channels, std::int64_t groups) {
  if (weights.rank() < 3 || weights.dims[1] * groups == channels || weights.dims.back() * groups != channels)
    return weights;
  Shape result = weights;
  std::rotate(result.dims.begin() + 1, result.dims.end() - 1, result.dims.end());
  return result;
}

Result<Lowering> Finish(const NodeView& node, const ConvolutionInputs& inputs, bool transposed) {
  INFIMUM_ASSIGN_OR_RETURN(const ConvolutionConfig config, ReadConvolution(node, inputs, transposed));
  std::vector<std::size_t> operands{inputs.input, inputs.weights};
  if (config.bias) operands.push_back(inputs.bias);
  return Measurable(config, std::move(operands));
}

Result<Lowering> LowerInteger(const NodeView& node) {
  // Inputs 2 and 3 are zero points, which are values.
  return Finish(node, {0, 1, /*bias=*/99}, false);
}

// inputs: x, w, pads, b. Pads that are only known at run time leave the output unknown too.
Result<Lowering> LowerWithDynamicPads(const NodeView& node) {
  if (!HasInput(node, 2)) return Finish(node, {0, 1, 3}, true);
  const auto pads = InputValues(node, 2);
  if (!pads) return Unknown("its padding is known only at run time");
  std::map<std::string, AttributeValue> attributes = node.attributes;
  attributes["pads"] = *pads;
  const NodeView fixed{node.op, node.domain, node.opset, node.inputs, node.outputs, attributes};
  return Finish(fixed, {0, 1, 3}, true);
}

// Samples the input at kernel positions that the offsets move, then multiplies as any convolution: a
// bilinear gather of channels x kernel planes and a 1x1 convolution over them.
Result<Lowering> LowerDeformable(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape weights, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, BinaryTypes(node, 0, 1));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t groups, IntegerIn(node, "group", 1, {1, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t offset_groups, IntegerIn(node, "offset_group", 1, {1, kMaxAttribute}));
  if (input.rank() < 3 || weights.rank() != input.rank() || output.rank() != input.rank())
    return Error{"the ranks of input, weights and output differ"};
  const std::int64_t taps = ProductOf(weights, 2, weights.rank());
  const std::int64_t channels = input.dims[1];
  Shape sampled = output;
  sampled.dims[1] = channels;
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t positions, CheckedElementCount(sampled));
  if (positions > kMaxElements / std::max<std::int64_t>(taps, 1))
    return Error{"the number of its samples is out of range"};
  sampled.dims[1] = channels * taps;

  RegionBuilder region(node);
  const OperandTypes plain{types.input, DataType::kNone, types.input};
  auto value = region.Add(ResampleConfig{ResampleKind::kGridSample, plain, input, sampled}, {region.Input(0)});
  if (HasInput(node, 4)) {
    if (channels % offset_groups != 0) return Error{"attribute 'offset_group' does not divide the channels"};
    const std::int64_t pixels = ProductOf(output, 2, output.rank());
    const Shape spread{{input.dims[0], offset_groups, channels / offset_groups, taps, pixels}};
    const Shape mask{{input.dims[0], offset_groups, 1, taps, pixels}};
    INFIMUM_ASSIGN_OR_RETURN(
        value, region.AddPointwise(PointwiseKind::kMultiply, {types.input, types.input, types.input}, {spread, mask},
                                   {value, region.Input(4)}));
  }
  const std::vector<std::int64_t> ones(input.rank() - 2, 1);
  ConvolutionConfig product;
  product.types = types;
  product.input = sampled;
  product.output_channels = weights.dims[0];
  product.kernel = product.stride = product.dilation = Shape{ones};
  product.padding.assign(2 * ones.size(), 0);
  product.groups = groups;
  product.bias = HasInput(node, 3);
  product.weights = ConstnessOf(node, 1, product.bias ? std::optional<std::size_t>(3) : std::nullopt);
  std::vector<RegionBuilder::Source> operands{value, region.Input(1)};
  if (product.bias) operands.push_back(region.Input(3));
  region.Add(product, operands);
  return region.Finish();
}

// Depthwise over the past state and the input; the state that is left is written too.
Result<Lowering> LowerCausalWithState(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape weights, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, BinaryTypes(node, 0, 1));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t dilation, IntegerIn(node, "dilation", 1, {1, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t window, IntegerIn(node, "state_window", 0));
  INFIMUM_ASSIGN_OR_RETURN(const bool channels_last, Flag(node, "channels_last", false));
  INFIMUM_ASSIGN_OR_RETURN(const std::string name, Text(node, "activation", "none"));
  if (window != 0 || channels_last) return Unknown("no workload keeps its state in this form");
  if (input.rank() != 3 || weights.rank() != 3 || weights.dims[0] != input.dims[1] || weights.dims[1] != 1)
    return Error{"input " + Format(input) + " and weights " + Format(weights) +
                 " are not a causal depthwise convolution"};
  if (weights.dims[2] > kMaxAttribute) return Error{"a kernel of " + Format(weights) + " is out of range"};
  const OperandTypes plain{types.input, DataType::kNone, types.input};
  const std::int64_t state = (weights.dims[2] - 1) * dilation;
  const std::int64_t lines = input.dims[0] * input.dims[1];
  const Shape past{{input.dims[0], input.dims[1], state}};
  Shape whole = input;
  whole.dims[2] += state;
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(whole));

  RegionBuilder region(node);
  std::vector<RegionBuilder::Source> leaving;
  auto value = region.Input(0);
  ConvolutionConfig config;
  config.types = types;
  config.input = input;
  if (HasInput(node, 3) && state > 0) {
    MovementConfig concat{MovementKind::kConcat, plain, {past, input}, {whole}, 2, {}, 0};
    value = region.Add(Canonicalize(concat), {region.Input(3), value});
    config.input = whole;
  }
  if (HasOutput(node, 1) && state > 0) {
    const bool fits = config.input.dims[2] >= state;
    MovementConfig last{fits ? MovementKind::kSlice : MovementKind::kPad,
                        plain,
                        {Shape{{lines, config.input.dims[2]}}},
                        {Shape{{lines, state}}},
                        -1,
                        {},
                        0};
    leaving.push_back(region.Add(Canonicalize(last), {value}));
  }
  config.output_channels = config.groups = input.dims[1];
  config.kernel = Shape{{weights.dims[2]}};
  config.stride = Shape{{1}};
  config.dilation = Shape{{dilation}};
  config.padding = {config.input == whole ? 0 : state, 0};
  config.bias = HasInput(node, 2);
  config.weights = ConstnessOf(node, 1, config.bias ? std::optional<std::size_t>(2) : std::nullopt);
  std::vector<RegionBuilder::Source> operands{value, region.Input(1)};
  if (config.bias) operands.push_back(region.Input(2));
  value = region.Add(config, operands);
  if (name == "silu" || name == "swish") {
    const OperandTypes result{types.output, DataType::kNone, types.output};
    INFIMUM_ASSIGN_OR_RETURN(value, region.AddPointwise(PointwiseKind::kSwish, result, {input}, {value}));
  } else if (name != "none" && !name.empty()) {
    return Error{"attribute 'activation' is " + Quoted(name) + ", an unknown value"};
  }
  return region.Finish(leaving);
}

Result<Lowering> LowerNhwcConv(const NodeView& node) { return LowerChannelsLast(node, LowerConvolution); }
Result<Lowering> LowerNhwcConvTranspose(const NodeView& node) {
  return LowerChannelsLast(node, LowerTransposedConvolution);
}
Result<Lowering> LowerNhwcFusedConv(const NodeView& node) {
  static constexpr std::size_t kResidual[] = {3};
  return LowerChannelsLast(node, LowerFusedConvolution, kResidual);
}

}  // namespace

Result<ConvolutionConfig> ReadConvolution(const NodeView& node, const ConvolutionInputs& inputs, bool transposed) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, inputs.input));
  INFIMUM_ASSIGN_OR_RETURN(Shape weights, InputShape(node, inputs.weights));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, BinaryTypes(node, inputs.input, inputs.weights));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t groups, IntegerIn(node, "group", 1, {1, kMaxAttribute}));
  if (input.rank() < 3) return Error{"a convolution over " + Format(input) + " has no spatial dimensions"};
  if (weights.rank() != input.rank())
    return Error{"weights of " + Format(weights) + " do not fit an input of " + Format(input)};
  const std::int64_t channels = input.dims[1];
  if (!transposed) weights = WithChannelsSecond(weights, channels, groups);
  if (channels != (transposed ? weights.dims[0] : weights.dims[1] * groups))
    return Error{"weights of " + Format(weights) + " in " + std::to_string(groups) + " groups do not fit an input of " +
                 Format(input)};
  const Shape spatial = SpatialOf(input);
  INFIMUM_ASSIGN_OR_RETURN(const Window window, ReadWindow(node, spatial, SpatialOf(weights)));

  std::optional<Shape> declared;
  if (const OperandView* output = node.output(0); output != nullptr && output->shape != nullptr) {
    if (output->shape->rank() != input.rank())
      return Error{"an output of " + Format(*output->shape) + " does not fit an input of " + Format(input)};
    declared = *output->shape;
  }
  ConvolutionConfig config;
  config.types = types;
  config.input = input;
  config.output_channels = transposed ? weights.dims[1] * groups : weights.dims[0];
  config.kernel = window.kernel;
  config.stride = window.stride;
  config.dilation = window.dilation;
  config.padding = window.padding;
  config.groups = groups;
  config.bias = HasInput(node, inputs.bias);
  config.weights = ConstnessOf(node, inputs.weights, config.bias ? std::optional(inputs.bias) : std::nullopt);
  config.transposed = transposed;
  if (transposed) {
    const std::optional<Shape> spatial_output = declared ? std::optional(SpatialOf(*declared)) : std::nullopt;
    INFIMUM_ASSIGN_OR_RETURN(const TransposedPadding padding,
                             ReadTransposedPadding(node, spatial, window, spatial_output));
    config.padding = padding.padding;
    config.output_padding = padding.output_padding;
  }
  INFIMUM_RETURN_IF_ERROR(Validate(config));
  if (declared && OutputShape(config) != *declared)
    return Error{"the declared output is " + Format(*declared) + " but the attributes give " +
                 Format(OutputShape(config))};
  return config;
}

Result<Lowering> LowerChannelsLast(const NodeView& node, LowerFunction lower, std::span<const std::size_t> also) {
  std::vector<Shape> shapes;
  shapes.reserve(2 + also.size());  // pointers into it must stay
  NodeView view{node.op, node.domain, node.opset, node.inputs, node.outputs, node.attributes};
  const auto turn = [&shapes](std::vector<std::optional<OperandView>>& operands, std::size_t position) {
    if (position >= operands.size() || !operands[position] || operands[position]->shape == nullptr) return;
    Shape shape = *operands[position]->shape;
    if (shape.rank() < 3) return;
    std::rotate(shape.dims.begin() + 1, shape.dims.end() - 1, shape.dims.end());
    shapes.push_back(std::move(shape));
    operands[position]->shape = &shapes.back();
  };
  turn(view.inputs, 0);
  turn(view.outputs, 0);
  for (const std::size_t position : also) turn(view.inputs, position);
  return lower(view);
}

Result<std::optional<PointwiseKind>> ActivationKind(const std::string& name) {
  using Kind = std::optional<PointwiseKind>;
  if (name.empty() || name == "NONE" || name == "none" || name == "Identity") return Kind();
  // An ONNX operator's name, or what execution providers call it.
  for (const PointwiseOperator& named : PointwiseOnnxOperators())
    if (named.onnx == name && IsActivation(named.kind)) return Kind(named.kind);
  static const std::map<std::string, PointwiseKind, std::less<>> kAliases = {
      {"RELU", PointwiseKind::kRelu},           {"relu", PointwiseKind::kRelu},
      {"sigmoid", PointwiseKind::kSigmoid},     {"Clip", PointwiseKind::kClip},
      {"ScaledTanh", PointwiseKind::kTanh},     {"ParametricSoftplus", PointwiseKind::kSoftplus},
      {"Gelu", PointwiseKind::kGeluErf},        {"GELU", PointwiseKind::kGeluErf},
      {"gelu", PointwiseKind::kGeluErf},        {"FastGelu", PointwiseKind::kGeluTanh},
      {"QuickGelu", PointwiseKind::kQuickGelu}, {"SiLU", PointwiseKind::kSwish},
      {"silu", PointwiseKind::kSwish},          {"swish", PointwiseKind::kSwish},
  };
  const auto found = kAliases.find(name);
  if (found == kAliases.end()) return Error{"no element-wise kind matches the fused activation " + Quoted(name)};
  return Kind(found->second);
}

Result<Lowering> LowerConvolution(const NodeView& node) {
  // A channels-last provider may have fused an activation into ONNX's own operator.
  return HasAttribute(node, "activation") ? LowerFusedConvolution(node) : Finish(node, {}, false);
}

Result<Lowering> LowerTransposedConvolution(const NodeView& node) { return Finish(node, {}, true); }

Result<Lowering> LowerFusedConvolution(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const ConvolutionConfig config, ReadConvolution(node, {}, false));
  INFIMUM_ASSIGN_OR_RETURN(const std::string name, Text(node, "activation", ""));
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<PointwiseKind> activation, ActivationKind(name));
  const DataType type = config.types.output;
  const Shape output = OutputShape(config);
  RegionBuilder region(node);
  std::vector<RegionBuilder::Source> operands{region.Input(0), region.Input(1)};
  if (config.bias) operands.push_back(region.Input(2));
  auto value = region.Add(config, operands);
  if (HasInput(node, 3)) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape residual, InputShape(node, 3));
    INFIMUM_ASSIGN_OR_RETURN(const DataType residual_type, InputType(node, 3));
    INFIMUM_ASSIGN_OR_RETURN(value, region.AddPointwise(PointwiseKind::kAdd, {type, residual_type, type},
                                                        {output, residual}, {value, region.Input(3)}));
  }
  if (activation) {
    INFIMUM_RETURN_IF_ERROR(region.AddPointwise(*activation, {type, DataType::kNone, type}, {output}, {value}));
  }
  return region.Finish();
}

std::span<const OperatorEntry> ConvolutionOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Conv", LowerConvolution},
      {kOnnx, "ConvInteger", LowerInteger},
      {kOnnx, "ConvTranspose", LowerTransposedConvolution},
      {kOnnx, "DeformConv", LowerDeformable},
      {kOnnx, "CausalConvWithState", LowerCausalWithState},
      {kMicrosoft, "CausalConvWithState", LowerCausalWithState},
      {kMicrosoft, "ConvTransposeWithDynamicPads", LowerWithDynamicPads},
      {kMicrosoft, "FusedConv", LowerFusedConvolution},
      {kMicrosoft, "NhwcConv", LowerNhwcConv},
      {kMicrosoft, "NhwcFusedConv", LowerNhwcFusedConv},
      {kBlocked, "Conv", LowerFusedConvolution},
      {kChannelsLast, "Conv", LowerNhwcConv},
      {kChannelsLast, "ConvTranspose", LowerNhwcConvTranspose},
  };
  return kEntries;
}

}  // namespace infimum::lowering
