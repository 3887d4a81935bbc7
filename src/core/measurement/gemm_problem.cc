#include "src/core/measurement/gemm_problem.h"

#include <algorithm>

#include "src/core/layer/small_float.h"

namespace infimum::cuda {
namespace {

Error NotInBlas(const std::string& what) { return Error{"unsupported: " + what}; }

bool IsBlasType(DataType type) { return IsFloatingPoint(type) || type == DataType::kS8 || type == DataType::kS32; }

// Extents of a block and of the matrix, of the depth and of the other dimension.
struct ScaledBlock {
  DataType type;
  std::int64_t depth, others, whole_depth, whole_others;

  bool has(DataType of_type, std::int64_t of_depth, std::int64_t of_others) const {
    return type == of_type && depth == std::min(of_depth, whole_depth) && others == std::min(of_others, whole_others);
  }
  bool is_vector() const { return has(DataType::kF32, whole_depth, 1); }
};

// Other than of whole vectors, which go together alone.
GemmScales ScalesFor(const ScaledBlock& block) {
  if (block.has(DataType::kF8E4M3, 16, 1)) return GemmScales::kVec16Ue4m3;
  if (block.has(DataType::kF8E8M0, 32, 1)) return GemmScales::kVec32Ue8m0;
  if (block.has(DataType::kF32, 128, 1)) return GemmScales::kVec12832f;
  return block.has(DataType::kF32, 128, 128) ? GemmScales::kBlk128x12832f : GemmScales::kNone;
}

Result<GemmSums> SumsOf(const MatMulConfig& config, NumericContract contract) {
  switch (config.types.input) {
    case DataType::kF64:
      return GemmSums::kF64;
    case DataType::kF32:
      return contract == NumericContract::kTf32 ? GemmSums::kTf32 : GemmSums::kF32;
    case DataType::kF16:
    case DataType::kBF16:
    case DataType::kF8E4M3:
    case DataType::kF8E5M2:
    case DataType::kF4E2M1:
      return GemmSums::kF32;
    case DataType::kS8:
      return GemmSums::kS32;
    default:
      return NotInBlas("BLAS libraries have no matrix product of " + std::string(Name(config.types.input)));
  }
}

// Batches of equal shape, or one operand for all of them.
Status SetBatch(const MatMulConfig& config, GemmProblem& problem) {
  const std::size_t rank = config.a.rank();
  std::int64_t a = 1, b = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    a *= config.a.dims[i];
    b *= config.b.dims[i];
  }
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (config.a.dims[i] != config.b.dims[i] && a != 1 && b != 1)
      return NotInBlas("BLAS libraries repeat an operand over the whole batch or not at all");
  }
  problem.batch = std::max(a, b);
  problem.a_stride = a == 1 ? 0 : problem.rows * problem.depth;
  problem.b_stride = b == 1 ? 0 : problem.depth * problem.columns;
  return {};
}

// Scales of both operands; `tensors` are a and b.
Status SetScales(const MatMulConfig& config, const RegionMember& member, RegionGemm& gemm) {
  const BlockScales &a = config.a_scales, &b = config.scales;
  GemmProblem& problem = gemm.problem;
  if (!b.any())
    return problem.a == DataType::kF4E2M1 ? NotInBlas("4-bit floats without a scale for each block") : Status();
  if (!a.any()) return NotInBlas("no BLAS library's call here takes weights alone with a scale for each block");
  const ScaledBlock of_a{a.type, a.columns, a.rows, problem.depth, problem.rows};
  const ScaledBlock of_b{b.type, b.rows, b.columns, problem.depth, problem.columns};
  const bool are_vectors = of_a.is_vector() && of_b.is_vector();
  problem.a_scales = are_vectors ? GemmScales::kOuterVec32f : ScalesFor(of_a);
  problem.b_scales = are_vectors ? GemmScales::kOuterVec32f : ScalesFor(of_b);
  const auto are_128 = [](GemmScales scales) {
    return scales == GemmScales::kVec12832f || scales == GemmScales::kBlk128x12832f;
  };
  const bool are_of_a_kind =
      problem.a_scales == problem.b_scales || (are_128(problem.a_scales) && are_128(problem.b_scales));
  if (problem.a_scales == GemmScales::kNone || problem.b_scales == GemmScales::kNone || !are_of_a_kind ||
      b.zero_points != DataType::kNone)
    return NotInBlas("cuBLASLt scales blocks of 16 (f8e4m3), 32 (f8e8m0), 128, 128 x 128 and whole rows (f32)");
  if (problem.batch > 1) return NotInBlas("cuBLASLt's scales of blocks are of one product, not of a batch");
  const std::vector<Operand> operands = OperandsOf(member.config);
  const std::size_t last = operands.size() - 1;
  gemm.tensors.push_back({member.operands[last], a.type, operands[last].shape, false, problem.a_scales, false});
  gemm.tensors.push_back({member.operands[last - 1], b.type, operands[last - 1].shape, false, problem.b_scales, true});
  return {};
}

