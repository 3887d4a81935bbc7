#include "src/core/layer/matmul.h"

#include <algorithm>
#include <array>

#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

constexpr std::array kBiasNames = {
    NamedValue<MatMulBias>{MatMulBias::kNone, "no"},
    NamedValue<MatMulBias>{MatMulBias::kColumn, "column"},
    NamedValue<MatMulBias>{MatMulBias::kFull, "full"},
};

constexpr std::array kSparsityNames = {
    NamedValue<Sparsity>{Sparsity::kNone, "no"},
    NamedValue<Sparsity>{Sparsity::kTwoOf4, "2:4"},
};

// Extents of one batch dimension; a 1 beside another extent broadcasts.
struct BatchDim {
  std::int64_t a = 1;
  std::int64_t b = 1;
};

// Neighbours of one kind are one dimension in both operands.
bool Mergeable(const BatchDim& outer, const BatchDim& inner) {
  return (outer.a == outer.b && inner.a == inner.b) || (outer.b == 1 && inner.b == 1) || (outer.a == 1 && inner.a == 1);
}

// Both shapes with equal ranks of at least three, which broadcast.
MatMulConfig Merged(MatMulConfig config) {
  const std::size_t rank = config.a.rank();
  std::vector<BatchDim> batch;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const BatchDim dim{config.a.dims[i], config.b.dims[i]};
    if (dim.a == 1 && dim.b == 1) continue;
    if (!batch.empty() && Mergeable(batch.back(), dim)) {
      batch.back().a *= dim.a;
      batch.back().b *= dim.b;
    } else {
      batch.push_back(dim);
    }
  }
  std::int64_t m = config.a.dims[rank - 2];
  if (!batch.empty() && batch.back().b == 1) {
    m *= batch.back().a;  // the same b for each: its rows of a follow one another
    batch.pop_back();
  }
  if (batch.empty()) batch.emplace_back();
  Shape a, b;
  for (const BatchDim& dim : batch) {
    a.dims.push_back(dim.a);
    b.dims.push_back(dim.b);
  }
  a.dims.insert(a.dims.end(), {m, config.a.dims[rank - 1]});
  b.dims.insert(b.dims.end(), {config.b.dims[rank - 2], config.b.dims[rank - 1]});
  config.a = std::move(a);
  config.b = std::move(b);
  return config;
}

Status CheckBlocks(std::string_view name, const Shape& operand, DataType type, const BlockScales& scales) {
  const std::size_t rank = operand.rank();
  INFIMUM_RETURN_IF_ERROR(CheckRange(name, scales.rows, 1, operand.dims[rank - 2]));
  INFIMUM_RETURN_IF_ERROR(CheckRange(name, scales.columns, 1, operand.dims[rank - 1]));
  if (!IsNarrowNumber(type))
    return Error{std::string(name) + " are of numbers of at most 8 bits, not of " + std::string(Name(type))};
  if (!IsFloatingPoint(scales.type)) return Error{std::string(name) + " are floating point numbers"};
  if (scales.zero_points == DataType::kBool) return Error{"zero points are numbers"};
  return {};
}

Status CheckScales(const MatMulConfig& config) {
  if (config.activations != DataType::kNone && config.activations != DataType::kF16 &&
      config.activations != DataType::kBF16 && config.activations != DataType::kS8)
    return Error{"activations=" + std::string(Name(config.activations)) + " must be f16, bf16 or s8"};
  if (config.a_scales != BlockScales{}) {
    INFIMUM_RETURN_IF_ERROR(CheckBlocks("a_scales", config.a, config.types.input, config.a_scales));
    // Rows of a that share a scale would be others once its batch became rows.
    if (config.a_scales.rows != 1) return Error{"a_scales are of one row each"};
    if (config.a_scales.zero_points != DataType::kNone) return Error{"a_scales have no zero points"};
    if (!config.scales.any()) return Error{"a_scales need scales of b beside them"};
  }
  if (config.scales == BlockScales{}) return {};
  return CheckBlocks("scales", config.b, config.types.weights, config.scales);
}

Status CheckSparsity(const MatMulConfig& config) {
  if (config.sparsity == Sparsity::kNone) return {};
  const std::int64_t depth = config.b.dims[config.b.rank() - 2];
  if (depth % 4 != 0)
    return Error{"sparsity=2:4 is of fours along the depth, and b=" + Format(config.b) + " has " +
                 std::to_string(depth) + " rows"};
  if (config.weights != Constness::kConstant) return Error{"sparsity=2:4 is of a constant b: weights=const"};
  if (BitsPerElement(config.types.weights) < 8)
    return Error{"sparsity=2:4 is of numbers of 8 bits or more, not of " + std::string(Name(config.types.weights))};
  if (config.scales.zero_points != DataType::kNone || config.types.weights == DataType::kF8E8M0)
    return Error{"sparsity=2:4 is of numbers whose zero is a zero: no f8e8m0, and no zero points"};
  return {};
}

