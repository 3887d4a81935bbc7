#include "src/emit/onednn_attributes.h"

#include <fmt/format.h>

#include <cmath>

#include "src/emit/onednn_types.h"
#include "src/emit/source_text.h"

namespace infimum::emit {

std::optional<PostOperation> EltwiseOf(PointwiseKind kind) {
  const auto step = [](const char* algorithm, double alpha = 0, double beta = 0) {
    PostOperation operation;
    operation.algorithm = algorithm;
    operation.alpha = alpha;
    operation.beta = beta;
    return operation;
  };
  switch (kind) {
    case PointwiseKind::kRelu:
      return step("eltwise_relu");
    case PointwiseKind::kLeakyRelu:
      return step("eltwise_relu", 0.01);
    case PointwiseKind::kCelu:  // the same function for this alpha
    case PointwiseKind::kElu:
      return step("eltwise_elu", 1);
    case PointwiseKind::kTanh:
      return step("eltwise_tanh");
    case PointwiseKind::kSquare:
      return step("eltwise_square");
    case PointwiseKind::kCube:
      return step("eltwise_pow", 1, 3);
    case PointwiseKind::kAbsolute:
      return step("eltwise_abs");
    case PointwiseKind::kSquareRoot:
      return step("eltwise_sqrt");
    case PointwiseKind::kSwish:
      return step("eltwise_swish", 1);
    case PointwiseKind::kQuickGelu:
      return step("eltwise_swish", 1.702);
    case PointwiseKind::kNegative:
      return step("eltwise_linear", -1);
    case PointwiseKind::kClip:
      return step("eltwise_clip", 0, 6);
    case PointwiseKind::kSigmoid:
      return step("eltwise_logistic");
    case PointwiseKind::kExponential:
      return step("eltwise_exp");
    case PointwiseKind::kLogarithm:
      return step("eltwise_log");
    case PointwiseKind::kReciprocal:
      return step("eltwise_pow", 1, -1);
    case PointwiseKind::kGeluErf:
      return step("eltwise_gelu_erf");
    case PointwiseKind::kGeluTanh:
      return step("eltwise_gelu_tanh");
    case PointwiseKind::kMish:
      return step("eltwise_mish");
    case PointwiseKind::kHardSwish:
      return step("eltwise_hardswish", 1.0 / 6, 0.5);
    case PointwiseKind::kHardSigmoid:
      return step("eltwise_hardsigmoid", 0.2, 0.5);
    case PointwiseKind::kSoftplus:
      return step("eltwise_soft_relu", 1);
    case PointwiseKind::kRound:
      return step("eltwise_round");
    default:
      return std::nullopt;
  }
}

std::optional<std::string> BinaryOf(PointwiseKind kind) {
  switch (kind) {
    case PointwiseKind::kAdd:
      return "binary_add";
    case PointwiseKind::kSubtract:
      return "binary_sub";
    case PointwiseKind::kMultiply:
      return "binary_mul";
    case PointwiseKind::kDivide:
      return "binary_div";
    case PointwiseKind::kMinimum:
      return "binary_min";
    case PointwiseKind::kMaximum:
      return "binary_max";
    case PointwiseKind::kEqual:
      return "binary_eq";
    case PointwiseKind::kGreater:
      return "binary_gt";
    case PointwiseKind::kGreaterOrEqual:
      return "binary_ge";
    case PointwiseKind::kLess:
      return "binary_lt";
    case PointwiseKind::kLessOrEqual:
      return "binary_le";
    default:
      return std::nullopt;
  }
}

ProductNumbers NumbersOf(const OperandTypes& types, std::int64_t depth) {
  ProductNumbers numbers;
  if (!IsInteger(types.input)) return numbers;
  numbers.input_zero = types.input == DataType::kU8 ? 121 : 121 - 128;
  numbers.scaled = types.output != DataType::kS32;
  if (!numbers.scaled) return numbers;
  numbers.input_scale = 1.0 / 64;
  if (IsInteger(types.output)) {
    // So that results fill their type: the deviation of inputs is about 74 steps, of weights 36, of outputs then 40.
    const double scale = std::sqrt(static_cast<double>(depth)) * 74 * 36 * numbers.input_scale * 0.01 / 40;
    numbers.output_scale = std::round(scale * 1e4) / 1e4;
    numbers.output_zero = types.output == DataType::kU8 ? 128 : 2;
  }
  return numbers;
}

DataType LibraryBiasType(const ProductNumbers& numbers, DataType bias) {
  return numbers.scaled && IsInteger(bias) ? DataType::kF32 : bias;
}

void AddAttributes(const ProductNumbers& numbers, const std::vector<PostOperation>& steps, std::string_view name,
                   std::size_t rank, OneDnnSource& source) {
  std::string body;
  if (numbers.input_zero != 0) body += "  attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);\n";
  if (numbers.scaled) {
    body += "  attributes.set_scales_mask(DNNL_ARG_SRC, 0);\n";
    body += "  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, channel_mask);  // one for each output channel\n";
    if (numbers.output_scale != 1) body += "  attributes.set_scales_mask(DNNL_ARG_DST, 0);\n";
    if (numbers.output_zero != 0) body += "  attributes.set_zero_points_mask(DNNL_ARG_DST, 0);\n";
  }
  if (!steps.empty()) body += "  post_ops steps;\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const PostOperation& step = steps[i];
    if (!step.binary) {
      body += fmt::format("  steps.append_eltwise(algorithm::{}, {}, {});\n", step.algorithm, FloatLiteral(step.alpha),
                          FloatLiteral(step.beta));
      continue;
    }
    Shape shape = step.shape;
    shape.dims.erase(shape.dims.begin(), shape.dims.end() - static_cast<std::ptrdiff_t>(rank));
    const std::string dims = fmt::format("k{}Step{}", name == "Attributes" ? "" : name, i);
    source.Dims(dims, shape, "what the result is combined with");
    body += fmt::format("  steps.append_binary(algorithm::{}, {});\n", step.algorithm, Desc("Any", dims, step.type));
  }
  if (!steps.empty()) body += "  attributes.set_post_ops(steps);\n";
  source.functions.push_back(
      fmt::format("primitive_attr {}({}) {{\n  primitive_attr attributes;\n"
                  "  attributes.set_scratchpad_mode(scratchpad_mode::user);\n{}  return attributes;\n}}\n",
                  name, numbers.scaled ? "int channel_mask" : "", body));
}

