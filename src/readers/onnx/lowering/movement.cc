// Transpose, Concat, Split, Slice, Pad, Expand, Tile, DepthToSpace, generators, ReverseSequence, Trilu.
#include "src/readers/onnx/lowering/movement.h"

#include <algorithm>
#include <vector>

#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/convolution.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {
namespace {

// From input 0 to output 0 without further parameters.
Result<Lowering> Moved(const NodeView& node, MovementKind kind) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  return Measurable(Canonicalize(MovementConfig{kind, types, {input}, {output}, -1, {}, 0}), {0});
}

Result<bool> KeepsShape(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  return input == output;
}

Result<Lowering> LowerTranspose(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const auto given, IntegersIn(node, "perm"));
  std::vector<std::int64_t> permutation = given.value_or(std::vector<std::int64_t>());
  const std::size_t rank = input.rank();
  if (permutation.empty())
    for (std::size_t i = 0; i < rank; ++i) permutation.push_back(static_cast<std::int64_t>(rank - 1 - i));
  std::vector<std::int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool valid = sorted.size() == rank;
  for (std::size_t i = 0; valid && i < rank; ++i) valid = sorted[i] == static_cast<std::int64_t>(i);
  if (!valid) return Error{"attribute 'perm' is not a permutation of " + std::to_string(rank) + " dimensions"};
  if (KeepsOrder(input, permutation)) return Free("moves only dimensions of one element");
  return Measurable(Transpose(types.input, input, permutation), {0});
}

Result<Lowering> LowerSplit(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", 0, input.rank()));
  std::vector<Shape> outputs;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!HasOutput(node, i)) continue;
    INFIMUM_ASSIGN_OR_RETURN(Shape output, OutputShape(node, i));
    if (output == input) return Free("its one part is the whole input");
    if (ElementCount(output) > 0) outputs.push_back(std::move(output));
  }
  if (outputs.empty()) return Error{"it has no outputs"};
  std::int64_t taken = 0;
  for (const Shape& output : outputs) {
    if (output.rank() != input.rank())
      return Error{"an output of " + Format(output) + " is not a part of " + Format(input)};
    taken += output.dims[axis];
  }
  // Unread parts are not written: then it is a slice.
  if (taken == input.dims[axis]) {
    return Measurable(Canonicalize(MovementConfig{
                          MovementKind::kSplit, types, {input}, outputs, static_cast<std::int64_t>(axis), {}, 0}),
                      {0});
  }
  if (taken > input.dims[axis]) return Error{"its parts are longer than its input"};
  Shape part = input;
  part.dims[axis] = taken;
  return Measurable(Canonicalize(MovementConfig{MovementKind::kSlice, types, {input}, {part}, -1, {}, 0}), {0});
}

// Whether all steps are positive: only then does a slice of everything keep the order.
bool GoesForward(const NodeView& node) {
  if (!HasInput(node, 4)) return true;
  const auto steps = InputValues(node, 4);
  return steps && std::all_of(steps->begin(), steps->end(), [](std::int64_t step) { return step > 0; });
}

Result<Lowering> LowerSlice(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const bool all, KeepsShape(node));
  if (all && GoesForward(node)) return Free("takes the whole input");
  return Moved(node, all ? MovementKind::kReverse : MovementKind::kSlice);
}

Result<Lowering> LowerPad(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const bool same, KeepsShape(node));
  if (same) {
    auto pads = InputValues(node, 1);
    if (!pads) {
      INFIMUM_ASSIGN_OR_RETURN(const auto attribute,
                               IntegersIn(node, HasAttribute(node, "pads") ? "pads" : "paddings"));
      if (attribute) pads = *attribute;
    }
    if (pads && std::all_of(pads->begin(), pads->end(), [](std::int64_t pad) { return pad == 0; }))
      return Free("pads nothing");
  }
  return Moved(node, MovementKind::kPad);
}

