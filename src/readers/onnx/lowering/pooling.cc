// MaxPool, AveragePool, LpPool, their global, quantised and channels-last forms, and MaxUnpool.
#include <algorithm>
#include <vector>

#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/convolution.h"
#include "src/readers/onnx/lowering/movement.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/operator_table.h"
#include "src/readers/onnx/lowering/region_builder.h"
#include "src/readers/onnx/lowering/window.h"

namespace infimum::lowering {

// Input 0 and the window attributes. A padded average without padding is a plain average.
Result<PoolingConfig> ReadPooling(const NodeView& node, PoolingKind kind);
namespace {

Shape SpatialExtents(const Shape& shape) { return Shape{{shape.dims.begin() + 2, shape.dims.end()}}; }

Result<Lowering> Pool(const NodeView& node, PoolingKind kind) {
  INFIMUM_ASSIGN_OR_RETURN(const PoolingConfig config, ReadPooling(node, kind));
  return Measurable(config, {0});
}

Result<Lowering> LowerMaxPool(const NodeView& node) {
  return Pool(node, HasOutput(node, 1) ? PoolingKind::kMaxWithIndices : PoolingKind::kMax);
}

Result<Lowering> LowerAveragePool(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const bool with_pad, Flag(node, "count_include_pad", false));
  return Pool(node, with_pad ? PoolingKind::kAverageWithPad : PoolingKind::kAverageWithoutPad);
}

Result<Lowering> LowerLpPool(const NodeView& node) { return Pool(node, PoolingKind::kLp); }

template <PoolingKind kKind>
Result<Lowering> LowerGlobal(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  if (input.rank() < 2) return Error{"an input of " + Format(input) + " has no channels"};
  const Shape window = SpatialExtents(input);
  if (ProductOf(window, 0, window.rank()) == 1 && types.input == types.output && kKind != PoolingKind::kLp)
    return Free("a pool over one element returns it");  // but its norm is its absolute value
  const std::vector<std::int64_t> ones(window.rank(), 1);
  PoolingConfig config;
  config.kind = kKind;
  config.types = types;
  config.input = input;
  config.output = Shape{{input.dims[0], input.dims[1]}};
  config.output.dims.insert(config.output.dims.end(), ones.begin(), ones.end());
  config.kernel = window;
  config.stride = config.dilation = Shape{ones};
  config.padding.assign(2 * ones.size(), 0);
  return Measurable(config, {0});
}

// Zeros, then each element to the place that its index names.
Result<Lowering> LowerMaxUnpool(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, BinaryTypes(node, 0, 1));
  const std::int64_t count = ElementCount(input);
  const Shape flat{{ElementCount(output)}};
  RegionBuilder region(node);
  const auto zeros = region.Add(Fill(types.output, flat), {});
  region.Add(MovementConfig{MovementKind::kScatter, types, {flat, Shape{{count}}}, {flat}, 0, {}, count},
             {zeros, region.Input(0), region.Input(1)});
  return region.Finish();
}

// Elements outside of the mask do not count: a multiplication, then the pool.
Result<Lowering> LowerMasked(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const PoolingConfig config, ReadPooling(node, PoolingKind::kMax));
  INFIMUM_ASSIGN_OR_RETURN(const Shape mask, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, BinaryTypes(node, 0, 1));
  RegionBuilder region(node);
  INFIMUM_ASSIGN_OR_RETURN(const auto masked,
                           region.AddPointwise(PointwiseKind::kMultiply, {types.input, types.weights, types.input},
                                               {config.input, mask}, {region.Input(0), region.Input(1)}));
  region.Add(config, {masked});
  return region.Finish();
}

template <LowerFunction kLower>
Result<Lowering> NhwcPooling(const NodeView& node) {
  return LowerChannelsLast(node, kLower);
}

template <LowerFunction kLower>
Result<Lowering> MaybeNhwc(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const bool channels_last, Flag(node, "channels_last", false));
  return channels_last ? LowerChannelsLast(node, kLower) : kLower(node);
}

}  // namespace

