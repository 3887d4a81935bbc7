#include "src/core/layer/reduction.h"

#include <algorithm>
#include <array>
#include <bit>

#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

constexpr NamedValue<ReductionKind> kReductionNames[] = {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) {ReductionKind::kind, name},
#define INFIMUM_ARGUMENT(kind, name, fold) {ReductionKind::kind, name},
#include "src/core/layer/reduction_kinds.def"
};
constexpr int kReductionFlops[] = {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) flops,
#define INFIMUM_ARGUMENT(kind, name, fold) 1,
#include "src/core/layer/reduction_kinds.def"
};
constexpr std::array kScanNames = {
    NamedValue<ScanKind>{ScanKind::kSum, "sum"},
    NamedValue<ScanKind>{ScanKind::kProduct, "product"},
};
constexpr std::array kSortNames = {
    NamedValue<SortKind>{SortKind::kTopK, "topk"},
    NamedValue<SortKind>{SortKind::kSort, "sort"},
};

bool Contains(const std::vector<std::int64_t>& axes, std::size_t axis) {
  return std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
}

// Comparisons to sort n elements: n log2(n), the logarithm rounded up.
std::int64_t SortComparisons(std::int64_t n) {
  return n * static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
}

Status CheckAxis(const OperandTypes& types, const Shape& input, std::int64_t axis) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(types, false));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("in", input));
  if (input.rank() == 0) return Error{"in=scalar has no axis, write at least one dimension"};
  return CheckRange("axis", axis, 0, static_cast<std::int64_t>(input.rank()) - 1);
}

}  // namespace

std::span<const NamedValue<ReductionKind>> NamesOf(ReductionKind) { return kReductionNames; }
std::span<const NamedValue<ScanKind>> NamesOf(ScanKind) { return kScanNames; }
std::span<const NamedValue<SortKind>> NamesOf(SortKind) { return kSortNames; }

bool IsArgument(ReductionKind kind) { return kind == ReductionKind::kArgMax || kind == ReductionKind::kArgMin; }

Shape OutputShape(const ReductionConfig& config) {
  Shape output;
  for (std::size_t i = 0; i < config.input.rank(); ++i)
    if (!Contains(config.axes, i)) output.dims.push_back(config.input.dims[i]);
  return output;
}

ReductionConfig MakeReduction(ReductionKind kind, OperandTypes types, const Shape& shape,
                              const std::vector<std::int64_t>& axes) {
  ReductionConfig config{kind, types, shape, axes};
  const auto outside = [&](std::int64_t axis) { return axis < 0 || axis >= static_cast<std::int64_t>(shape.rank()); };
  // An invalid configuration stays as it is; Validate refuses it.
  if (!CheckTensor("in", shape).ok() || std::ranges::any_of(axes, outside)) return config;
  config.input = {};
  config.axes = {};
  bool last_reduced = false;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape.dims[i] == 1) continue;
    const bool reduced = Contains(axes, i);
    if (!config.input.dims.empty() && reduced == last_reduced) {
      config.input.dims.back() *= shape.dims[i];
      continue;
    }
    if (reduced) config.axes.push_back(static_cast<std::int64_t>(config.input.rank()));
    config.input.dims.push_back(shape.dims[i]);
    last_reduced = reduced;
  }
  if (config.axes.empty()) {  // only dimensions of one element are reduced
    config.axes.push_back(static_cast<std::int64_t>(config.input.rank()));
    config.input.dims.push_back(1);
  }
  return config;
}

// At most 2 * kMaxElements operations: exact without a check.
Work WorkOf(const ReductionConfig& config) {
  const Flops flops{kReductionFlops[static_cast<std::size_t>(config.kind)] * ElementCount(config.input)};
  return WholeWork(OperandsOfFamily(config), OutputsOfFamily(config), flops);
}

Status Validate(const ReductionConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, false));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("in", config.input));
  if (config.axes.empty()) return Error{"axes is empty, name the dimensions to reduce"};
  std::int64_t previous = -1;
  for (const std::int64_t axis : config.axes) {
    INFIMUM_RETURN_IF_ERROR(CheckRange("axes", axis, 0, static_cast<std::int64_t>(config.input.rank()) - 1));
    if (axis <= previous) return Error{"axes must ascend, sort them and name each once"};
    previous = axis;
  }
  return {};
}

Work WorkOf(const ScanConfig& config) {
  return WholeWork(OperandsOfFamily(config), OutputsOfFamily(config), Flops{ElementCount(config.input)});
}

Status Validate(const ScanConfig& config) { return CheckAxis(config.types, config.input, config.axis); }

// At most 40 * kMaxElements operations: exact without a check.
Work WorkOf(const SortConfig& config) {
  const std::int64_t elements = ElementCount(config.input);
  const std::int64_t length = config.input.dims[static_cast<std::size_t>(config.axis)];
  const std::int64_t lines = elements / length;
  const Flops flops{lines * (config.kind == SortKind::kSort ? SortComparisons(length) : length)};
  return WholeWork(OperandsOfFamily(config), OutputsOfFamily(config), flops);
}

Status Validate(const SortConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckAxis(config.types, config.input, config.axis));
  const std::int64_t length = config.input.dims[static_cast<std::size_t>(config.axis)];
  INFIMUM_RETURN_IF_ERROR(CheckRange("k", config.k, 1, length));
  if (config.kind == SortKind::kSort && config.k != length)
    return Error{"a sort keeps all elements, write k=" + std::to_string(length)};
  return {};
}

std::vector<Operand> OutputsOfFamily(const SortConfig& config) {
  Shape output = config.input;
  output.dims[static_cast<std::size_t>(config.axis)] = config.k;
  return {{output, config.types.output, false}, {output, DataType::kS64, false}};
}

}  // namespace infimum