Result<Lowering> LowerExpand(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  if (ElementCount(input) == ElementCount(output)) return Free("repeats nothing");
  return Moved(node, MovementKind::kExpand);
}

Result<Lowering> LowerTile(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const bool same, KeepsShape(node));
  return same ? Result<Lowering>(Free("repeats nothing")) : Moved(node, MovementKind::kTile);
}

Result<Lowering> LowerBlocks(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t size, RequiredInteger(node, "blocksize", {1, kMaxAttribute}));
  if (size == 1) return Free("blocks of one element");
  INFIMUM_ASSIGN_OR_RETURN(const std::string mode, Text(node, "mode", "DCR"));
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  // Blocks within the channels (a pixel shuffle) rather than around them: a transpose of six dimensions.
  if (node.op == "DepthToSpace" && mode == "CRD" && input.rank() == 4 && input.dims[1] % (size * size) == 0) {
    const Shape blocks{{input.dims[0], input.dims[1] / (size * size), size, size, input.dims[2], input.dims[3]}};
    INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
    return Measurable(Transpose(types.input, blocks, {0, 1, 4, 2, 5, 3}), {0});
  }
  return Moved(node, MovementKind::kDepthToSpace);
}

Result<Lowering> LowerReverseSequence(const NodeView& node) { return Moved(node, MovementKind::kReverse); }
Result<Lowering> LowerTriangle(const NodeView& node) { return Moved(node, MovementKind::kTriangle); }
Result<Lowering> LowerOneHot(const NodeView& node) { return Moved(node, MovementKind::kOneHot); }
Result<Lowering> LowerCopy(const NodeView& node) { return Moved(node, MovementKind::kCopy); }

// Crops and pads at once: what is smaller than both is copied, the rest is zeros.
Result<Lowering> LowerCenterCropPad(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  if (input == output) return Free("neither crops nor pads");
  if (input.rank() != output.rank())
    return Error{"an output of " + Format(output) + " is not a crop of " + Format(input)};
  Shape kept = input;
  for (std::size_t i = 0; i < kept.rank(); ++i) kept.dims[i] = std::min(kept.dims[i], output.dims[i]);
  RegionBuilder region(node);
  auto value = region.Input(0);
  if (kept != input) value = region.Add(Move(MovementKind::kSlice, types.input, input, kept), {value});
  if (kept != output) region.Add(Move(MovementKind::kPad, types.input, kept, output), {value});
  return region.Finish();
}

// Generators: what they write follows from a shape and a few scalars.
Result<Lowering> LowerFill(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, OutputType(node, 0));
  const OperandView* output = node.output(0);
  if (output->shape == nullptr) return Unknown("the number of elements that it generates depends on the data");
  return Measurable(Fill(type, *output->shape), {});
}

// A random number for each element, compared with it.
Result<Lowering> LowerBernoulli(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  RegionBuilder region(node);
  const auto random = region.Add(Fill(types.input, Shape{{ElementCount(input)}}), {});
  INFIMUM_ASSIGN_OR_RETURN(const auto drawn,
                           region.AddPointwise(PointwiseKind::kLess, {types.input, types.input, DataType::kBool},
                                               {input, input}, {random, region.Input(0)}));
  if (types.output != DataType::kBool) {
    INFIMUM_RETURN_IF_ERROR(
        region.AddPointwise(PointwiseKind::kCast, {DataType::kBool, DataType::kNone, types.output}, {input}, {drawn}));
  }
  return region.Finish();
}

