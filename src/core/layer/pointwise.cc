#include "infimum/layer/pointwise.h"

#include <algorithm>
#include <array>

#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

constexpr int kMostOperands = 64;

struct KindRow {
  PointwiseKind kind;
  std::string_view name;
  OperandRange operands;
  int flops;
  Rounding rounding;
  std::string_view onnx;
};

// In the order of their values: the enumeration is made of the same lines.
constexpr auto kKinds = [] {
  using enum PointwiseKind;
  using enum Rounding;
  return std::to_array<KindRow>({
#define INFIMUM_POINTWISE(kind, name, least, most, flops, rounding, onnx, cudnn) \
  {kind, name, {least, most}, flops, rounding, onnx},
#include "src/core/layer/pointwise_kinds.def"
  });
}();

// In the order of the kinds.
constexpr PointwiseParameter kParameters[] = {
#define INFIMUM_PARAMETER_OF(kind, name, onnx) {PointwiseKind::kind, &PointwiseParameters::name, #name, onnx},
#include "src/core/layer/pointwise_kinds.def"
};
static_assert(std::ranges::is_sorted(kParameters, {}, &PointwiseParameter::kind));

constexpr auto kPointwiseNames = [] {
  std::array<NamedValue<PointwiseKind>, kKinds.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = {kKinds[i].kind, kKinds[i].name};
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

std::span<const PointwiseParameter> ParametersOf(PointwiseKind kind) {
  return std::ranges::equal_range(kParameters, kind, {}, &PointwiseParameter::kind);
}

Rounding RoundingOf(PointwiseKind kind) { return RowOf(kind).rounding; }

std::span<const PointwiseOperator> PointwiseOnnxOperators() {
  static constexpr auto kCount = std::ranges::count_if(kKinds, [](const KindRow& row) { return !row.onnx.empty(); });
  static constexpr auto kOperators = [] {
    std::array<PointwiseOperator, kCount> operators{};
    std::size_t next = 0;
    for (const KindRow& row : kKinds)
      if (!row.onnx.empty()) operators[next++] = {row.onnx, row.kind};
    return operators;
  }();
  return kOperators;
}

bool IsActivation(PointwiseKind kind) { return kind >= PointwiseKind::kRelu && kind <= PointwiseKind::kShrink; }

bool ReturnsTruth(PointwiseKind kind) {
  switch (kind) {
#define INFIMUM_TRUTH_UNARY(kind, formula) case PointwiseKind::kind:
#define INFIMUM_TRUTH_BINARY(kind, formula) case PointwiseKind::kind:
#define INFIMUM_REAL_TRUTH(kind, formula) case PointwiseKind::kind:
#include "src/core/layer/pointwise_kinds.def"
    return true;
    default:
      return false;
  }
}

bool HasIntegerFormula(PointwiseKind kind) {
  return OperandsOf(kind).most == 1 ? EvaluateInteger(kind, 1).has_value() : EvaluateInteger(kind, 1, 1).has_value();
}

// The cases of the following switches, in the number type T.
#define INFIMUM_EVALUATED(kind, formula) \
  case PointwiseKind::kind:              \
    return static_cast<T>(formula);

std::optional<double> Evaluate(PointwiseKind kind, double x, const PointwiseParameters& p) {
  using namespace formulas;
  using T = double;
  switch (kind) {
#define INFIMUM_REAL_UNARY INFIMUM_EVALUATED
#define INFIMUM_REAL_TRUTH INFIMUM_EVALUATED
#define INFIMUM_TRUTH_UNARY INFIMUM_EVALUATED
#include "src/core/layer/pointwise_kinds.def"
    default:
      return std::nullopt;
  }
}

std::optional<double> Evaluate(PointwiseKind kind, double a, double b) {
  using namespace formulas;
  using T = double;
  switch (kind) {
#define INFIMUM_REAL_BINARY INFIMUM_EVALUATED
#define INFIMUM_TRUTH_BINARY INFIMUM_EVALUATED
#include "src/core/layer/pointwise_kinds.def"
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> EvaluateInteger(PointwiseKind kind, std::int64_t x, const PointwiseParameters& p) {
  using namespace formulas;
  using T = std::int64_t;
  switch (kind) {
#define INFIMUM_INTEGER_UNARY INFIMUM_EVALUATED
#define INFIMUM_TRUTH_UNARY INFIMUM_EVALUATED
#include "src/core/layer/pointwise_kinds.def"
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> EvaluateInteger(PointwiseKind kind, std::int64_t a, std::int64_t b) {
  using namespace formulas;
  using T = std::int64_t;
  switch (kind) {
#define INFIMUM_INTEGER_BINARY INFIMUM_EVALUATED
#define INFIMUM_TRUTH_BINARY INFIMUM_EVALUATED
#include "src/core/layer/pointwise_kinds.def"
    default:
      return std::nullopt;
  }
}

#undef INFIMUM_EVALUATED

Shape OutputShape(const PointwiseConfig& config) {
  const Result<Shape> shape = BroadcastOf(config.inputs);
  return shape.ok() ? *shape : Shape{};
}

PointwiseConfig Canonicalize(PointwiseConfig config) {
  const Result<Shape> output = BroadcastOf(config.inputs);
  // Shapes that do not broadcast stay as they are; Validate refuses them.
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

std::optional<Shape> Unmerged(const Shape& operand, const Shape& merged, const Shape& output) {
  Shape padded;
  padded.dims.assign(merged.rank() - operand.rank(), 1);
  padded.dims.insert(padded.dims.end(), operand.dims.begin(), operand.dims.end());
  Shape result = output;
  std::size_t at = output.rank();
  for (std::size_t i = merged.rank(); i-- > 0;) {
    std::int64_t product = 1;
    while (at > 0 && product < merged.dims[i]) {
      --at;
      product *= output.dims[at];
      if (padded.dims[i] == 1) result.dims[at] = 1;
    }
    if (product != merged.dims[i]) return std::nullopt;
    if (padded.dims[i] != 1 && padded.dims[i] != merged.dims[i]) return std::nullopt;
  }
  // Dimensions that were dropped from the front have extent one.
  for (std::size_t i = 0; i < at; ++i) {
    if (output.dims[i] != 1) return std::nullopt;
  }
  return result;
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
  return WholeWork(OperandsOfFamily(config), OutputsOfFamily(config), Flops{flops * elements});
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

}  // namespace infimum