Result<PoolingConfig> ReadPooling(const NodeView& node, PoolingKind kind) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  if (input.rank() < 3) return Error{"a pool over " + Format(input) + " has no spatial dimensions"};
  const Shape spatial = SpatialExtents(input);
  INFIMUM_ASSIGN_OR_RETURN(const Window window, ReadWindow(node, spatial, std::nullopt));
  INFIMUM_ASSIGN_OR_RETURN(const bool ceil, Flag(node, "ceil_mode", false));
  PoolingConfig config{kind, types, input, {}, window.kernel, window.stride, window.dilation, window.padding};
  const OperandView* output = node.output(0);
  if (output != nullptr && output->shape != nullptr) {
    config.output = *output->shape;  // ceil_mode has had several roundings: what was inferred counts
    if (config.output.rank() != input.rank())
      return Error{"an output of " + Format(config.output) + " does not fit an input of " + Format(input)};
  } else {
    config.output = Shape{{input.dims[0], input.dims[1]}};
    const std::size_t rank = spatial.rank();
    for (std::size_t i = 0; i < rank; ++i)
      config.output.dims.push_back(WindowOutput(spatial.dims[i], window.kernel.dims[i], window.stride.dims[i],
                                                window.dilation.dims[i], window.padding[i] + window.padding[rank + i],
                                                ceil));
  }
  const bool padded = std::any_of(config.padding.begin(), config.padding.end(), [](std::int64_t p) { return p != 0; });
  if (kind == PoolingKind::kAverageWithPad && !padded) config.kind = PoolingKind::kAverageWithoutPad;
  return config;
}

std::span<const OperatorEntry> PoolingOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "MaxPool", LowerMaxPool},
      {kOnnx, "AveragePool", LowerAveragePool},
      {kOnnx, "LpPool", LowerLpPool},
      {kOnnx, "GlobalMaxPool", LowerGlobal<PoolingKind::kMax>},
      {kOnnx, "GlobalAveragePool", LowerGlobal<PoolingKind::kAverageWithoutPad>},
      {kOnnx, "GlobalLpPool", LowerGlobal<PoolingKind::kLp>},
      {kOnnx, "MaxUnpool", LowerMaxUnpool},
      {kMicrosoft, "MaxpoolWithMask", LowerMasked},
      {kMicrosoft, "NhwcMaxPool", NhwcPooling<LowerMaxPool>},
      {kMicrosoft, "QLinearAveragePool", MaybeNhwc<LowerAveragePool>},
      {kMicrosoft, "QLinearGlobalAveragePool", MaybeNhwc<LowerGlobal<PoolingKind::kAverageWithoutPad>>},
      {kBlocked, "MaxPool", LowerMaxPool},
      {kBlocked, "AveragePool", LowerAveragePool},
      {kBlocked, "GlobalMaxPool", LowerGlobal<PoolingKind::kMax>},
      {kBlocked, "GlobalAveragePool", LowerGlobal<PoolingKind::kAverageWithoutPad>},
      {kChannelsLast, "MaxPool", NhwcPooling<LowerMaxPool>},
      {kChannelsLast, "AveragePool", NhwcPooling<LowerAveragePool>},
      {kChannelsLast, "LpPool", NhwcPooling<LowerLpPool>},
      {kChannelsLast, "GlobalMaxPool", NhwcPooling<LowerGlobal<PoolingKind::kMax>>},
      {kChannelsLast, "GlobalAveragePool", NhwcPooling<LowerGlobal<PoolingKind::kAverageWithoutPad>>},
      {kChannelsLast, "GlobalLpPool", NhwcPooling<LowerGlobal<PoolingKind::kLp>>},
      {kChannelsLast, "MaxUnpool", NhwcPooling<LowerMaxUnpool>},
      {kChannelsLast, "QLinearAveragePool", NhwcPooling<LowerAveragePool>},
  };
  return kEntries;
}

}  // namespace infimum::lowering
