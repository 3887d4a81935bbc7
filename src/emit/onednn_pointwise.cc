// Element-wise layers of one or two operands.
#include <fmt/format.h>

#include "src/emit/onednn_attributes.h"
#include "src/emit/onednn_source.h"
#include "src/emit/onednn_types.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

Shape WithRank(const Shape& shape, std::size_t rank) {
  Shape result;
  result.dims.assign(rank - shape.rank(), 1);
  result.dims.insert(result.dims.end(), shape.dims.begin(), shape.dims.end());
  return result;
}

std::string Function(const std::string& primitive, const std::vector<std::string>& arguments) {
  return fmt::format("{0}::primitive_desc Describe() {{\n  return {1};\n}}\n", primitive,
                     BrokenCall(primitive + "::primitive_desc", arguments, 2, 8));
}

Result<OneDnnSource> DescribeEltwise(const PointwiseConfig& config, const PostOperation& step) {
  if (config.inputs.size() != 1 || config.inputs[0].rank() == 0)
    return Error{"oneDNN has no tensors without dimensions"};
  OneDnnSource source;
  source.Dims("kInput", config.inputs[0]);
  AddPlainAttributes(source);
  source.functions.push_back(Function(
      "eltwise_forward", {"Cpu()", "prop_kind::forward_inference", "algorithm::" + step.algorithm,
                          Desc("Plain", "kInput", config.types.input), Desc("Plain", "kInput", config.types.output),
                          FloatLiteral(step.alpha), FloatLiteral(step.beta), "Attributes()", "/*allow_empty=*/true"}));
  source.arguments = {InputText("DNNL_ARG_SRC", RangeOf(config.kind, 0, config.types.input)),
                      OutputText("DNNL_ARG_DST")};
  source.layouts = PlainLayout(config.inputs[0]) + "->" + PlainLayout(config.inputs[0]);
  return source;
}

Result<OneDnnSource> DescribeBinary(const PointwiseConfig& config, const std::string& algorithm) {
  const Shape output = OutputShape(config);
  if (config.inputs.size() != 2) return Error{"oneDNN combines two tensors; infimum measures kernels of its own"};
  if (output.rank() == 0 || output.rank() > 6) return Error{"oneDNN combines tensors of one to six dimensions"};
  const DataType second = config.types.weights == DataType::kNone ? config.types.input : config.types.weights;
  INFIMUM_RETURN_IF_ERROR(CheckTypes({second}));
  OneDnnSource source;
  source.Dims("kFirst", WithRank(config.inputs[0], output.rank()));
  source.Dims("kSecond", WithRank(config.inputs[1], output.rank()));
  source.Dims("kOutput", output);
  AddPlainAttributes(source);
  source.functions.push_back(
      Function("binary", {"Cpu()", "algorithm::" + algorithm, Desc("Plain", "kFirst", config.types.input),
                          Desc("Plain", "kSecond", second), Desc("Plain", "kOutput", config.types.output),
                          "Attributes()", "/*allow_empty=*/true"}));
  source.arguments = {InputText("DNNL_ARG_SRC_0", RangeOf(config.kind, 0, config.types.input)),
                      InputText("DNNL_ARG_SRC_1", RangeOf(config.kind, 1, second)), OutputText("DNNL_ARG_DST")};
  source.layouts = PlainLayout(config.inputs[0]) + "->" + PlainLayout(output);
  return source;
}

}  // namespace

Result<OneDnnSource> DescribePointwise(const PointwiseConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes({config.types.input, config.types.output}));
  if (config.types.input == DataType::kS32 || config.types.output == DataType::kS32)
    return Error{"oneDNN computes in f32, which does not hold every s32; infimum measures kernels of its own"};
  Result<OneDnnSource> source = Error{"oneDNN has no primitive for this kind; infimum measures kernels of its own"};
  if (const auto step = EltwiseOf(config.kind)) source = DescribeEltwise(config, *step);
  if (const auto algorithm = BinaryOf(config.kind)) source = DescribeBinary(config, *algorithm);
  if (source.ok()) source->forms = {{"*", "Describe()"}};
  return source;
}

}  // namespace infimum::emit