// The grid's base points are constants; each image's matrix maps them.
Result<Lowering> LowerAffineGrid(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape theta, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  if (theta.rank() != 3 || output.rank() < 4 || output.dims[0] != theta.dims[0])
    return Error{"matrices of " + Format(theta) + " do not give a grid of " + Format(output)};
  const std::int64_t points = ProductOf(output, 1, output.rank() - 1);
  const Shape base{{1, points, theta.dims[2]}};
  RegionBuilder region(node);
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(base));
  const auto grid = region.Add(Fill(types.input, base), {});
  INFIMUM_ASSIGN_OR_RETURN(const MatMulConfig config, MakeMatMul({types.input, types.input, types.output}, base,
                                                                 Shape{{theta.dims[0], theta.dims[2], theta.dims[1]}},
                                                                 MatMulBias::kNone, ConstnessOf(node, 0)));
  region.Add(config, {grid, region.Input(0)});
  return region.Finish();
}

// Between NCHW and blocks of 16 channels, or of 8 where their number allows no more.
Result<Lowering> Reorder(const NodeView& node, std::size_t channel_position, bool to_blocks) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const bool channels_last, Flag(node, "channels_last", false));
  if (input.rank() != 4) return Error{"an input of " + Format(input) + " is not an image"};
  Shape logical = input;
  if (to_blocks && channels_last) std::rotate(logical.dims.begin() + 1, logical.dims.end() - 1, logical.dims.end());
  const std::string plain = channels_last ? "nhwc" : "nchw";
  const std::string blocked = logical.dims[channel_position] % 16 == 0 ? "nChw16c" : "nChw8c";
  return Measurable(ReorderConfig{types, logical, to_blocks ? plain : blocked, to_blocks ? blocked : plain}, {0});
}

Result<Lowering> LowerReorderInput(const NodeView& node) { return Reorder(node, 1, true); }
Result<Lowering> LowerReorderOutput(const NodeView& node) { return Reorder(node, 1, false); }

Result<Lowering> ConcatOf(const NodeView& node, const std::vector<std::size_t>& positions) {
  if (positions.empty()) return Error{"it has no inputs"};
  INFIMUM_ASSIGN_OR_RETURN(OperandTypes types, UnaryTypes(node, positions[0]));
  INFIMUM_ASSIGN_OR_RETURN(const Shape first, InputShape(node, positions[0]));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", 1, first.rank()));
  std::vector<Shape> shapes;
  std::vector<std::size_t> operands;
  for (const std::size_t position : positions) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape shape, InputShape(node, position));
    if (shape.rank() != first.rank())
      return Error{"inputs of " + Format(first) + " and " + Format(shape) + " cannot be joined"};
    for (std::size_t i = 0; i < shape.rank(); ++i)
      if (i != axis && shape.dims[i] != first.dims[i])
        return Error{"inputs of " + Format(first) + " and " + Format(shape) + " cannot be joined"};
    if (ElementCount(shape) == 0) continue;  // nothing to copy
    shapes.push_back(shape);
    operands.push_back(position);
  }
  if (shapes.empty()) return Free("no elements to compute");
  if (shapes.size() == 1) return Free("joins one tensor");
  return Measurable(Concat(types.input, shapes, axis), operands);
}

// inputs: the output's scale and zero point, then tensor, scale, zero point of each operand.
Result<Lowering> LowerQLinearConcat(const NodeView& node) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 2; i < node.inputs.size(); i += 3) positions.push_back(i);
  return ConcatOf(node, positions);
}

Result<Lowering> LowerNhwcBlocks(const NodeView& node) { return LowerChannelsLast(node, LowerBlocks); }

}  // namespace

MovementConfig Move(MovementKind kind, DataType type, const Shape& input, const Shape& output) {
  return Canonicalize(MovementConfig{kind, {type, DataType::kNone, type}, {input}, {output}, -1, {}, 0});
}

MovementConfig Fill(DataType type, const Shape& output) {
  return Canonicalize(MovementConfig{MovementKind::kFill, {type, DataType::kNone, type}, {}, {output}, -1, {}, 0});
}