std::string CallAttributes(const ProductNumbers& numbers, std::string_view name, int channel_mask) {
  return fmt::format("{}({})", name, numbers.scaled ? std::to_string(channel_mask) : "");
}

void AddAttributeArguments(const ProductNumbers& numbers, const std::vector<PostOperation>& steps,
                           std::int64_t channels, OneDnnSource& source) {
  std::vector<std::string>& arguments = source.arguments;
  if (numbers.input_zero != 0) arguments.push_back(fmt::format("ZeroPoint(DNNL_ARG_SRC, {})", numbers.input_zero));
  if (numbers.scaled) {
    arguments.push_back(fmt::format("Scales(DNNL_ARG_SRC, 1, {})", FloatLiteral(numbers.input_scale)));
    arguments.push_back(fmt::format("Scales(DNNL_ARG_WEIGHTS, {}, 0.01F)", channels));
    if (numbers.output_scale != 1)
      arguments.push_back(fmt::format("Scales(DNNL_ARG_DST, 1, {})", FloatLiteral(numbers.output_scale)));
    if (numbers.output_zero != 0) arguments.push_back(fmt::format("ZeroPoint(DNNL_ARG_DST, {})", numbers.output_zero));
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].binary) continue;
    const std::string argument = fmt::format("DNNL_ARG_ATTR_MULTIPLE_POST_OP({}) | DNNL_ARG_SRC_1", i);
    // Away from zero, so that a division has finite results.
    const Range range = steps[i].algorithm == "binary_div" ? Range{0.5, 2} : RangeOf(steps[i].type);
    arguments.push_back(steps[i].constant ? ConstantText(argument, range) : InputText(argument, range));
  }
}

void AddPlainAttributes(OneDnnSource& source) { AddAttributes({}, {}, "Attributes", 0, source); }

}  // namespace infimum::emit
