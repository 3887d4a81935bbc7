// Convolutions in one to three dimensions, transposed ones too; those of 1x1 over one image also as matrix products.
#include <fmt/format.h>

#include <algorithm>

#include "infimum/layer/layer_config.h"
#include "src/emit/onednn_attributes.h"
#include "src/emit/onednn_matmul.h"
#include "src/emit/onednn_source.h"
#include "src/emit/onednn_types.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

// (groups,) output channels, input channels, kernel: oneDNN's order for both directions.
Shape LibraryWeightShape(const ConvolutionConfig& config) {
  Shape shape;
  if (config.groups > 1) shape.dims.push_back(config.groups);
  shape.dims.push_back(config.output_channels / config.groups);
  shape.dims.push_back(config.input.dims[1] / config.groups);
  shape.dims.insert(shape.dims.end(), config.kernel.dims.begin(), config.kernel.dims.end());
  return shape;
}

// A model's weights in that order: those of a transposed convolution have the input channels first.
std::vector<std::int64_t> ModelWeightStrides(const ConvolutionConfig& config) {
  std::int64_t kernel = 1;
  for (const std::int64_t extent : config.kernel.dims) kernel *= extent;
  const std::int64_t outputs = config.output_channels / config.groups;
  std::vector<std::int64_t> strides;
  if (config.groups > 1) strides.push_back(config.input.dims[1] / config.groups * outputs * kernel);
  strides.push_back(kernel);
  strides.push_back(outputs * kernel);
  for (const std::int64_t extent : config.kernel.dims) strides.push_back(kernel /= extent);
  return strides;
}

std::string WeightDesc(const ConvolutionConfig& config, OneDnnSource& source) {
  if (config.weights == Constness::kConstant) return Desc("Any", "kWeights", config.types.weights);
  if (!config.transposed) return Desc("Plain", "kWeights", config.types.weights);
  source.constants.push_back({fmt::format("const memory::dims kWeightStrides{};", Braced(ModelWeightStrides(config))),
                              "input channels first"});
  return fmt::format("memory::desc(kWeights, {}, kWeightStrides)", TypeText(config.types.weights));
}

struct Padding {
  std::vector<std::int64_t> begin, end, dilation;
};

// oneDNN wants the padding that its own output formula gives back, without what the stride leaves over.
Padding PaddingOf(const ConvolutionConfig& config, const Shape& output) {
  Padding padding;
  const std::size_t rank = config.kernel.rank();
  for (std::size_t i = 0; i < rank; ++i) {
    padding.dilation.push_back(config.dilation.dims[i] - 1);
    padding.begin.push_back(config.padding[i]);
    const std::int64_t reach = config.dilation.dims[i] * (config.kernel.dims[i] - 1) + 1;
    const std::int64_t output_padding = config.output_padding.empty() ? 0 : config.output_padding[i];
    padding.end.push_back(config.transposed ? config.padding[rank + i] - output_padding
                                            : (output.dims[2 + i] - 1) * config.stride.dims[i] + reach -
                                                  config.input.dims[2 + i] - config.padding[i]);
  }
  return padding;
}

bool IsMatrixProduct(const ConvolutionConfig& config) {
  const auto all = [](const std::vector<std::int64_t>& numbers, std::int64_t wanted) {
    return std::all_of(numbers.begin(), numbers.end(), [=](std::int64_t number) { return number == wanted; });
  };
  return !config.transposed && config.groups == 1 && config.input.dims[0] == 1 && all(config.kernel.dims, 1) &&
         all(config.stride.dims, 1) && all(config.padding, 0);
}

void AddMatrixProduct(const ConvolutionConfig& config, const ProductNumbers& numbers, DataType bias,
                      OneDnnSource& source) {
  MatrixProduct product;
  const std::int64_t depth = config.input.dims[1];
  const std::int64_t rows = ElementCount(config.input) / depth;
  product.types = config.types;
  product.a = Shape{{rows, depth}};
  product.b = Shape{{depth, config.output_channels}};
  product.result = Shape{{rows, config.output_channels}};
  product.packed = config.weights == Constness::kConstant;
  product.bias = config.bias ? MatMulBias::kColumn : MatMulBias::kNone;
  product.bias_type = bias;
  product.numbers = numbers;
  AddMatMulForms(product, "convolution-as-matmul/", "AsMatMul", "kMatrix", source);
}

}  // namespace