// Of f32 two others of the four would have to be zero: one of each two.
Status CheckSparse(const MatMulConfig& config, const GemmProblem& problem) {
  if (config.sparsity != Sparsity::kTwoOf4) return NotInBlas("its weights are not sparse");
  if (BitsPerElement(problem.b) > 16) return NotInBlas("cuSPARSELt's 2:4 is of 16 bits and 8");
  if (config.scales.any()) return NotInBlas("sparse weights with a scale for each block");
  if (problem.batch > 1) return NotInBlas("sparse weights of a batch");
  return {};
}

// What follows the GEMM: an addition of its own shape, an activation, in this order.
class Followers {
 public:
  Followers(const Region& region, RegionGemm& gemm) : region_(region), gemm_(gemm) {}

  Status Add(std::size_t number) {
    const RegionMember& member = region_.members[number];
    const auto* pointwise = std::get_if<PointwiseConfig>(&member.config);
    if (pointwise == nullptr) return NotInBlas("a GEMM's epilogue has additions, ReLU and GELU by tanh only");
    if (gemm_.problem.activation != GemmActivation::kNone)
      return NotInBlas("nothing follows the activation of a GEMM's epilogue");
    const RegionOperand before{RegionOperand::Source::kMember, static_cast<std::int64_t>(number) - 1};
    switch (pointwise->kind) {
      case PointwiseKind::kAdd:
        return AddAddition(member, *pointwise, before);
      case PointwiseKind::kRelu:
        gemm_.problem.activation = GemmActivation::kRelu;
        break;
      case PointwiseKind::kGeluTanh:
        gemm_.problem.activation = GemmActivation::kGeluTanh;
        break;
      default:
        return NotInBlas("a GEMM's epilogue has additions, ReLU and GELU by tanh only");
    }
    return member.operands[0] == before ? Status() : NotInBlas("a GEMM's epilogue reads the product");
  }

 private:
  Status AddAddition(const RegionMember& member, const PointwiseConfig& config, const RegionOperand& before) {
    const std::size_t other = member.operands[0] == before ? 1 : 0;
    if (config.inputs.size() != 2 || member.operands[1 - other] != before)
      return NotInBlas("a GEMM's epilogue reads the product");
    if (member.operands[other].source == RegionOperand::Source::kMember)
      return NotInBlas("a GEMM's epilogue adds what comes from outside the region");
    const Operand operand = OperandsOf(member.config)[other];
    GemmProblem& problem = gemm_.problem;
    const std::int64_t results = problem.batch * problem.rows * problem.columns;
    const std::int64_t count = ElementCount(operand.shape);
    const GemmTensor tensor{member.operands[other], operand.type, operand.shape};
    if (count == problem.columns && operand.shape.dims.back() == problem.columns && !HasBias() && count != results) {
      problem.bias = operand.type;
      gemm_.tensors.insert(gemm_.tensors.begin() + (problem.a_scales == GemmScales::kNone ? 2 : 4), tensor);
      return {};
    }
    if (count != results || problem.addend)
      return NotInBlas("a GEMM's epilogue adds one vector along the columns and one tensor of the result's shape");
    if (operand.type != problem.output) return NotInBlas("BLAS libraries add a tensor of the result's type");
    problem.addend = true;
    gemm_.tensors.push_back(tensor);
    return {};
  }

  bool HasBias() const { return gemm_.problem.bias != DataType::kNone; }

  const Region& region_;
  RegionGemm& gemm_;
};

}  // namespace

std::string_view Name(GemmSums sums) {
  constexpr std::string_view kNames[] = {"f32", "tf32", "f16", "f64", "s32", "fast", "bf16x9"};
  return kNames[static_cast<std::size_t>(sums)];
}

std::string_view Name(GemmScales scales) {
  constexpr std::string_view kNames[] = {"",           "vec16_ue4m3",   "vec32_ue8m0", "outer_vec_32f",
                                         "vec128_32f", "blk128x128_32f"};
  return kNames[static_cast<std::size_t>(scales)];
}

std::string_view Name(GemmActivation activation) {
  constexpr std::string_view kNames[] = {"", "relu", "gelu_tanh"};
  return kNames[static_cast<std::size_t>(activation)];
}

std::string Format(const GemmProblem& problem) {
  std::string text = std::to_string(problem.batch) + "x" + std::to_string(problem.rows) + "x" +
                     std::to_string(problem.columns) + "x" + std::to_string(problem.depth) + " " +
                     std::string(Name(problem.a)) + ":" + std::string(Name(problem.b)) + ":" +
                     std::string(Name(problem.output)) + " sums=" + std::string(Name(problem.sums));
  if (problem.batch > 1)
    text += " strides=" + std::to_string(problem.a_stride) + "," + std::to_string(problem.b_stride);
  if (problem.b_transposed) text += " b=transposed";
  if (problem.b_sparse) text += " b=2:4";
  if (problem.a_scales != GemmScales::kNone)
    text += " scales=" + std::string(Name(problem.a_scales)) + "," + std::string(Name(problem.b_scales));
  if (problem.bias != DataType::kNone) text += " bias";
  if (problem.addend) text += " addend";
  if (problem.activation != GemmActivation::kNone) text += " " + std::string(Name(problem.activation));
  return text;
}

