#include "src/emit/cublaslt_source.h"

#include <fmt/format.h>

#include <optional>

#include "infimum/base/text.h"
#include "infimum/layer/pointwise.h"
#include "src/core/measurement/cudnn_form.h"
#include "src/emit/library_texts.h"
#include "src/emit/source_text.h"
#include "src/emit/value_range.h"

namespace infimum::emit {
namespace {

using Source = RegionOperand::Source;

bool IsF8(DataType type) { return type == DataType::kF8E4M3 || type == DataType::kF8E5M2; }

Result<std::string> CudaType(DataType type) {
  constexpr std::pair<DataType, std::string_view> kTypes[] = {
      {DataType::kF64, "64F"},   {DataType::kF32, "32F"},        {DataType::kF16, "16F"},
      {DataType::kBF16, "16BF"}, {DataType::kF8E4M3, "8F_E4M3"}, {DataType::kF8E5M2, "8F_E5M2"},
      {DataType::kS8, "8I"},     {DataType::kS32, "32I"}};
  for (const auto& [known, word] : kTypes)
    if (known == type) return fmt::format("CUDA_R_{}", word);
  return Error{fmt::format("cuBLASLt multiplies no matrices of {}", Name(type))};
}

// A step that a region has behind its product: the epilogue takes a vector, then an activation.
Status AddStep(const PointwiseConfig& config, const std::vector<RegionOperand>& operands, std::int64_t previous,
               const Shape& output, CublasLtProduct& product) {
  const auto is_previous = [&](const RegionOperand& operand) {
    return operand.source == Source::kMember && operand.index == previous;
  };
  if (config.types.input != product.types.output || config.types.output != product.types.output)
    return Error{"cuBLASLt's epilogues keep the product's type"};
  if (!product.activation.empty()) return Error{"nothing follows the activation of cuBLASLt's epilogues"};
  if (operands.size() == 1 && is_previous(operands[0])) {
    if (config.kind == PointwiseKind::kRelu) {
      product.activation = "RELU";
    } else if (config.kind == PointwiseKind::kGeluTanh) {
      product.activation = "GELU";
    } else {
      return Error{"cuBLASLt's epilogues are a bias, ReLU and GELU by tanh"};
    }
    return {};
  }
  if (config.kind != PointwiseKind::kAdd || operands.size() != 2)
    return Error{"cuBLASLt's epilogues are a bias, ReLU and GELU by tanh"};
  const std::size_t other = is_previous(operands[0]) ? 1 : 0;
  if (!is_previous(operands[1 - other]) || operands[other].source == Source::kMember)
    return Error{"cuBLASLt adds what comes from outside alone"};
  const std::optional<Shape> shape = Unmerged(config.inputs[other], OutputShape(config), output);
  Shape column = output;
  for (std::size_t i = 0; i + 1 < column.rank(); ++i) column.dims[i] = 1;
  bool* taken = nullptr;
  if (shape == column) taken = &product.has_bias;
  if (shape == output) taken = &product.has_addend;
  if (taken == nullptr || *taken) return Error{"cuBLASLt adds one vector along the columns and one whole matrix"};
  *taken = true;
  if (shape == column) product.bias_type = product.types.output;
  return {};
}

Result<CublasLtProduct> DescribeMatrices(const MatMulConfig& config) {
  CublasLtProduct product;
  product.types = config.types;
  const Shape output = OutputShape(config);
  const std::size_t rank = output.rank();
  product.rows = output.dims[rank - 2];
  product.columns = output.dims[rank - 1];
  product.depth = config.a.dims[rank - 1];
  std::int64_t batch_a = 1, batch_b = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    product.batch *= output.dims[i];
    batch_a *= config.a.dims[i];
    batch_b *= config.b.dims[i];
  }
  product.same_a = batch_a == 1;
  product.same_b = batch_b == 1;
  if ((!product.same_a && batch_a != product.batch) || (!product.same_b && batch_b != product.batch))
    return Error{"cuBLASLt has one stride for a batch, and this one broadcasts within it"};
  product.constant_b = config.weights == Constness::kConstant;
  product.has_bias = config.bias == MatMulBias::kColumn;
  product.has_addend = config.bias == MatMulBias::kFull;
  if (config.bias != MatMulBias::kNone) product.bias_type = OperandsOf(LayerConfig(config))[2].type;
  if (product.has_addend && product.bias_type != config.types.output)
    return Error{"cuBLASLt's addend has the result's type"};
  return product;
}

struct Arithmetic {
  std::string contract, compute, scale, suffix;
};

// Those that the plan's contracts allow, the usual one first.
std::vector<Arithmetic> ArithmeticsOf(const OperandTypes& types, const std::vector<NumericContract>& contracts) {
  std::vector<Arithmetic> all;
  for (const NumericContract contract : contracts) {
    const std::string name(Name(contract));
    if (types.input == DataType::kF64) {
      all.push_back({name, "CUBLAS_COMPUTE_64F", "CUDA_R_64F", ""});
    } else if (IsInteger(types.input)) {
      // Sums that stay s32 are not scaled, those that become s8 are.
      const bool scaled = types.output != DataType::kS32;
      all.push_back({name, "CUBLAS_COMPUTE_32I", scaled ? "CUDA_R_32F" : "CUDA_R_32I", ""});
    } else if (contract == NumericContract::kTf32) {
      all.push_back({name, "CUBLAS_COMPUTE_32F_FAST_TF32", "CUDA_R_32F", ""});
    } else {
      all.push_back({name, "CUBLAS_COMPUTE_32F", "CUDA_R_32F", ""});
    }
    if (contract == NumericContract::kF16 && types.input == DataType::kF16 && types.output == DataType::kF16)
      all.push_back({name, "CUBLAS_COMPUTE_16F", "CUDA_R_16F", "/acc=f16"});
  }
  return all;
}

std::vector<std::string> FormTexts(const CublasLtProduct& product, const std::vector<NumericContract>& contracts) {
  std::vector<std::string> texts;
  for (const Arithmetic& arithmetic : ArithmeticsOf(product.types, contracts)) {
    for (const bool transposed : {false, true}) {
      if (transposed && !product.constant_b) continue;
      const std::string suffix = (transposed ? "/b=transposed" : "") + arithmetic.suffix;
      const std::string name = suffix.empty() ? "" : fmt::format(".suffix = {}, ", StringLiteral(suffix));
      std::string types = fmt::format(".types = {{{}, {}}}", arithmetic.compute, arithmetic.scale);
      if (transposed) types += ", .b_transposed = true";
      const std::string start = fmt::format("{{{}.contract = {},", name, StringLiteral(arithmetic.contract));
      const bool fits = 8 + start.size() + 1 + types.size() + 2 <= kColumns;
      texts.push_back(fmt::format("{}{}{}}}", start, fits ? " " : "\n         ", types));
    }
  }
  return texts;
}

struct TypeWords {
  std::string a, b, addend, result, bias;
};

Result<TypeWords> WordsOf(const CublasLtProduct& product) {
  const OperandTypes& types = product.types;
  if (IsInteger(types.input) != IsInteger(types.weights))
    return Error{"cuBLASLt multiplies integers by integers alone"};
  TypeWords words;
  INFIMUM_ASSIGN_OR_RETURN(words.a, CudaType(types.input));
  INFIMUM_ASSIGN_OR_RETURN(words.b, CudaType(types.weights));
  INFIMUM_ASSIGN_OR_RETURN(words.result, CudaType(types.output));
  // 8-bit floats are added to and biased in a wider type.
  words.addend = IsF8(types.output) ? "CUDA_R_16BF" : words.result;
  if (product.has_addend && IsF8(types.output)) return Error{"cuBLASLt's addend of an 8-bit float result is bf16"};
  if (product.has_bias) {
    INFIMUM_ASSIGN_OR_RETURN(words.bias, CudaType(product.bias_type));
    if (IsF8(product.bias_type)) words.bias = "CUDA_R_16BF";
  }
  return words;
}

// `Matrix(type, rows, columns, batch, stride)`, by columns.
std::string MatrixText(const std::string& type, const char* rows, const char* columns, const CublasLtProduct& product,
                       bool is_same) {
  if (product.batch == 1) return fmt::format("Matrix({}, {}, {})", type, rows, columns);
  const std::string stride = is_same ? "0" : fmt::format("{} * {}", rows, columns);
  return fmt::format("Matrix({}, {}, {}, kBatch, {})", type, rows, columns, stride);
}

std::string DescribeText(const CublasLtProduct& product, const TypeWords& words) {
  std::string first = MatrixText(words.b, "kColumns", "kDepth", product, product.same_b);
  if (product.constant_b) {
    const std::string transposed = MatrixText(words.b, "kDepth", "kColumns", product, product.same_b);
    const std::string choice = fmt::format("form.b_transposed ? {} : {}", transposed, first);
    first = choice.size() + 18 <= kColumns
                ? choice
                : fmt::format("form.b_transposed ? {}\n                                   : {}", transposed, first);
  }
  std::string text = "Problem Describe(const Form& form) {\n";
  text += "  // By columns, the transposed result is the product of the transposed matrices, the other way round.\n";
  text += fmt::format("  Matrix first = {};\n", first);
  text += fmt::format("  Matrix second = {};\n", MatrixText(words.a, "kDepth", "kRows", product, product.same_a));
  text += fmt::format("  Matrix addend = {};\n", MatrixText(words.addend, "kColumns", "kRows", product, false));
  text += fmt::format("  Matrix result = {};\n", MatrixText(words.result, "kColumns", "kRows", product, false));
  text += "  Problem problem(form.types, std::move(first), std::move(second), std::move(addend), std::move(result));\n";
  const std::string operation = product.constant_b ? "form.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N" : "CUBLAS_OP_N";
  text += fmt::format("  problem.Set(CUBLASLT_MATMUL_DESC_TRANSA, {});\n", operation);
  text += "  problem.Set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);\n";
  std::string epilogue = product.activation;
  if (product.has_bias) epilogue += epilogue.empty() ? "BIAS" : "_BIAS";
  if (!epilogue.empty())
    text += fmt::format("  problem.Set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_{});\n", epilogue);
  if (product.has_bias) text += fmt::format("  problem.SetBias({}, kColumns);\n", words.bias);
  if (IsF8(product.types.weights)) text += "  problem.SetScale(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);\n";
  if (IsF8(product.types.input)) text += "  problem.SetScale(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);\n";
  if (IsF8(product.types.output)) text += "  problem.SetScale(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER);\n";
  if (product.types.output == DataType::kS8) text += "  problem.alpha = 0.001;  // back to 8 bits\n";
  if (product.has_addend) text += "  problem.beta = 1;\n";
  return text + "  return problem;\n}\n";
}

}  // namespace

