// Activations, element-wise arithmetic, comparison and logic with broadcasting, Where, Clip, Cast. Operators that are
// one kind and nothing else are named in pointwise_kinds.def.
#include <algorithm>
#include <optional>
#include <vector>

#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/movement.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/operator_table.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {
namespace {

// Operands at the given inputs of the node, broadcast. The type is that of the first, the weights' that of the second
// of `typed`, or else of the operands.
Result<Lowering> Elementwise(const NodeView& node, PointwiseKind kind, const std::vector<std::size_t>& positions,
                             std::vector<std::size_t> typed = {}) {
  if (typed.empty()) typed = positions;
  INFIMUM_ASSIGN_OR_RETURN(OperandTypes types, UnaryTypes(node, typed[0]));
  if (typed.size() > 1) {
    INFIMUM_ASSIGN_OR_RETURN(types.weights, InputType(node, typed[1]));
  }
  RegionBuilder region(node);
  std::vector<Shape> shapes;
  std::vector<RegionBuilder::Source> operands;
  for (const std::size_t position : positions) {
    INFIMUM_ASSIGN_OR_RETURN(Shape shape, InputShape(node, position));
    shapes.push_back(std::move(shape));
    operands.push_back(region.Input(position));
  }
  INFIMUM_RETURN_IF_ERROR(region.AddPointwise(kind, types, shapes, operands));
  return region.Finish();
}

template <PointwiseKind kKind>
Result<Lowering> Unary(const NodeView& node) {
  return Elementwise(node, kKind, {0});
}

// Operators of com.microsoft with a scale and a zero point behind each operand.
template <PointwiseKind kKind>
Result<Lowering> QuantizedBinary(const NodeView& node) {
  return Elementwise(node, kKind, {0, 3});
}

// inputs: a, its zero point, b, its zero point.
Result<Lowering> LowerMulInteger(const NodeView& node) { return Elementwise(node, PointwiseKind::kMultiply, {0, 2}); }

Result<Lowering> Variadic(const NodeView& node, PointwiseKind kind) {
  std::vector<std::size_t> positions(node.inputs.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  if (positions.empty()) return Error{"it has no inputs"};
  if (positions.size() == 1) return Free("with one operand it returns that operand");
  return Elementwise(node, kind, positions);
}

Result<Lowering> LowerSum(const NodeView& node) { return Variadic(node, PointwiseKind::kAdd); }

// The operators that are one kind and nothing else, by their name.
Result<Lowering> LowerNamed(const NodeView& node) {
  const auto operators = PointwiseOnnxOperators();
  const auto found = std::ranges::find(operators, node.op, &PointwiseOperator::onnx);
  INFIMUM_CHECK(found != operators.end(), "the operator is in the list");
  const std::size_t most = OperandsOf(found->kind).most;
  if (most > 2) return Variadic(node, found->kind);
  return most == 2 ? Elementwise(node, found->kind, {0, 1}) : Elementwise(node, found->kind, {0});
}

// The condition is the operand of a type of its own.
Result<Lowering> LowerWhere(const NodeView& node) {
  return Elementwise(node, PointwiseKind::kWhere, {0, 1, 2}, {1, 0});
}
Result<Lowering> LowerQLinearWhere(const NodeView& node) {
  return Elementwise(node, PointwiseKind::kWhere, {0, 1, 4}, {1, 0});
}

// The bounds are scalars, hence values; without any it changes nothing.
Result<Lowering> LowerClip(const NodeView& node) {
  const bool bounded = HasInput(node, 1) || HasInput(node, 2) || HasAttribute(node, "min") || HasAttribute(node, "max");
  if (!bounded && node.opset >= 11) return Free("without bounds it returns its input");
  return Unary<PointwiseKind::kClip>(node);
}

Result<Lowering> LowerCast(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  if (types.input == types.output) return Free("the element type does not change");
  return Unary<PointwiseKind::kCast>(node);
}

Result<Lowering> LowerBitCast(const NodeView&) { return Free("reads the same bytes as another element type"); }

Result<Lowering> LowerGelu(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string approximation, Text(node, "approximate", "none"));
  return approximation == "tanh" ? Unary<PointwiseKind::kGeluTanh>(node) : Unary<PointwiseKind::kGeluErf>(node);
}

Result<Lowering> LowerSwiGlu(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape gate, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape value, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, BinaryTypes(node, 0, 1));
  RegionBuilder region(node);
  INFIMUM_ASSIGN_OR_RETURN(
      const auto swish, region.AddPointwise(PointwiseKind::kSwish, {types.input, DataType::kNone, types.input}, {gate},
                                            {region.Input(0)}));
  INFIMUM_RETURN_IF_ERROR(
      region.AddPointwise(PointwiseKind::kMultiply, types, {gate, value}, {swish, region.Input(1)}));
  return region.Finish();
}