Result<OneDnnSource> DescribeConvolution(const ConvolutionConfig& config, const std::vector<PostOperation>& steps) {
  const OperandTypes& types = config.types;
  INFIMUM_RETURN_IF_ERROR(CheckTypes({types.input, types.weights, types.output}));
  if (IsFloatingPoint(types.input) && IsInteger(types.weights))
    return Error{"its integer weights become f32 first, by kernels of infimum's own, which are not emitted"};
  std::int64_t depth = config.input.dims[1] / config.groups;
  for (const std::int64_t extent : config.kernel.dims) depth *= extent;
  const ProductNumbers numbers = NumbersOf(types, depth);
  DataType bias = DataType::kF32;
  if (config.bias) bias = LibraryBiasType(numbers, OperandsOf(LayerConfig(config))[2].type);
  INFIMUM_RETURN_IF_ERROR(CheckTypes({bias}));
  const Shape output = OutputShape(config);
  const Padding padding = PaddingOf(config, output);

  OneDnnSource source;
  source.Dims("kInput", config.input, "batch, channels, image");
  source.Dims("kWeights", LibraryWeightShape(config),
              config.groups > 1 ? "groups, output channels, input channels, kernel"
                                : "output channels, input channels, kernel");
  if (config.bias) source.Dims("kBias", Shape{{config.output_channels}});
  source.Dims("kOutput", output);
  source.Dims("kStride", config.stride);
  source.Dims("kDilation", Shape{padding.dilation}, "gaps between taps: 0 is dense");
  source.Dims("kPadBegin", Shape{padding.begin});
  source.Dims("kPadEnd", Shape{padding.end},
              config.transposed || padding.end == std::vector(config.padding.begin() +
                                                                  static_cast<std::ptrdiff_t>(padding.begin.size()),
                                                              config.padding.end())
                  ? ""
                  : "what the output needs: a stride may leave the rest unread");
  AddAttributes(numbers, steps, "Attributes", output.rank(), source);

  const std::string primitive = config.transposed ? "deconvolution_forward" : "convolution_forward";
  std::vector<std::string> arguments{"Cpu()", "prop_kind::forward_inference", "kind",
                                     Desc("layout", "kInput", types.input), WeightDesc(config, source)};
  if (config.bias) arguments.push_back(Desc("Plain", "kBias", bias));
  arguments.push_back(Desc("layout", "kOutput", types.output));
  for (const char* rest : {"kStride", "kDilation", "kPadBegin", "kPadEnd"}) arguments.emplace_back(rest);
  arguments.push_back(CallAttributes(numbers, "Attributes", config.groups > 1 ? 3 : 1));
  arguments.emplace_back("/*allow_empty=*/true");
  source.functions.push_back(
      fmt::format("{0}::primitive_desc Describe(algorithm kind, Layout layout) {{\n  return {1};\n}}\n", primitive,
                  BrokenCall(primitive + "::primitive_desc", arguments, 2, 8)));
  const std::string direct = config.transposed ? "algorithm::deconvolution_direct" : "algorithm::convolution_direct";
  const std::string winograd =
      config.transposed ? "algorithm::deconvolution_winograd" : "algorithm::convolution_winograd";
  for (const auto& [policy, layout] :
       {std::pair("", "Any"), std::pair("/nhwc", "ChannelsLast"), std::pair("/nchw", "Plain")}) {
    source.forms.push_back({fmt::format("*{}", policy), fmt::format("Describe({}, {})", direct, layout)});
    source.forms.push_back({fmt::format("*{}/winograd", policy), fmt::format("Describe({}, {})", winograd, layout)});
  }
  if (steps.empty() && IsMatrixProduct(config)) AddMatrixProduct(config, numbers, bias, source);

  const bool packed = config.weights == Constness::kConstant;
  const Range weights = RangeOf(types.weights, true);
  source.arguments.push_back(InputText("DNNL_ARG_SRC", RangeOf(types.input)));
  source.arguments.push_back(packed ? ConstantText("DNNL_ARG_WEIGHTS", weights)
                                    : InputText("DNNL_ARG_WEIGHTS", weights));
  if (config.bias) source.arguments.push_back(ConstantText("DNNL_ARG_BIAS", RangeOf(bias)));
  source.arguments.push_back(OutputText("DNNL_ARG_DST"));
  AddAttributeArguments(numbers, steps, config.output_channels, source);
  source.signed_input = types.input == DataType::kS8;
  // A region's result is an element-wise layer's, whose dimensions may be merged; variable weights are seen in another
  // order than the layer has them in.
  if (!steps.empty() || !packed) source.layouts.clear();
  return source;
}

}  // namespace infimum::emit
