#include "microbench/libraries/cublaslt/gemm_problem.h"

#include <algorithm>

#include "infimum/base/text.h"
#include "microbench/gpu/device/symmetric_values.h"
#include "src/core/measurement/cudnn_shapes.h"

namespace infimum::cuda {
namespace {

Error Unsupported(const std::string& what) { return Error{"unsupported: " + what}; }

bool IsEightBitFloat(DataType type) { return type == DataType::kF8E4M3 || type == DataType::kF8E5M2; }

Result<GemmSums> SumsOf(const MatMulConfig& config, NumericContract contract, bool half_sums) {
  switch (config.types.input) {
    case DataType::kF64:
      return GemmSums::kF64;
    case DataType::kF32:
      return contract == NumericContract::kTf32 ? GemmSums::kTf32 : GemmSums::kF32;
    case DataType::kF16:
      return half_sums ? GemmSums::kF16 : GemmSums::kF32;
    case DataType::kBF16:
    case DataType::kF8E4M3:
    case DataType::kF8E5M2:
      return GemmSums::kF32;
    case DataType::kS8:
      return GemmSums::kS32;
    default:
      return Unsupported("BLAS has no products of " + std::string(Name(config.types.input)));
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
      return Unsupported("BLAS repeats an operand over all batches or none");
  }
  problem.batch = std::max(a, b);
  problem.a_stride = a == 1 ? 0 : problem.rows * problem.depth;
  problem.b_stride = b == 1 ? 0 : problem.depth * problem.columns;
  return {};
}

TensorPlacement Transposed(const Shape& shape) {
  TensorPlacement placement = TensorPlacement::RowMajor(shape);
  const std::size_t rank = shape.rank();
  placement.strides[rank - 1] = shape.dims[rank - 2];
  placement.strides[rank - 2] = 1;
  return placement;
}

// What follows the product: an addition of its own shape, an activation, in this order.
class Followers {
 public:
  Followers(const Region& region, BoundGemm& gemm) : region_(region), gemm_(gemm) {}

  Status Add(std::size_t number) {
    const RegionMember& member = region_.members[number];
    const auto* pointwise = std::get_if<PointwiseConfig>(&member.config);
    if (pointwise == nullptr) return Unsupported("BLAS has only additions and activations in its epilogue");
    if (gemm_.problem.activation != GemmActivation::kNone) return Unsupported("BLAS ends with an activation");
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
        return Unsupported("BLAS has no such activation in its epilogue");
    }
    return member.operands[0] == before ? Status() : Unsupported("BLAS's epilogue reads the product");
  }

 private:
  Status AddAddition(const RegionMember& member, const PointwiseConfig& config, const RegionOperand& before) {
    const std::size_t other = member.operands[0] == before ? 1 : 0;
    if (config.inputs.size() != 2 || member.operands[1 - other] != before)
      return Unsupported("BLAS's epilogue reads the product");
    if (member.operands[other].source == RegionOperand::Source::kMember)
      return Unsupported("BLAS adds what comes from outside");
    const Operand operand = OperandsOf(member.config)[other];
    GemmProblem& problem = gemm_.problem;
    const std::int64_t results = problem.batch * problem.rows * problem.columns;
    const std::int64_t count = ElementCount(operand.shape);
    const GpuBinding binding{member.operands[other], 0, operand.type, TensorPlacement::RowMajor(operand.shape)};
    if (count == problem.columns && operand.shape.dims.back() == problem.columns && !problem.bias && count != results) {
      problem.bias = true;
      gemm_.bindings.insert(gemm_.bindings.begin() + 2, binding);
      return {};
    }
    if (count != results || problem.addend)
      return Unsupported("BLAS adds one bias and one tensor of the result's shape");
    if (operand.type != problem.output) return Unsupported("BLAS adds tensors of the result's type");
    problem.addend = true;
    gemm_.bindings.push_back(binding);
    return {};
  }

  const Region& region_;
  BoundGemm& gemm_;
};

}  // namespace

