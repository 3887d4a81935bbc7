// Reduce*, ArgMax, ArgMin, CumSum, CumProd, TopK.
#include <vector>

#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/operator_table.h"

namespace infimum::lowering {
namespace {

// What a reduction does to each element where it reduces nothing.
std::optional<PointwiseKind> WithoutAxes(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::kL1:
    case ReductionKind::kL2:
      return PointwiseKind::kAbsolute;
    case ReductionKind::kSumSquare:
      return PointwiseKind::kSquare;
    case ReductionKind::kLogSum:
      return PointwiseKind::kLogarithm;
    default:
      return std::nullopt;
  }
}

struct Axes {
  std::vector<std::int64_t> axes;
  bool known = true;
};

// As an attribute, as input 1, or all of them.
Result<Axes> ReadAxes(const NodeView& node, std::size_t rank) {
  INFIMUM_ASSIGN_OR_RETURN(const auto attribute, IntegersIn(node, "axes"));
  INFIMUM_ASSIGN_OR_RETURN(const bool nothing_if_empty, Flag(node, "noop_with_empty_axes", false));
  std::vector<std::int64_t> given = attribute.value_or(std::vector<std::int64_t>());
  // Inputs 1 and further of the quantised forms are scales.
  if (node.domain == kOnnx && HasInput(node, 1)) {
    const auto values = InputValues(node, 1);
    if (!values) return Axes{{}, false};
    given = *values;
  }
  if (given.empty() && !nothing_if_empty)
    for (std::size_t i = 0; i < rank; ++i) given.push_back(static_cast<std::int64_t>(i));
  INFIMUM_ASSIGN_OR_RETURN(std::vector<std::int64_t> axes, NormalizedAxes(given, rank));
  return Axes{std::move(axes), true};
}

template <ReductionKind kKind>
Result<Lowering> LowerReduction(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const Axes axes, ReadAxes(node, input.rank()));
  if (!axes.known) return Unknown("its axes are known only at run time");
  std::int64_t reduced = 1;
  for (const std::int64_t axis : axes.axes) reduced *= input.dims[static_cast<std::size_t>(axis)];
  if (reduced == 1) {
    const auto kind = WithoutAxes(kKind);
    if (!kind && types.input == types.output)
      return Free(axes.axes.empty() ? "reduces over no axes" : "every reduced dimension has one element");
    return Measurable(Canonicalize(PointwiseConfig{kind.value_or(PointwiseKind::kCast), types, {input}}), {0});
  }
  return Measurable(MakeReduction(kKind, types, input, axes.axes), {0});
}

template <ReductionKind kKind>
Result<Lowering> LowerArg(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", 0, input.rank()));
  if (input.dims[axis] == 1) return Free("the dimension has one element, so every index is 0");
  return Measurable(MakeReduction(kKind, types, input, {static_cast<std::int64_t>(axis)}), {0});
}

template <ScanKind kKind>
Result<Lowering> LowerScan(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  std::optional<std::int64_t> given = InputValue(node, 1);
  if (!given && input.rank() == 1) given = 0;
  if (!given) return Unknown("its axis is known only at run time");
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, NormalizedAxis(*given, input.rank()));
  return Measurable(ScanConfig{kKind, types, AroundAxis(input, axis), 1}, {0});
}

// k is what the output holds, wherever it came from.
Result<Lowering> LowerTopK(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t axis, AxisIn(node, "axis", -1, input.rank()));
  std::optional<std::int64_t> k = InputValue(node, 1);
  if (!k && HasAttribute(node, "k")) {
    INFIMUM_ASSIGN_OR_RETURN(k, RequiredInteger(node, "k"));
  }
  if (!k) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape output, OutputShape(node, 0));
    if (output.rank() != input.rank()) return Error{"an output of " + Format(output) + " does not fit a top-k"};
    k = output.dims[axis];
  }
  if (*k < 1 || *k > input.dims[axis])
    return Error{"k is " + std::to_string(*k) + ", expected 1 to " + std::to_string(input.dims[axis])};
  return Measurable(SortConfig{SortKind::kTopK, types, AroundAxis(input, axis), 1, *k}, {0});
}

}  // namespace

std::span<const OperatorEntry> ReductionOperators() {
  using K = ReductionKind;
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "ReduceL1", LowerReduction<K::kL1>},
      {kOnnx, "ReduceL2", LowerReduction<K::kL2>},
      {kOnnx, "ReduceLogSum", LowerReduction<K::kLogSum>},
      {kOnnx, "ReduceLogSumExp", LowerReduction<K::kLogSumExp>},
      {kOnnx, "ReduceMax", LowerReduction<K::kMax>},
      {kOnnx, "ReduceMean", LowerReduction<K::kMean>},
      {kOnnx, "ReduceMin", LowerReduction<K::kMin>},
      {kOnnx, "ReduceProd", LowerReduction<K::kProduct>},
      {kOnnx, "ReduceSum", LowerReduction<K::kSum>},
      {kOnnx, "ReduceSumSquare", LowerReduction<K::kSumSquare>},
      {kOnnx, "ArgMax", LowerArg<K::kArgMax>},
      {kOnnx, "ArgMin", LowerArg<K::kArgMin>},
      {kOnnx, "CumSum", LowerScan<ScanKind::kSum>},
      {kOnnx, "CumProd", LowerScan<ScanKind::kProduct>},
      {kOnnx, "TopK", LowerTopK},
      {kMicrosoft, "QLinearReduceMean", LowerReduction<K::kMean>},
      {kMicrosoft, "ReduceSumInteger", LowerReduction<K::kSum>},
  };
  return kEntries;
}

}  // namespace infimum::lowering
