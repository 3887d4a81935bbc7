#include "infimum/measurement/contract.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "infimum/base/enum_names.h"
#include "src/core/layer/small_float.h"

namespace infimum {
namespace {

constexpr EnumNames<NumericContract::kFp8> kContractNames = {"strict-f32", "tf32", "f16", "bf16", "int8", "fp8"};

constexpr double kF32Roundoff = 0x1p-24;

// Unit roundoff: half the distance from 1 to the next number.
double UnitRoundoff(DataType type) {
  constexpr std::pair<DataType, double> kRoundoffs[] = {{DataType::kF64, 0x1p-53},   {DataType::kF16, 0x1p-11},
                                                        {DataType::kBF16, 0x1p-8},   {DataType::kF8E4M3, 0x1p-4},
                                                        {DataType::kF8E5M2, 0x1p-3}, {DataType::kF4E2M1, 0x1p-2}};
  for (const auto& [known, roundoff] : kRoundoffs)
    if (known == type) return roundoff;
  return kF32Roundoff;
}

// Of the products that a contract allows. int8: half a step of 127 levels.
double UnitRoundoff(NumericContract contract) {
  // In the order of kContractNames.
  constexpr double kRoundoffs[] = {kF32Roundoff, 0x1p-11, 0x1p-11, 0x1p-8, 0x1p-8, 0x1p-4};
  return kRoundoffs[static_cast<std::size_t>(contract)];
}

bool IsNarrowInteger(DataType type) { return IsInteger(type) && BitsPerElement(type) <= 8; }

// The member that decides contract and measure: the first product, else the first.
const LayerConfig& MainMember(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return *config;
  const std::vector<RegionMember>& members = std::get<Region>(workload).members;
  INFIMUM_CHECK(!members.empty(), "a region has members");
  for (const RegionMember& member : members) {
    if (std::holds_alternative<ConvolutionConfig>(member.config) ||
        std::holds_alternative<MatMulConfig>(member.config)) {
      return member.config;
    }
  }
  return members.front().config;
}

DataType OutputType(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return TypesOf(*config).output;
  return TypesOf(std::get<Region>(workload).members.back().config).output;
}

// Whether `weights` of a family are numbers that enter the arithmetic; elsewhere they are indices or
// conditions.
bool WeightsAreNumbers(const LayerConfig& config) {
  return !std::holds_alternative<MovementConfig>(config) && !std::holds_alternative<SortConfig>(config);
}

double ProductOf(const Shape& shape) {
  double product = 1;
  for (std::int64_t dim : shape.dims) product *= static_cast<double>(dim);
  return product;
}

double LargestDim(const Shape& shape) {
  double largest = 1;
  for (std::int64_t dim : shape.dims) largest = std::max(largest, static_cast<double>(dim));
  return largest;
}

double DimOr1(const Shape& shape, std::int64_t axis) {
  const bool inside = axis >= 0 && static_cast<std::size_t>(axis) < shape.rank();
  return inside ? static_cast<double>(shape.dims[static_cast<std::size_t>(axis)]) : 1;
}

// What f32 arithmetic may add to a result of each family, given exact operands, in units of f32's roundoff u = 6e-8.
// Storage and the rounding of operands come on top (Tolerance).
//
//   convolution, matmul   u (32 + 4 sqrt(k)): a sum of k products rounds like a random walk, sqrt(k) u of |A||B|; 4 for
//                         the worst of many outputs, 32 for the transforms of Winograd and FFT. At k = 576 this is
//                         7.6e-6, while TF32 makes some 1e-4: it cannot pass as strict-f32
//   attention             1e-5 + u (32 + 4 sqrt(kv + head)): two products around one softmax
//   recurrent             2e-5 sqrt(sequence): tanh and sigmoid by polynomials, carried from step to step
//   softmax               1e-5 + 4 u sqrt(n): exponentials by polynomials, a sum of n positive numbers; hardmax 0
//   normalization         2e-5 + 4 u sqrt(n): a variance and a reciprocal root; lrn a power
//   pooling               max 0: an element is chosen; others 1e-6 + 4 u sqrt(k): a mean of k elements
//   reduction, scan       extremes 0; others u (32 + 4 n): |ref| of a zero-mean sum is small, so the measure sees the
//                         absolute error, which grows with n; logarithms 4e-5 more
//   pointwise             exact kinds 0; a few roundings 1e-6; polynomials and tables 4e-5, as oneDNN's own tests allow
//   resample              nearest 0; others u (64 + 16 x): coordinates x are computed in f32 and become weights
//   movement, sort, reorder   0: elements move
struct ArithmeticError {
  double operator()(const ConvolutionConfig& c) const {
    return Products(DimOr1(c.input, 1) / static_cast<double>(std::max<std::int64_t>(c.groups, 1)) *
                    ProductOf(c.kernel));
  }
  double operator()(const MatMulConfig& c) const {
    return Products(c.a.dims.empty() ? 1 : static_cast<double>(c.a.dims.back()));
  }
  double operator()(const AttentionConfig& c) const {
    return 1e-5 + Products(static_cast<double>(c.kv) + static_cast<double>(c.head));
  }
  double operator()(const RecurrentConfig& c) const { return 2e-5 * std::sqrt(static_cast<double>(c.sequence)); }
  double operator()(const SoftmaxConfig& c) const {
    if (c.kind == SoftmaxKind::kHardmax) return 0;
    return 1e-5 + 4 * kF32Roundoff * std::sqrt(DimOr1(c.input, c.axis));
  }
  double operator()(const NormalizationConfig& c) const {
    return 2e-5 + 4 * kF32Roundoff * std::sqrt(ProductOf(c.input));
  }
  double operator()(const PoolingConfig& c) const {
    if (ReductionOf(c.kind) == ReductionKind::kMax) return 0;
    return 1e-6 + 4 * kF32Roundoff * std::sqrt(ProductOf(c.kernel));
  }
  double operator()(const ReductionConfig& c) const {
    double length = 1;
    for (std::int64_t axis : c.axes) length *= DimOr1(c.input, axis);
    switch (c.kind) {
      case ReductionKind::kMax:
      case ReductionKind::kMaxAbs:
      case ReductionKind::kMin:
      case ReductionKind::kArgMax:
      case ReductionKind::kArgMin:
        return 0;
      case ReductionKind::kLogSum:
      case ReductionKind::kLogSumExp:
        return 4e-5 + Sums(length);
      default:
        return Sums(length);
    }
  }
  double operator()(const ScanConfig& c) const { return Sums(DimOr1(c.input, c.axis)); }
  double operator()(const ResampleConfig& c) const {
    if (c.kind == ResampleKind::kNearest) return 0;
    return kF32Roundoff * (64 + 16 * std::max(LargestDim(c.input), LargestDim(c.output)));
  }
  double operator()(const PointwiseConfig& c) const { return Pointwise(c.kind); }
  double operator()(const SortConfig&) const { return 0; }
  double operator()(const MovementConfig&) const { return 0; }
  double operator()(const ReorderConfig&) const { return 0; }

