#include "infimum/layer/pointwise.h"

#include <algorithm>
#include <array>

#include "infimum/base/text.h"
#include "src/core/layer/counting.h"
#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

constexpr int kMostOperands = 64;

// What a lower bound may count: an operator that only moves, picks or converts elements can be a copy.
enum class Provable { kNothing, kOnePerElement };

// Nominal operations for each output element, whatever an implementation does: 1 for an addition,
// multiplication, comparison, conversion or bit operation, 4 for a division or square root, 10 for a
// transcendental function, and the sum of these for a composed activation. A variadic kind does its
// operations once less than it has operands.
struct KindRow {
  PointwiseKind kind;
  std::string_view name;
  OperandRange operands;
  int flops;
  Provable provable = Provable::kOnePerElement;
};

constexpr std::array kKinds = {
    KindRow{PointwiseKind::kAdd, "add", {1, kMostOperands}, 1},
    KindRow{PointwiseKind::kSubtract, "subtract", {2, 2}, 1},
    KindRow{PointwiseKind::kMultiply, "multiply", {2, 2}, 1},
    KindRow{PointwiseKind::kDivide, "divide", {2, 2}, 4},
    KindRow{PointwiseKind::kPower, "power", {2, 2}, 20},
    KindRow{PointwiseKind::kModulo, "modulo", {2, 2}, 6},
    KindRow{PointwiseKind::kMinimum, "minimum", {1, kMostOperands}, 1},
    KindRow{PointwiseKind::kMaximum, "maximum", {1, kMostOperands}, 1},
    KindRow{PointwiseKind::kMean, "mean", {1, kMostOperands}, 1},
    KindRow{PointwiseKind::kPRelu, "prelu", {2, 2}, 2},
    KindRow{PointwiseKind::kBitShift, "bit_shift", {2, 2}, 1},
    KindRow{PointwiseKind::kAnd, "and", {2, 2}, 1},
    KindRow{PointwiseKind::kOr, "or", {2, 2}, 1},
    KindRow{PointwiseKind::kXor, "xor", {2, 2}, 1},
    KindRow{PointwiseKind::kNot, "not", {1, 1}, 1},
    KindRow{PointwiseKind::kBitwiseAnd, "bitwise_and", {2, 2}, 1},
    KindRow{PointwiseKind::kBitwiseOr, "bitwise_or", {2, 2}, 1},
    KindRow{PointwiseKind::kBitwiseXor, "bitwise_xor", {2, 2}, 1},
    KindRow{PointwiseKind::kBitwiseNot, "bitwise_not", {1, 1}, 1},
    KindRow{PointwiseKind::kEqual, "equal", {2, 2}, 1},
    KindRow{PointwiseKind::kGreater, "greater", {2, 2}, 1},
    KindRow{PointwiseKind::kGreaterOrEqual, "greater_or_equal", {2, 2}, 1},
    KindRow{PointwiseKind::kLess, "less", {2, 2}, 1},
    KindRow{PointwiseKind::kLessOrEqual, "less_or_equal", {2, 2}, 1},
    KindRow{PointwiseKind::kIsNaN, "is_nan", {1, 1}, 1},
    KindRow{PointwiseKind::kIsInf, "is_inf", {1, 1}, 1},
    KindRow{PointwiseKind::kWhere, "where", {3, 3}, 1, Provable::kNothing},
    KindRow{PointwiseKind::kIdentity, "identity", {1, 1}, 0, Provable::kNothing},
    KindRow{PointwiseKind::kAbsolute, "absolute", {1, 1}, 1},
    KindRow{PointwiseKind::kNegative, "negative", {1, 1}, 1},
    KindRow{PointwiseKind::kSign, "sign", {1, 1}, 1},
    KindRow{PointwiseKind::kCeil, "ceil", {1, 1}, 1},
    KindRow{PointwiseKind::kFloor, "floor", {1, 1}, 1},
    KindRow{PointwiseKind::kRound, "round", {1, 1}, 1},
    KindRow{PointwiseKind::kReciprocal, "reciprocal", {1, 1}, 4},
    KindRow{PointwiseKind::kSquareRoot, "square_root", {1, 1}, 4},
    KindRow{PointwiseKind::kSquare, "square", {1, 1}, 1},
    KindRow{PointwiseKind::kCube, "cube", {1, 1}, 2},
    KindRow{PointwiseKind::kExponential, "exponential", {1, 1}, 10},
    KindRow{PointwiseKind::kLogarithm, "logarithm", {1, 1}, 10},
    KindRow{PointwiseKind::kErrorFunction, "error_function", {1, 1}, 10},
    KindRow{PointwiseKind::kClip, "clip", {1, 1}, 2},
    KindRow{PointwiseKind::kCast, "cast", {1, 1}, 1, Provable::kNothing},
    KindRow{PointwiseKind::kSine, "sine", {1, 1}, 10},
    KindRow{PointwiseKind::kCosine, "cosine", {1, 1}, 10},
    KindRow{PointwiseKind::kTangent, "tangent", {1, 1}, 10},
    KindRow{PointwiseKind::kArcSine, "arc_sine", {1, 1}, 10},
    KindRow{PointwiseKind::kArcCosine, "arc_cosine", {1, 1}, 10},
    KindRow{PointwiseKind::kArcTangent, "arc_tangent", {1, 1}, 10},
    KindRow{PointwiseKind::kHyperbolicSine, "hyperbolic_sine", {1, 1}, 10},
    KindRow{PointwiseKind::kHyperbolicCosine, "hyperbolic_cosine", {1, 1}, 10},
    KindRow{PointwiseKind::kArcHyperbolicSine, "arc_hyperbolic_sine", {1, 1}, 10},
    KindRow{PointwiseKind::kArcHyperbolicCosine, "arc_hyperbolic_cosine", {1, 1}, 10},
    KindRow{PointwiseKind::kArcHyperbolicTangent, "arc_hyperbolic_tangent", {1, 1}, 10},
    KindRow{PointwiseKind::kRelu, "relu", {1, 1}, 1},
    KindRow{PointwiseKind::kLeakyRelu, "leaky_relu", {1, 1}, 2},
    KindRow{PointwiseKind::kElu, "elu", {1, 1}, 13},
    KindRow{PointwiseKind::kCelu, "celu", {1, 1}, 17},
    KindRow{PointwiseKind::kSelu, "selu", {1, 1}, 14},
    KindRow{PointwiseKind::kThresholdedRelu, "thresholded_relu", {1, 1}, 1},
    KindRow{PointwiseKind::kSigmoid, "sigmoid", {1, 1}, 15},
    KindRow{PointwiseKind::kHardSigmoid, "hard_sigmoid", {1, 1}, 4},
    KindRow{PointwiseKind::kTanh, "tanh", {1, 1}, 10},
    KindRow{PointwiseKind::kHardSwish, "hard_swish", {1, 1}, 5},
    KindRow{PointwiseKind::kSwish, "swish", {1, 1}, 16},
    KindRow{PointwiseKind::kGeluErf, "gelu_erf", {1, 1}, 14},
    KindRow{PointwiseKind::kGeluTanh, "gelu_tanh", {1, 1}, 18},
    KindRow{PointwiseKind::kQuickGelu, "quick_gelu", {1, 1}, 17},
    KindRow{PointwiseKind::kSoftplus, "softplus", {1, 1}, 21},
    KindRow{PointwiseKind::kSoftsign, "softsign", {1, 1}, 6},
    KindRow{PointwiseKind::kMish, "mish", {1, 1}, 32},
    KindRow{PointwiseKind::kShrink, "shrink", {1, 1}, 3},
    KindRow{PointwiseKind::kQuantize, "quantize", {1, 1}, 4, Provable::kNothing},
    KindRow{PointwiseKind::kDequantize, "dequantize", {1, 1}, 2, Provable::kNothing},
    KindRow{PointwiseKind::kDynamicQuantize, "dynamic_quantize", {1, 1}, 6, Provable::kNothing},
    KindRow{PointwiseKind::kRequantize, "requantize", {1, 1}, 4, Provable::kNothing},
};