MovementConfig Concat(DataType type, const std::vector<Shape>& inputs, std::size_t axis) {
  Shape output = inputs[0];
  output.dims[axis] = 0;
  for (const Shape& input : inputs) output.dims[axis] += input.dims[axis];
  return Canonicalize(MovementConfig{
      MovementKind::kConcat, {type, DataType::kNone, type}, inputs, {output}, static_cast<std::int64_t>(axis), {}, 0});
}

MovementConfig Transpose(DataType type, const Shape& input, const std::vector<std::int64_t>& permutation) {
  Shape output;
  for (const std::int64_t from : permutation) output.dims.push_back(input.dims[static_cast<std::size_t>(from)]);
  return Canonicalize(
      MovementConfig{MovementKind::kTranspose, {type, DataType::kNone, type}, {input}, {output}, -1, permutation, 0});
}

MovementConfig GatherRows(DataType type, DataType index_type, std::int64_t rows, std::int64_t row, std::int64_t count) {
  return Canonicalize(MovementConfig{
      MovementKind::kGather, {type, index_type, type}, {Shape{{rows, row}}}, {Shape{{count, row}}}, 0, {}, count});
}

bool KeepsOrder(const Shape& shape, const std::vector<std::int64_t>& permutation) {
  std::int64_t last = -1;
  for (const std::int64_t from : permutation) {
    if (shape.dims[static_cast<std::size_t>(from)] == 1) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

Result<Lowering> LowerConcat(const NodeView& node) {
  std::vector<std::size_t> positions(node.inputs.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  return ConcatOf(node, positions);
}

std::span<const OperatorEntry> MovementOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Transpose", LowerTranspose},
      {kOnnx, "Concat", LowerConcat},
      {kOnnx, "Split", LowerSplit},
      {kOnnx, "Slice", LowerSlice},
      {kOnnx, "Pad", LowerPad},
      {kOnnx, "Expand", LowerExpand},
      {kOnnx, "Tile", LowerTile},
      {kOnnx, "DepthToSpace", LowerBlocks},
      {kOnnx, "SpaceToDepth", LowerBlocks},
      {kOnnx, "ReverseSequence", LowerReverseSequence},
      {kOnnx, "Trilu", LowerTriangle},
      {kOnnx, "OneHot", LowerOneHot},
      {kOnnx, "CenterCropPad", LowerCenterCropPad},
      {kOnnx, "AffineGrid", LowerAffineGrid},
      {kOnnx, "Bernoulli", LowerBernoulli},
      {kOnnx, "BlackmanWindow", LowerFill},
      {kOnnx, "ConstantOfShape", LowerFill},
      {kOnnx, "EyeLike", LowerFill},
      {kOnnx, "HammingWindow", LowerFill},
      {kOnnx, "HannWindow", LowerFill},
      {kOnnx, "MelWeightMatrix", LowerFill},
      {kOnnx, "RandomNormal", LowerFill},
      {kOnnx, "RandomNormalLike", LowerFill},
      {kOnnx, "RandomUniform", LowerFill},
      {kOnnx, "RandomUniformLike", LowerFill},
      {kOnnx, "Range", LowerFill},
      {kOnnx, "MemcpyFromHost", LowerCopy},
      {kOnnx, "MemcpyToHost", LowerCopy},
      {kMicrosoft, "MemcpyFromHost", LowerCopy},
      {kMicrosoft, "MemcpyToHost", LowerCopy},
      {kMicrosoft, "Pad", LowerPad},
      {kMicrosoft, "QLinearConcat", LowerQLinearConcat},
      {kMicrosoft, "Range", LowerFill},
      {kMicrosoft, "Trilu", LowerTriangle},
      {kBlocked, "ReorderInput", LowerReorderInput},
      {kBlocked, "ReorderOutput", LowerReorderOutput},
      {kChannelsLast, "DepthToSpace", LowerNhwcBlocks},
      {kChannelsLast, "SpaceToDepth", LowerNhwcBlocks},
  };
  return kEntries;
}

}  // namespace infimum::lowering