 private:
  static double Products(double k) { return kF32Roundoff * (32 + 4 * std::sqrt(k)); }
  static double Sums(double n) { return kF32Roundoff * (32 + 4 * n); }
  static double Pointwise(PointwiseKind kind) {
    constexpr double kErrors[] = {0, 1e-6, 4e-5};  // kExact, kRounded, kApproximate
    return kErrors[static_cast<std::size_t>(RoundingOf(kind))];
  }
};

bool ComputesNothing(const LayerConfig& config) { return std::visit(ArithmeticError{}, config) == 0; }

// One layer's share: f32 arithmetic, operands rounded to the contract's type where they are stored finer
// (two of them, and hardware may truncate: 4 roundoffs), and the result rounded to its own type (2: an
// epilogue may round once more). These are worst cases, so that no conforming candidate is refused: a
// numeric check catches wrong results and much coarser arithmetic, not every wrong claim.
double LayerTolerance(NumericContract contract, const LayerConfig& config) {
  const OperandTypes& types = TypesOf(config);
  if (IsNarrowInteger(types.output)) return ComputesNothing(config) ? 0 : 1;  // one step of the scale
  if (!IsFloatingPoint(types.output)) return 0;                               // counts, indices, truth, exact sums
  if (ComputesNothing(config) && types.input == types.output) return 0;
  const bool is_product =
      std::holds_alternative<ConvolutionConfig>(config) || std::holds_alternative<MatMulConfig>(config) ||
      std::holds_alternative<AttentionConfig>(config) || std::holds_alternative<RecurrentConfig>(config);
  const double contract_roundoff = UnitRoundoff(contract);
  // tf32 concerns products alone and leaves storage as it is.
  const bool narrows = contract == NumericContract::kTf32 ? is_product : true;
  const bool stored_finer = IsFloatingPoint(types.input) && UnitRoundoff(types.input) < contract_roundoff;
  double operands = narrows && stored_finer ? 4 * contract_roundoff : 0;
  if (const auto* product = std::get_if<MatMulConfig>(&config)) {
    // One operand that the model lets round; 8 bits have half a step of 127 levels of a block's largest.
    const DataType rounded = product->activations;
    if (rounded == DataType::kS8) operands = std::max(operands, 4 * UnitRoundoff(NumericContract::kInt8));
    if (rounded == DataType::kF16 || rounded == DataType::kBF16)
      operands = std::max(operands, 2 * UnitRoundoff(rounded));
  }
  const bool result_narrows = contract != NumericContract::kTf32 && stored_finer;
  const double result =
      2 * std::max({UnitRoundoff(types.output), result_narrows ? contract_roundoff : 0, kF32Roundoff});
  return std::visit(ArithmeticError{}, config) + operands + result;
}

}  // namespace

std::string_view Name(NumericContract contract) { return kContractNames[contract]; }

std::optional<NumericContract> FindContract(std::string_view name) { return kContractNames.Find(name); }

NumericContract NativeContract(const Workload& workload) {
  const LayerConfig& config = MainMember(workload);
  const OperandTypes& types = TypesOf(config);
  if (IsNarrowInteger(types.input) || IsNarrowInteger(types.output)) return NumericContract::kInt8;
  bool f16 = false;
  bool bf16 = false;
  // Weights that are stored in fewer bits become numbers of the input's type on the way.
  const bool are_stored = IsFloatingPoint(types.input) && !IsNarrowNumber(types.input) && IsNarrowNumber(types.weights);
  const DataType weights = WeightsAreNumbers(config) && !are_stored ? types.weights : DataType::kNone;
  for (DataType type : {types.input, weights, types.output}) {
    if (IsSmallFloat(type)) return NumericContract::kFp8;
    f16 = f16 || type == DataType::kF16;
    bf16 = bf16 || type == DataType::kBF16;
  }
  if (bf16) return NumericContract::kBf16;
  return f16 ? NumericContract::kF16 : NumericContract::kStrictF32;
}

std::string ContractRefusal(NumericContract contract, const Workload& workload) {
  const NumericContract own = NativeContract(workload);
  if (own == contract || own == NumericContract::kInt8) return "";
  const bool is_narrow = contract == NumericContract::kInt8 || contract == NumericContract::kFp8;
  // f32 may be rounded to fewer bits on its way into a product; what is stored in fewer is not another type.
  if (own == NumericContract::kStrictF32 && !is_narrow) return "";
  const char* const asks = contract == NumericContract::kInt8  ? "8-bit integers"
                           : contract == NumericContract::kFp8 ? "8-bit floats"
                           : contract == NumericContract::kF16 || contract == NumericContract::kBf16
                               ? "that type or f32"
                               : "f32";
  return "it is stored as the contract " + std::string(Name(own)) + " has it, and " + std::string(Name(contract)) +
         " asks for " + asks + (is_narrow ? ": a quantized model has such layers" : "");
}

ErrorMeasure MeasureOf(const Workload& workload) {
  if (IsNarrowInteger(OutputType(workload))) return ErrorMeasure::kSteps;
  const LayerConfig& config = MainMember(workload);
  if (std::holds_alternative<ConvolutionConfig>(config) || std::holds_alternative<MatMulConfig>(config)) {
    return ErrorMeasure::kProduct;
  }
  if (std::holds_alternative<SoftmaxConfig>(config) || std::holds_alternative<NormalizationConfig>(config)) {
    return ErrorMeasure::kMaximum;
  }
  return ErrorMeasure::kRelative;
}

double Tolerance(NumericContract contract, const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return LayerTolerance(contract, *config);
  // Every member adds its own error. An 8-bit value inside a region whose result is a float is off by one
  // of 127 levels; counted in steps it would swallow the whole result.
  const bool in_steps = MeasureOf(workload) == ErrorMeasure::kSteps;
  double sum = 0;
  for (const RegionMember& member : std::get<Region>(workload).members) {
    const double tolerance = LayerTolerance(contract, member.config);
    const bool inner_step = !in_steps && IsNarrowInteger(TypesOf(member.config).output);
    sum += inner_step ? std::min(tolerance, 0x1p-7) : tolerance;
  }
  return sum;
}

}  // namespace infimum
