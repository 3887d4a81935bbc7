// What is computed from many elements: normalizations, softmax, reductions.
#include <fmt/format.h>

#include "infimum/layer/layer_config.h"
#include "src/emit/onednn_attributes.h"
#include "src/emit/onednn_source.h"
#include "src/emit/onednn_types.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

constexpr const char* kEpsilon = "1e-5F";

std::string Function(const std::string& primitive, const std::string& parameters,
                     const std::vector<std::string>& arguments) {
  return fmt::format("{0}::primitive_desc Describe({1}) {{\n  return {2};\n}}\n", primitive, parameters,
                     BrokenCall(primitive + "::primitive_desc", arguments, 2, 8));
}

std::string Flags(const NormalizationConfig& config, std::string flags) {
  const auto add = [&](const char* flag) {
    flags += (flags.empty() ? "" : " | ") + std::string("normalization_flags::") + flag;
  };
  if (config.scale) add("use_scale");
  if (config.bias) add("use_shift");
  return flags.empty() ? "normalization_flags::none" : flags;
}

void AddImageForms(const NormalizationConfig& config, OneDnnSource& source) {
  if (config.input.rank() == 4) source.forms.push_back({"*", "Describe(Blocked<8>, Any)"});
  source.forms.push_back({"*/nhwc", "Describe(ChannelsLast, ChannelsLast)"});
  source.forms.push_back({"*/nchw", "Describe(Plain, Plain)"});
}

void AddOperands(const NormalizationConfig& config, bool statistics, OneDnnSource& source) {
  source.arguments.push_back(InputText("DNNL_ARG_SRC", RangeOf(config.types.input)));
  if (config.scale) source.arguments.push_back(ConstantText("DNNL_ARG_SCALE", {}));
  if (config.bias) source.arguments.push_back(ConstantText("DNNL_ARG_SHIFT", {}));
  if (statistics) {
    source.arguments.push_back(ConstantText("DNNL_ARG_MEAN", {}));
    source.arguments.push_back(ConstantText("DNNL_ARG_VARIANCE", {0.5, 1.5}));
  }
  source.arguments.push_back(OutputText("DNNL_ARG_DST"));
}

Result<OneDnnSource> DescribeBatch(const NormalizationConfig& config) {
  if (config.axis != 1 || config.input.rank() < 2) return Error{"oneDNN's channels are the second dimension"};
  if (config.types.weights != DataType::kF32) return Error{"oneDNN 3.2 takes scale and bias in f32 alone"};
  OneDnnSource source;
  source.Dims("kInput", config.input, "batch, channels, image");
  AddPlainAttributes(source);
  source.functions.push_back(
      Function("batch_normalization_forward", "Layout input, Layout output",
               {"Cpu()", "prop_kind::forward_inference", Desc("input", "kInput", config.types.input),
                Desc("output", "kInput", config.types.output), kEpsilon,
                Flags(config, "normalization_flags::use_global_stats"), "Attributes()", "/*allow_empty=*/true"}));
  AddImageForms(config, source);
  AddOperands(config, true, source);
  return source;
}

Result<OneDnnSource> DescribeLayer(const NormalizationConfig& config) {
  if (config.types.weights != DataType::kF32 && (config.scale || config.bias))
    return Error{"oneDNN 3.2 takes scale and bias in f32 alone"};
  Shape rows{{1, 1}};
  for (std::size_t i = 0; i < config.input.rank(); ++i)
    rows.dims[static_cast<std::int64_t>(i) < config.axis ? 0 : 1] *= config.input.dims[i];
  OneDnnSource source;
  source.Dims("kRows", rows, "rows, elements of each");
  AddPlainAttributes(source);
  source.functions.push_back(
      Function("layer_normalization_forward", "",
               {"Cpu()", "prop_kind::forward_inference", Desc("Plain", "kRows", config.types.input),
                Desc("Plain", "kRows", config.types.output), kEpsilon, Flags(config, ""), "Attributes()",
                "/*allow_empty=*/true"}));
  source.forms = {{"*", "Describe()"}};
  AddOperands(config, false, source);
  source.layouts = PlainLayout(config.input) + "->" + PlainLayout(config.input);
  return source;
}