std::string Format(const GemmProblem& problem) {
  constexpr const char* kSums[] = {"f32", "tf32", "f16", "f64", "s32"};
  constexpr const char* kActivations[] = {"", " relu", " gelu_tanh"};
  std::string text = std::to_string(problem.batch) + "x" + std::to_string(problem.rows) + "x" +
                     std::to_string(problem.columns) + "x" + std::to_string(problem.depth) + " " +
                     std::string(Name(problem.a)) + ":" + std::string(Name(problem.b)) + ":" +
                     std::string(Name(problem.output)) + " sums=" + kSums[static_cast<int>(problem.sums)];
  if (problem.batch > 1)
    text += " strides=" + std::to_string(problem.a_stride) + "," + std::to_string(problem.b_stride);
  if (problem.b_transposed) text += " b=transposed";
  if (problem.bias) text += " bias";
  if (problem.addend) text += " addend";
  return text + kActivations[static_cast<int>(problem.activation)];
}

std::vector<GemmForm> GemmFormsOf(const Region& region, NumericContract contract, CandidateTier tier) {
  const auto* config = std::get_if<MatMulConfig>(&region.members.front().config);
  if (config == nullptr) return {};
  // A constant may be kept as one likes; of 8 bits the libraries take it transposed alone.
  const bool may_transpose = config->weights == Constness::kConstant;
  const bool must_transpose = config->types.input == DataType::kS8 || IsEightBitFloat(config->types.input);
  std::vector<GemmForm> forms;
  if (!must_transpose) forms.push_back({false, false});
  if (must_transpose ? may_transpose : may_transpose && tier != CandidateTier::kHeuristic)
    forms.push_back({true, false});
  if (contract == NumericContract::kF16 && config->types.input == DataType::kF16 && tier != CandidateTier::kHeuristic) {
    for (std::size_t i = 0, count = forms.size(); i < count; ++i) forms.push_back({forms[i].b_transposed, true});
  }
  return forms;
}

std::string Suffix(const GemmForm& form) {
  return std::string(form.b_transposed ? "/b=transposed" : "") + (form.half_sums ? "/acc=f16" : "");
}

Result<BoundGemm> GemmOf(const cpu::ValuedRegion& workload, NumericContract contract, const GemmForm& form) {
  const Region& region = workload.region;
  const RegionMember& lead = region.members.front();
  const auto* config = std::get_if<MatMulConfig>(&lead.config);
  if (config == nullptr) return Unsupported("BLAS has matrix products alone");
  if (region.outputs.size() != 1) return Unsupported("BLAS has one result");
  BoundGemm gemm;
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
  INFIMUM_ASSIGN_OR_RETURN(problem.sums, SumsOf(*config, contract, form.half_sums));
  if (problem.a != problem.b && !(IsEightBitFloat(problem.a) && IsEightBitFloat(problem.b)))
    return Unsupported("BLAS multiplies operands of one type");
  if (problem.sums == GemmSums::kS32 && problem.output != DataType::kS32) {
    INFIMUM_ASSIGN_OR_RETURN(problem.factor,
                             FactorOf(config->types, problem.depth, cpu::ValuesOfMember(workload.values, 0)));
  }

  gemm.bindings.push_back({lead.operands[0], 0, problem.a, TensorPlacement::RowMajor(config->a)});
  gemm.bindings.push_back({lead.operands[1], 0, problem.b,
                           form.b_transposed ? Transposed(config->b) : TensorPlacement::RowMajor(config->b)});
  if (config->bias != MatMulBias::kNone) {
    const Operand bias = OperandsOf(lead.config)[2];
    problem.bias = config->bias == MatMulBias::kColumn;
    problem.addend = !problem.bias;
    if (problem.sums == GemmSums::kS32) return Unsupported("BLAS adds no bias to sums of integers");
    if (problem.addend && bias.type != problem.output) return Unsupported("BLAS adds tensors of the result's type");
    gemm.bindings.push_back({lead.operands[2], 0, bias.type, TensorPlacement::RowMajor(bias.shape)});
  }
  Followers followers(region, gemm);
  for (std::size_t i = 1; i < region.members.size(); ++i) INFIMUM_RETURN_IF_ERROR(followers.Add(i));
  gemm.bindings.push_back(
      {{RegionOperand::Source::kMember, last}, 0, problem.output, TensorPlacement::RowMajor(output.shape)});
  return gemm;
}

}  // namespace infimum::cuda