Status CheckFields(const MatMulConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, true));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("a", config.a));
  INFIMUM_RETURN_IF_ERROR(CheckTensor("b", config.b));
  const std::string shapes = "a=" + Format(config.a) + " and b=" + Format(config.b);
  const std::size_t rank = config.a.rank();
  if (rank < 3 || config.b.rank() != rank)
    return Error{shapes + " must both be batch x rows x columns of the same rank, three or more"};
  if (config.a.dims[rank - 1] != config.b.dims[rank - 2])
    return Error{shapes + " do not multiply: a has " + std::to_string(config.a.dims[rank - 1]) + " columns, b " +
                 std::to_string(config.b.dims[rank - 2]) + " rows"};
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (config.a.dims[i] != config.b.dims[i] && config.a.dims[i] != 1 && config.b.dims[i] != 1)
      return Error{shapes + " do not broadcast in batch dimension " + std::to_string(i)};
  INFIMUM_RETURN_IF_ERROR(CheckScales(config));
  INFIMUM_RETURN_IF_ERROR(CheckSparsity(config));
  return CheckTensor("the result's shape", OutputShape(config));
}

Result<Work> ComputeWork(const MatMulConfig& config) {
  const std::int64_t results = ElementCount(OutputShape(config));
  const std::int64_t bias_flops = config.bias == MatMulBias::kNone ? 0 : results;
  const std::int64_t depth = config.a.dims.back();
  INFIMUM_ASSIGN_OR_RETURN(const Flops flops, (ExactCount(2) * results * depth + bias_flops).AsFlops());
  Work work = WholeWork(OperandsOfFamily(config), OutputsOfFamily(config), flops);
  if (config.sparsity == Sparsity::kNone) return work;
  work.conventional = Flops{work.conventional.value - results * depth};
  const std::int64_t kept = ElementCount(config.b) / 2;
  work.operand_reads[1] = SizeOf(config.types.weights, kept) + Bytes{CeilDivide(kept, 4)};
  return work;
}

}  // namespace

std::span<const NamedValue<MatMulBias>> NamesOf(MatMulBias) { return kBiasNames; }
std::span<const NamedValue<Sparsity>> NamesOf(Sparsity) { return kSparsityNames; }

Result<MatMulConfig> MakeMatMul(OperandTypes types, const Shape& a, const Shape& b, MatMulBias bias,
                                Constness weights) {
  if (a.rank() == 0 || b.rank() == 0)
    return Error{"a matrix product takes no scalar, multiply element by element instead"};
  MatMulConfig config{types, a, b, bias, weights, {}, {}, DataType::kNone, Sparsity::kNone};
  if (a.rank() == 1) config.a.dims.insert(config.a.dims.begin(), 1);
  if (b.rank() == 1) config.b.dims.push_back(1);
  const std::size_t rank = std::max({config.a.rank(), config.b.rank(), std::size_t{3}});
  config.a.dims.insert(config.a.dims.begin(), rank - config.a.rank(), 1);
  config.b.dims.insert(config.b.dims.begin(), rank - config.b.rank(), 1);
  INFIMUM_RETURN_IF_ERROR(Validate(config));
  return Merged(std::move(config));
}

Shape OutputShape(const MatMulConfig& config) {
  const std::size_t rank = config.a.rank();
  if (rank < 2 || config.b.rank() != rank) return {};
  Shape output = config.a;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (output.dims[i] == 1) output.dims[i] = config.b.dims[i];
  output.dims[rank - 1] = config.b.dims[rank - 1];
  return output;
}

Shape ScaleShape(const Shape& operand, const BlockScales& scales) {
  Shape shape = operand;
  const std::size_t rank = shape.rank();
  shape.dims[rank - 2] = CeilDivide(shape.dims[rank - 2], scales.rows);
  shape.dims[rank - 1] = CeilDivide(shape.dims[rank - 1], scales.columns);
  return shape;
}

Work WorkOf(const MatMulConfig& config) { return ComputeWork(config).value(); }

Status Validate(const MatMulConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckFields(config));
  INFIMUM_RETURN_IF_ERROR(ComputeWork(config));
  return {};
}

std::vector<Operand> OperandsOfFamily(const MatMulConfig& config) {
  const bool constant = config.weights == Constness::kConstant;
  std::vector<Operand> operands = {{config.a, config.types.input, false}, {config.b, config.types.weights, constant}};
  if (config.bias == MatMulBias::kColumn)
    operands.push_back({Shape{{config.b.dims.back()}}, BiasType(config.types), constant});
  if (config.bias == MatMulBias::kFull) operands.push_back({OutputShape(config), BiasType(config.types), constant});
  if (!config.scales.any()) return operands;
  const Shape shape = ScaleShape(config.b, config.scales);
  operands.push_back({shape, config.scales.type, constant});
  if (config.scales.zero_points != DataType::kNone) operands.push_back({shape, config.scales.zero_points, constant});
  if (config.a_scales.any()) operands.push_back({ScaleShape(config.a, config.a_scales), config.a_scales.type, false});
  return operands;
}

}  // namespace infimum
