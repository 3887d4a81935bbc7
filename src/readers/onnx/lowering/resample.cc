// Resize, Upsample, GridSample, RoiAlign, MaxRoiPool, CropAndResize.
#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/convolution.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/operator_table.h"

namespace infimum::lowering {
namespace {

Result<ResampleKind> KindOf(const std::string& mode) {
  if (mode == "nearest") return ResampleKind::kNearest;
  if (mode == "linear" || mode == "bilinear") return ResampleKind::kLinear;
  if (mode == "cubic" || mode == "bicubic") return ResampleKind::kCubic;
  return Error{"attribute 'mode' is '" + mode + "', an unknown value"};
}

Result<Lowering> Resampled(const NodeView& node, ResampleKind kind) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  return Measurable(ResampleConfig{kind, types, input, output}, {0});
}

Result<Lowering> LowerResize(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const std::string mode, Text(node, "mode", "nearest"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string coordinates, Text(node, "coordinate_transformation_mode", "half_pixel"));
  if (input == output && coordinates != "tf_crop_and_resize") return Free("resizes nothing");
  INFIMUM_ASSIGN_OR_RETURN(const ResampleKind kind, KindOf(mode));
  return Resampled(node, kind);
}

// The grid is an operand where the samples are linear, which the kind says; of others the input alone is counted.
Result<Lowering> LowerGridSample(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const std::string mode, Text(node, "mode", "linear"));
  INFIMUM_ASSIGN_OR_RETURN(const ResampleKind kind, KindOf(mode));
  if (kind != ResampleKind::kLinear) return Resampled(node, ResampleKind::kGridSample);
  INFIMUM_ASSIGN_OR_RETURN(OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(types.weights, InputType(node, 1));
  const ResampleConfig config{ResampleKind::kGridSample, types, input, output};
  INFIMUM_ASSIGN_OR_RETURN(const Shape grid, InputShape(node, 1));
  INFIMUM_RETURN_IF_ERROR(Validate(config));
  if (grid != OperandsOf(LayerConfig(config))[1].shape)
    return Error{"a grid of " + Format(grid) + " does not fit input " + Format(input) + " and output " +
                 Format(output)};
  return Measurable(config, {0, 1});
}

// MaxRoiPool takes the largest element of the region in place of interpolating; the traffic is the same.
Result<Lowering> LowerRegions(const NodeView& node) { return Resampled(node, ResampleKind::kRoiAlign); }

template <LowerFunction kLower>
Result<Lowering> NhwcResample(const NodeView& node) {
  return LowerChannelsLast(node, kLower);
}

}  // namespace

std::span<const OperatorEntry> ResampleOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Resize", LowerResize},
      {kOnnx, "Upsample", LowerResize},
      {kOnnx, "GridSample", LowerGridSample},
      {kOnnx, "MaxRoiPool", LowerRegions},
      {kOnnx, "RoiAlign", LowerRegions},
      {kMicrosoft, "CropAndResize", LowerRegions},
      {kMicrosoft, "GridSample", LowerGridSample},
      {kBlocked, "Upsample", LowerResize},
      {kChannelsLast, "GridSample", NhwcResample<LowerGridSample>},
      {kChannelsLast, "Resize", NhwcResample<LowerResize>},
  };
  return kEntries;
}

}  // namespace infimum::lowering
