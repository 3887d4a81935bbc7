// Reductions, ranges and cumulative sums.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/readers/onnx/folding/elements.h"
#include "src/readers/onnx/folding/fold.h"
#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {
namespace {

using Integers = std::vector<std::int64_t>;

std::vector<Tensor> FoldRange(const NodeView& node) {
  if (node.inputs.size() != 3) return {};
  std::vector<Elements> bounds;
  for (const std::optional<OperandView>& input : node.inputs) {
    if (!input) return {};
    std::optional<Elements> bound = Decode(*input->value);
    if (!bound || bound->size() != 1) return {};
    bounds.push_back(std::move(*bound));
  }
  const double start = bounds[0].number(0);
  const double step = bounds[2].number(0);
  const double steps = std::ceil((bounds[1].number(0) - start) / step);
  if (!(steps <= static_cast<double>(kMostFoldedElements))) return {};
  Elements result;
  result.floating = bounds[0].floating;
  const auto count = static_cast<std::int64_t>(std::max(steps, 0.0));
  for (std::int64_t i = 0; i < count; ++i) {
    if (result.floating) {
      result.numbers.push_back(start + static_cast<double>(i) * step);
    } else {
      std::int64_t next = 0;
      if (__builtin_mul_overflow(i, bounds[2].integers[0], &next) ||
          __builtin_add_overflow(next, bounds[0].integers[0], &next))
        return {};
      result.integers.push_back(next);
    }
  }
  return ListOf(Encode(result, node.inputs[0]->value->type, Shape{{count}}));
}

// Which axes are reduced: from the attribute, or from the second input where that is the newer form.
std::optional<std::vector<bool>> ReducedAxes(const NodeView& node, std::size_t rank) {
  Integers axes;
  if (const Integers* given = IntegersAttribute(node, "axes")) axes = *given;
  if (const OperandView* operand = node.input(1)) {
    std::optional<Integers> values = IntegersOf(operand->value);
    if (!values) return std::nullopt;
    axes = std::move(*values);
  }
  if (axes.empty()) return std::vector<bool>(rank, IntegerAttribute(node, "noop_with_empty_axes", 0) == 0);
  std::vector<bool> reduced(rank, false);
  for (const std::int64_t axis : axes) {
    const std::optional<std::size_t> at = AxisOf(axis, rank);
    if (!at) return std::nullopt;
    reduced[*at] = true;
  }
  return reduced;
}

std::vector<Tensor> FoldReduce(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  const std::optional<Elements> elements = Decode(input);
  const std::optional<std::vector<bool>> reduced = ReducedAxes(node, input.shape.rank());
  if (!elements || !reduced || elements->size() == 0) return {};
  const bool keep = IntegerAttribute(node, "keepdims", 1) != 0;
  Shape kept;   // with ones
  Shape shape;  // as the output has it
  for (std::size_t i = 0; i < reduced->size(); ++i) {
    const std::int64_t dim = (*reduced)[i] ? 1 : input.shape.dims[i];
    kept.dims.push_back(dim);
    if (keep || !(*reduced)[i]) shape.dims.push_back(dim);
  }
  const std::optional<Indices> targets = BroadcastIndices(kept, input.shape);
  if (!targets) return {};
  Elements result;
  result.floating = elements->floating;
  const std::size_t count = *SmallCount(kept);
  std::vector<bool> started(count, false);
  if (result.floating)
    result.numbers.resize(count);
  else
    result.integers.resize(count);
  const std::string_view kind = node.op.substr(6);  // after "Reduce"
  for (std::size_t i = 0; i < targets->size(); ++i) {
    const std::size_t to = (*targets)[i];
    const bool first = !started[to];
    started[to] = true;
    if (result.floating) {
      double& sum = result.numbers[to];
      const double next = elements->numbers[i];
      sum = first            ? next
            : kind == "Prod" ? sum * next
            : kind == "Max"  ? std::fmax(sum, next)
            : kind == "Min"  ? std::fmin(sum, next)
                             : sum + next;
    } else {
      std::int64_t& sum = result.integers[to];
      const std::int64_t next = elements->integers[i];
      if (first)
        sum = next;
      else if (kind == "Max" || kind == "Min")
        sum = kind == "Max" ? std::max(sum, next) : std::min(sum, next);
      else if (kind == "Prod" ? __builtin_mul_overflow(sum, next, &sum) : __builtin_add_overflow(sum, next, &sum))
        return {};
    }
  }
  if (kind == "Mean") {
    if (!result.floating) return {};
    const double share = static_cast<double>(count) / static_cast<double>(elements->size());
    for (double& number : result.numbers) number *= share;
  }
  return ListOf(Encode(result, input.type, shape));
}

std::vector<Tensor> FoldCumSum(const NodeView& node) {
  if (node.inputs.size() != 2 || !node.inputs[1]) return {};
  if (IntegerAttribute(node, "exclusive", 0) != 0 || IntegerAttribute(node, "reverse", 0) != 0) return {};
  const Tensor& input = *node.inputs[0]->value;
  std::optional<Elements> elements = Decode(input);
  const std::optional<Integers> axis_value = IntegersOf(node.inputs[1]->value);
  if (!elements || !axis_value || axis_value->size() != 1) return {};
  const std::optional<std::size_t> axis = AxisOf((*axis_value)[0], input.shape.rank());
  if (!axis) return {};
  const auto stride = static_cast<std::size_t>(RowMajorStrides(input.shape)[*axis]);
  const auto extent = static_cast<std::size_t>(input.shape.dims[*axis]);
  for (std::size_t i = 0; i < elements->size(); ++i) {
    if (i / stride % extent == 0) continue;
    if (elements->floating)
      elements->numbers[i] += elements->numbers[i - stride];
    else if (__builtin_add_overflow(elements->integers[i], elements->integers[i - stride], &elements->integers[i]))
      return {};
  }
  return ListOf(Encode(*elements, input.type, input.shape));
}

// Its shape depends on the elements, so that only folding finds it.
std::vector<Tensor> FoldNonZero(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  const std::optional<Elements> elements = Decode(input);
  if (!elements || input.shape.rank() == 0) return {};
  const Integers strides = RowMajorStrides(input.shape);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < elements->size(); ++i)
    if (elements->number(i) != 0) places.push_back(i);
  Elements result;
  for (std::size_t axis = 0; axis < input.shape.rank(); ++axis)
    for (const std::size_t place : places)
      result.integers.push_back(static_cast<std::int64_t>(place) / strides[axis] % input.shape.dims[axis]);
  return ListOf(
      Encode(result, DataType::kS64,
             Shape{{static_cast<std::int64_t>(input.shape.rank()), static_cast<std::int64_t>(places.size())}}));
}

}  // namespace

Folder FindReductionFolder(std::string_view op) {
  static const std::unordered_map<std::string_view, Folder> folders = {
      {"Range", FoldRange},      {"ReduceSum", FoldReduce},  {"ReduceProd", FoldReduce}, {"ReduceMax", FoldReduce},
      {"ReduceMin", FoldReduce}, {"ReduceMean", FoldReduce}, {"CumSum", FoldCumSum},     {"NonZero", FoldNonZero},
  };
  const auto found = folders.find(op);
  return found == folders.end() ? nullptr : found->second;
}

}  // namespace infimum