// By factors that are attributes: they appear as a constant that is filled in.
Result<Lowering> WithFactors(const NodeView& node, PointwiseKind kind, const Shape& input, const Shape& factors) {
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  RegionBuilder region(node);
  const auto constant = region.Add(Fill(types.input, factors), {});
  INFIMUM_RETURN_IF_ERROR(region.AddPointwise(kind, {types.input, types.input, types.output}, {input, factors},
                                              {region.Input(0), constant}));
  return region.Finish();
}

Result<Lowering> LowerScaled(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  return WithFactors(node, PointwiseKind::kMultiply, input, Shape{{1}});
}

// One bias for each channel.
Result<Lowering> LowerImageScaler(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  if (input.rank() < 2) return Error{"an input of " + Format(input) + " has no channels"};
  Shape bias{{input.dims[1]}};
  bias.dims.resize(input.rank() - 1, 1);
  return WithFactors(node, PointwiseKind::kAdd, input, bias);
}

// PRelu's slope broadcasts to the input only, which NumPy's rule covers; before opset 7 a slope of one
// element a channel stood for C x 1 x 1.
Result<Lowering> LowerPRelu(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(Shape slope, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, BinaryTypes(node, 0, 1));
  if (node.opset < 7 && slope.rank() == 1 && input.rank() > 2 && slope.dims[0] == input.dims[1])
    slope.dims.resize(input.rank() - 1, 1);
  RegionBuilder region(node);
  INFIMUM_RETURN_IF_ERROR(
      region.AddPointwise(PointwiseKind::kPRelu, types, {input, slope}, {region.Input(0), region.Input(1)}));
  return region.Finish();
}

// A power is exponential and logarithm, unless its exponent is known: then engines use a multiplication or a root.
Result<Lowering> LowerPow(const NodeView& node) {
  const std::optional<std::vector<double>> exponents =
      HasInput(node, 1) ? NumbersOf(node.inputs[1]->value) : std::nullopt;
  const auto all = [&](double wanted) {
    return exponents && !exponents->empty() &&
           std::all_of(exponents->begin(), exponents->end(), [=](double exponent) { return exponent == wanted; });
  };
  INFIMUM_ASSIGN_OR_RETURN(const Shape base, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  if (base == output && types.input == types.output) {
    if (all(1)) return Free("to the power of one it returns its input");
    if (all(2)) return Unary<PointwiseKind::kSquare>(node);
    if (all(3)) return Unary<PointwiseKind::kCube>(node);
    if (all(0.5) && IsFloatingPoint(types.input)) return Unary<PointwiseKind::kSquareRoot>(node);
    if (all(-1) && IsFloatingPoint(types.input)) return Unary<PointwiseKind::kReciprocal>(node);
  }
  return Elementwise(node, PointwiseKind::kPower, {0, 1});
}

}  // namespace

std::span<const OperatorEntry> PointwiseOperators() {
  using K = PointwiseKind;
  static constexpr OperatorEntry kSpecial[] = {
      {kOnnx, "PRelu", LowerPRelu},
      {kOnnx, "Pow", LowerPow},
      {kOnnx, "Sum", LowerSum},

      {kOnnx, "BitCast", LowerBitCast},
      {kOnnx, "Cast", LowerCast},
      {kOnnx, "CastLike", LowerCast},
      {kOnnx, "Clip", LowerClip},
      {kOnnx, "Gelu", LowerGelu},
      {kOnnx, "SwiGLU", LowerSwiGlu},
      {kOnnx, "Where", LowerWhere},

      // Operators that ONNX removed and ONNX Runtime still knows; their factors are values.
      {kOnnx, "Affine", LowerScaled},
      {kOnnx, "ImageScaler", LowerImageScaler},
      {kOnnx, "ParametricSoftplus", Unary<K::kSoftplus>},
      {kOnnx, "Scale", LowerScaled},
      {kOnnx, "ScaledTanh", Unary<K::kTanh>},

      {kMicrosoft, "Gelu", Unary<K::kGeluErf>},
      {kMicrosoft, "MulInteger", LowerMulInteger},
      {kMicrosoft, "QLinearAdd", QuantizedBinary<K::kAdd>},
      {kMicrosoft, "QLinearLeakyRelu", Unary<K::kLeakyRelu>},
      {kMicrosoft, "QLinearMul", QuantizedBinary<K::kMultiply>},
      {kMicrosoft, "QLinearSigmoid", Unary<K::kSigmoid>},
      {kMicrosoft, "QLinearWhere", LowerQLinearWhere},
      {kMicrosoft, "QuickGelu", Unary<K::kQuickGelu>},
      {kMicrosoft, "ScaledSiLU", Unary<K::kSwish>},
  };
  static const std::vector<OperatorEntry> kEntries = [] {
    std::vector<OperatorEntry> entries(std::begin(kSpecial), std::end(kSpecial));
    for (const PointwiseOperator& named : PointwiseOnnxOperators()) entries.push_back({kOnnx, named.onnx, LowerNamed});
    return entries;
  }();
  return kEntries;
}

}  // namespace infimum::lowering