constexpr bool KindsStandAtTheirValue() {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (static_cast<std::size_t>(kKinds[i].kind) != i) return false;
  return static_cast<std::size_t>(PointwiseKind::kRequantize) + 1 == kKinds.size();
}
static_assert(KindsStandAtTheirValue());

constexpr auto kPointwiseNames = [] {
  std::array<NamedValue<PointwiseKind>, kKinds.size()> names{};
  for (std::size_t i = 0; i < kKinds.size(); ++i) names[i] = {kKinds[i].kind, kKinds[i].name};
  return names;
}();

const KindRow& RowOf(PointwiseKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  INFIMUM_CHECK(index < kKinds.size(), "a pointwise kind is one of the enumerators");
  return kKinds[index];
}

bool IsComparison(PointwiseKind kind) { return kind >= PointwiseKind::kEqual && kind <= PointwiseKind::kIsInf; }

Result<Shape> BroadcastOf(const std::vector<Shape>& inputs) {
  Shape shape;
  for (const Shape& input : inputs) {
    INFIMUM_ASSIGN_OR_RETURN(shape, Broadcast(shape, input));
  }
  return shape;
}

// The extent of a shape in dimension `i` of a longer one of rank `rank`: 1 where it does not reach.
std::int64_t DimOf(const Shape& shape, std::size_t i, std::size_t rank) {
  const std::size_t missing = rank - shape.rank();
  return i < missing ? 1 : shape.dims[i - missing];
}