Result<OneDnnSource> DescribeResponse(const NormalizationConfig& config) {
  if (config.size % 2 == 0 || config.input.rank() != 4)
    return Error{"oneDNN's window reaches as far to both sides, in images alone; infimum measures a kernel of its own"};
  OneDnnSource source;
  source.Dims("kInput", config.input, "batch, channels, image");
  AddPlainAttributes(source);
  source.functions.push_back(
      Function("lrn_forward", "Layout input, Layout output",
               {"Cpu()", "prop_kind::forward_inference", "algorithm::lrn_across_channels",
                Desc("input", "kInput", config.types.input), Desc("output", "kInput", config.types.output),
                std::to_string(config.size), "1e-4F", "0.75F", "1.0F", "Attributes()", "/*allow_empty=*/true"}));
  AddImageForms(config, source);
  AddOperands(config, false, source);
  return source;
}

}  // namespace

Result<OneDnnSource> DescribeNormalization(const NormalizationConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes({config.types.input, config.types.output}));
  switch (config.kind) {
    case NormalizationKind::kBatch:
      return DescribeBatch(config);
    case NormalizationKind::kLayer:
      return DescribeLayer(config);
    case NormalizationKind::kLocalResponse:
      return DescribeResponse(config);
    default:
      return Error{"oneDNN 3.2 has no primitive for this kind; infimum measures kernels of its own"};
  }
}

Result<OneDnnSource> DescribeSoftmax(const SoftmaxConfig& config) {
  if (config.kind == SoftmaxKind::kHardmax) return Error{"oneDNN has no hardmax; infimum measures a kernel of its own"};
  INFIMUM_RETURN_IF_ERROR(CheckTypes({config.types.input, config.types.output}));
  OneDnnSource source;
  source.Dims("kInput", config.input);
  source.constants.push_back({fmt::format("constexpr int kAxis = {};", config.axis), "what is summed over"});
  AddPlainAttributes(source);
  const std::string algorithm =
      config.kind == SoftmaxKind::kSoftmax ? "algorithm::softmax_accurate" : "algorithm::softmax_log";
  source.functions.push_back(
      Function("softmax_forward", "",
               {"Cpu()", "prop_kind::forward_inference", algorithm, Desc("Plain", "kInput", config.types.input),
                Desc("Plain", "kInput", config.types.output), "kAxis", "Attributes()", "/*allow_empty=*/true"}));
  source.forms = {{"*", "Describe()"}};
  source.arguments = {InputText("DNNL_ARG_SRC", {-4, 4}), OutputText("DNNL_ARG_DST")};
  return source;
}

Result<OneDnnSource> DescribeReduction(const ReductionConfig& config) {
  std::string algorithm;
  switch (config.kind) {
    case ReductionKind::kSum:
      algorithm = "algorithm::reduction_sum";
      break;
    case ReductionKind::kMean:
      algorithm = "algorithm::reduction_mean";
      break;
    case ReductionKind::kMax:
      algorithm = "algorithm::reduction_max";
      break;
    case ReductionKind::kMin:
      algorithm = "algorithm::reduction_min";
      break;
    case ReductionKind::kProduct:
      algorithm = "algorithm::reduction_mul";
      break;
    default:
      return Error{"oneDNN's reductions do not have this kind; infimum measures kernels of its own"};
  }
  const std::size_t rank = config.input.rank();
  if (rank == 0 || rank > 6) return Error{"oneDNN reduces one to six dimensions"};
  if (!IsFloatingPoint(config.types.input) || !IsFloatingPoint(config.types.output))
    return Error{"oneDNN reduces in f32, which does not hold every integer; infimum measures kernels of its own"};
  INFIMUM_RETURN_IF_ERROR(CheckTypes({config.types.input, config.types.output}));
  Shape output = config.input;
  for (const std::int64_t axis : config.axes) output.dims[static_cast<std::size_t>(axis)] = 1;
  if (output == config.input) return Error{"nothing is reduced, which oneDNN refuses"};
  OneDnnSource source;
  source.Dims("kInput", config.input);
  source.Dims("kOutput", output, "1 where it is reduced");
  AddPlainAttributes(source);
  source.functions.push_back(Function(
      "reduction", "",
      {"Cpu()", algorithm, Desc("Plain", "kInput", config.types.input), Desc("Plain", "kOutput", config.types.output),
       "0.0F", "0.0F", "Attributes()", "/*allow_empty=*/true"}));
  source.forms = {{"*", "Describe()"}};
  const bool product = config.kind == ReductionKind::kProduct;
  source.arguments = {InputText("DNNL_ARG_SRC", product ? Range{0.9, 1.1} : Range{}), OutputText("DNNL_ARG_DST")};
  source.layouts = PlainLayout(config.input) + "->" + PlainLayout(OutputsOf(LayerConfig(config))[0].shape);
  return source;
}

}  // namespace infimum::emit