Result<CublasLtProduct> DescribeProduct(const Workload& workload) {
  const auto* product_config = std::get_if<MatMulConfig>(&cuda::LeadOf(workload));
  if (product_config == nullptr)
    return Error{"cuBLASLt runs matrix products alone, with a bias, ReLU and GELU by tanh behind them"};
  INFIMUM_ASSIGN_OR_RETURN(CublasLtProduct product, DescribeMatrices(*product_config));
  const auto* region = std::get_if<Region>(&workload);
  if (region == nullptr) return product;
  if (region->outputs.size() != 1) return Error{"a result within it is wanted too, which no epilogue writes"};
  const Shape output = OutputShape(*product_config);
  for (std::size_t i = 1; i < region->members.size(); ++i) {
    const auto* step = std::get_if<PointwiseConfig>(&region->members[i].config);
    if (step == nullptr) return Error{"cuBLASLt's epilogues are a bias, ReLU and GELU by tanh"};
    INFIMUM_RETURN_IF_ERROR(
        AddStep(*step, region->members[i].operands, static_cast<std::int64_t>(i) - 1, output, product));
  }
  return product;
}

Result<std::string> WriteProduct(const CublasLtProduct& product, const SourceRequest& request) {
  INFIMUM_ASSIGN_OR_RETURN(const TypeWords words, WordsOf(product));
  const std::string layer = Format(request.workload);
  std::string text = SourceOpening(layer, request.version, {"cublaslt_candidates.h"});
  text += "namespace {\n\nusing namespace cublaslt;\n\n" + LayerConstant(layer);
  text += fmt::format("constexpr std::int64_t kRows = {}, kColumns = {}, kDepth = {};\n", product.rows, product.columns,
                      product.depth);
  if (product.batch > 1) text += fmt::format("constexpr std::int32_t kBatch = {};\n", product.batch);
  text += "\n" + DescribeText(product, words) + "\n";
  text += "const Registration kRegistered({\n    .text = kLayer,\n";
  text += fmt::format("    .layouts = {},\n", StringLiteral(cuda::InputLayouts(request.workload, {}) + "->" +
                                                            cuda::OutputLayout(request.workload, {})));
  text += "    .forms = {\n" + ListLines(FormTexts(product, request.contracts)) + "    },\n";
  text += "    .describe = Describe,\n";
  const Range range = RangeOf(product.types.input), usual;
  if (range.low != usual.low || range.high != usual.high)
    text += fmt::format("    .low = {},\n    .high = {},\n", FormatNumber(range.low), FormatNumber(range.high));
  text += OnlyLines(request.only) + "});\n\n}  // namespace\n";
  return text;
}

}  // namespace infimum::emit