DataType OperandType(const PointwiseConfig& config, std::size_t i) {
  // A where names its condition's type second; elsewhere all but the first operand have the second type.
  const bool second = config.kind == PointwiseKind::kWhere ? i == 0 : i > 0;
  return second ? config.types.weights : config.types.input;
}

}  // namespace

std::span<const NamedValue<PointwiseKind>> NamesOf(PointwiseKind) { return kPointwiseNames; }

OperandRange OperandsOf(PointwiseKind kind) { return RowOf(kind).operands; }

Shape OutputShape(const PointwiseConfig& config) {
  const Result<Shape> shape = BroadcastOf(config.inputs);
  return shape.ok() ? *shape : Shape{};
}

PointwiseConfig Canonicalize(PointwiseConfig config) {
  const Result<Shape> output = BroadcastOf(config.inputs);
  // What does not broadcast stays as it is, for Validate to refuse in its own words.
  if (!output.ok() || !CheckTensor("in", *output).ok()) return config;
  const std::size_t rank = output->rank();
  std::vector<Shape> merged(config.inputs.size());
  std::vector<bool> last_whole;  // by operand: whether it has the dimension that was added last
  for (std::size_t d = 0; d < rank; ++d) {
    if (output->dims[d] == 1) continue;
    std::vector<bool> whole;
    for (const Shape& input : config.inputs) whole.push_back(DimOf(input, d, rank) != 1);
    const bool merge = whole == last_whole;
    for (std::size_t i = 0; i < merged.size(); ++i) {
      const std::int64_t dim = whole[i] ? output->dims[d] : 1;
      if (merge)
        merged[i].dims.back() *= dim;
      else
        merged[i].dims.push_back(dim);
    }
    last_whole = std::move(whole);
  }
  for (Shape& shape : merged) {
    const auto first = std::ranges::find_if(shape.dims, [](std::int64_t dim) { return dim != 1; });
    shape.dims.erase(shape.dims.begin(), first);
    if (shape.dims.empty()) shape.dims.push_back(1);
  }
  config.inputs = std::move(merged);
  return config;
}

// At most 64 * 32 * kMaxElements operations: exact without a check.
Work WorkOf(const PointwiseConfig& config) {
  const KindRow& row = RowOf(config.kind);
  const std::int64_t elements = ElementCount(OutputShape(config));
  const auto operands = static_cast<std::int64_t>(config.inputs.size());
  const bool variadic = row.operands.most == kMostOperands;
  // A mean divides at the end.
  const std::int64_t flops =
      variadic ? row.flops * (operands - 1) + (config.kind == PointwiseKind::kMean ? 1 : 0) : row.flops;
  Work work = WholeWork(OperandsOfFamily(config), OutputsOfFamily(config));
  work.direct = Flops{flops * elements};
  work.conventional = work.direct;
  if (row.provable == Provable::kOnePerElement && flops > 0) work.provable = Flops{elements};
  return work;
}

Status Validate(const PointwiseConfig& config) {
  const KindRow& row = RowOf(config.kind);
  const auto operands = static_cast<int>(std::min<std::size_t>(config.inputs.size(), kMostOperands + 1));
  if (operands < row.operands.least || operands > row.operands.most) {
    std::string range = std::to_string(row.operands.least);
    if (row.operands.most != row.operands.least) range += " to " + std::to_string(row.operands.most);
    return Error{"kind=" + std::string(row.name) + " takes " + range + " operands, in has " +
                 std::to_string(config.inputs.size())};
  }
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, operands > 1));
  if (IsComparison(config.kind) && config.types.output != DataType::kBool)
    return Error{"kind=" + std::string(row.name) + " gives bool, write it after the second ':' of dtype"};
  for (const Shape& input : config.inputs) INFIMUM_RETURN_IF_ERROR(CheckTensor("in", input));
  const Result<Shape> output = BroadcastOf(config.inputs);
  if (!output.ok()) return Within("in", output.error());
  return CheckTensor("the output's shape", *output);
}

std::vector<Operand> OperandsOfFamily(const PointwiseConfig& config) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < config.inputs.size(); ++i)
    operands.push_back({config.inputs[i], OperandType(config, i), false});
  return operands;
}

std::vector<Operand> OutputsOfFamily(const PointwiseConfig& config) {
  return {{OutputShape(config), config.types.output, false}};
}

}  // namespace infimum