std::vector<GemmForm> GemmFormsOf(const Region& region, NumericContract contract, CandidateTier tier, bool sparse) {
  const auto* config = std::get_if<MatMulConfig>(&region.members.front().config);
  if (config == nullptr) return {};
  // A constant may be kept as one likes; of 8 bits devices before Blackwell take it transposed alone, of integers and
  // of 4 bits all do.
  const bool may_transpose = config->weights == Constness::kConstant;
  const bool is_float8 = IsFloat8(config->types.input), is_float4 = config->types.input == DataType::kF4E2M1;
  const bool must_transpose = config->types.input == DataType::kS8 || is_float8 || is_float4;
  std::vector<GemmForm> forms;
  if (!must_transpose || (is_float8 && !may_transpose)) forms.push_back({false});
  if (must_transpose ? may_transpose : may_transpose && tier != CandidateTier::kHeuristic) forms.push_back({true});
  if (sparse) {
    if (config->sparsity != Sparsity::kTwoOf4) return {};
    for (GemmForm& form : forms) form.b_sparse = true;
    return forms;
  }
  if (tier == CandidateTier::kHeuristic) return forms;
  const bool has_half = contract == NumericContract::kF16 && config->types.input == DataType::kF16;
  const bool has_fast = contract == NumericContract::kFp8 && is_float8;
  const bool has_parts = contract == NumericContract::kStrictF32 && config->types.input == DataType::kF32;
  if (!has_half && !has_fast && !has_parts) return forms;
  const GemmSums sums = has_half ? GemmSums::kF16 : has_fast ? GemmSums::kFast : GemmSums::kBf16x9;
  for (std::size_t i = 0, count = forms.size(); i < count; ++i) forms.push_back({forms[i].b_transposed, sums});
  return forms;
}

std::string Suffix(const GemmForm& form) {
  return std::string(form.b_transposed ? "/b=transposed" : "") +
         (form.sums ? "/acc=" + std::string(Name(*form.sums)) : "");
}

Result<RegionGemm> GemmOf(const Region& region, NumericContract contract, const GemmForm& form) {
  const RegionMember& lead = region.members.front();
  const auto* config = std::get_if<MatMulConfig>(&lead.config);
  if (config == nullptr) return NotInBlas("BLAS libraries run matrix products only");
  if (region.outputs.size() != 1) return NotInBlas("a GEMM has one result");
  RegionGemm gemm;
  GemmProblem& problem = gemm.problem;
  const std::size_t rank = config->a.rank();
  problem.rows = config->a.dims[rank - 2];
  problem.depth = config->a.dims[rank - 1];
  problem.columns = config->b.dims[rank - 1];
  INFIMUM_RETURN_IF_ERROR(SetBatch(*config, problem));
  problem.a = config->types.input;
  problem.b = config->types.weights;
  const auto last = static_cast<std::int64_t>(region.members.size()) - 1;
  const Operand output = OutputsOf(region.members.back().config)[0];
  problem.output = output.type;
  problem.b_transposed = form.b_transposed;
  problem.b_sparse = form.b_sparse;
  INFIMUM_ASSIGN_OR_RETURN(problem.sums, SumsOf(*config, contract));
  problem.sums = form.sums.value_or(problem.sums);
  if (problem.a != problem.b && !(IsFloat8(problem.a) && IsFloat8(problem.b)))
    return NotInBlas("BLAS libraries multiply operands of one type");
  if (!IsBlasType(problem.output))
    return NotInBlas("BLAS libraries have no results of " + std::string(Name(problem.output)));

  gemm.tensors.push_back({lead.operands[0], problem.a, config->a});
  gemm.tensors.push_back({lead.operands[1], problem.b, config->b, form.b_transposed});
  INFIMUM_RETURN_IF_ERROR(SetScales(*config, lead, gemm));
  if (problem.b_sparse) INFIMUM_RETURN_IF_ERROR(CheckSparse(*config, problem));
  if (config->bias != MatMulBias::kNone) {
    const Operand bias = OperandsOf(lead.config)[2];
    if (problem.sums == GemmSums::kS32) return NotInBlas("BLAS libraries add no bias to sums of integers");
    if (config->bias == MatMulBias::kColumn) {
      problem.bias = bias.type;
    } else if (bias.type != problem.output) {
      return NotInBlas("BLAS libraries add a tensor of the result's type");
    } else {
      problem.addend = true;
    }
    gemm.tensors.push_back({lead.operands[2], bias.type, bias.shape});
  }
  Followers followers(region, gemm);
  for (std::size_t i = 1; i < region.members.size(); ++i) INFIMUM_RETURN_IF_ERROR(followers.Add(i));
  if (problem.addend && IsSmallFloat(problem.output))
    return NotInBlas("BLAS libraries add no tensor to a result of 8-bit floats");
  gemm.tensors.push_back({{RegionOperand::Source::kMember, last}, problem.output, output.shape});
  return gemm;
}

}  // namespace infimum::cuda
