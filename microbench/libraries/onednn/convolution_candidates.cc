#include "microbench/libraries/onednn/convolution_candidates.h"

#include "infimum/layer/layer_config.h"
#include "microbench/libraries/onednn/program/implementations.h"
#include "microbench/libraries/onednn/program/product_attributes.h"

namespace infimum::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

std::int64_t KernelElements(const ConvolutionConfig& config) {
  std::int64_t product = 1;
  for (std::int64_t extent : config.kernel.dims) product *= extent;
  return product;
}

ProductValues ValuesOf(const ConvolutionConfig& config, const LayerValues& own) {
  return ProductValuesOf(config.types, config.input.dims[1] / config.groups * KernelElements(config), own);
}

// (groups,) output channels, input channels, kernel: oneDNN's order for both directions.
Shape LibraryWeightShape(const ConvolutionConfig& config) {
  Shape shape;
  if (config.groups > 1) shape.dims.push_back(config.groups);
  shape.dims.push_back(config.output_channels / config.groups);
  shape.dims.push_back(config.input.dims[1] / config.groups);
  shape.dims.insert(shape.dims.end(), config.kernel.dims.begin(), config.kernel.dims.end());
  return shape;
}

// How the model's weights lie in memory, seen in that order. A transposed convolution's have the input
// channels first.
memory::desc ModelWeightDesc(const ConvolutionConfig& config) {
  const Shape shape = LibraryWeightShape(config);
  if (!config.transposed) return PlainDesc(shape, config.types.weights);
  const std::int64_t kernel = KernelElements(config);
  const std::int64_t outputs = config.output_channels / config.groups;
  const std::int64_t inputs = config.input.dims[1] / config.groups;
  memory::dims strides;
  if (config.groups > 1) strides.push_back(inputs * outputs * kernel);
  strides.push_back(kernel);
  strides.push_back(outputs * kernel);
  std::int64_t below = kernel;
  for (std::int64_t extent : config.kernel.dims) strides.push_back(below /= extent);
  return memory::desc(shape.dims, LibraryType(config.types.weights), strides);
}

Result<PrimitiveCall> MakeCall(const ConvolutionConfig& config, const ProductValues& values, const Epilogue& epilogue,
                               const Problem& problem, const dnnl::primitive_desc_base& implementation) {
  PrimitiveCall call;
  call.implementation = implementation;
  call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], PlainDesc(config.input, config.types.input)});
  call.inputs.push_back(
      {DNNL_ARG_WEIGHTS, problem.operands[1], ModelWeightDesc(config), config.weights == Constness::kConstant});
  if (config.bias) {
    BindBias(values, *problem.operands[2], Shape{{config.output_channels}}, true, call);
  }
  call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(OutputShape(config), config.types.output)});
  BindProductVectors(values, config.output_channels, call);
  Bind(epilogue, problem, call);
  return call;
}

struct Layouts {
  memory::desc input, weights, bias, output;
};

dnnl::primitive_desc Describe(const ConvolutionConfig& config, algorithm kind, const Layouts& layouts,
                              const dnnl::primitive_attr& attributes) {
  const std::size_t rank = config.kernel.rank();
  memory::dims dilation, before, after;
  for (std::size_t i = 0; i < rank; ++i) {
    dilation.push_back(config.dilation.dims[i] - 1);
    before.push_back(config.padding[i]);
    std::int64_t end = config.padding[rank + i];
    if (config.transposed && !config.output_padding.empty()) end -= config.output_padding[i];
    after.push_back(end);
  }
  const memory::dims& stride = config.stride.dims;
  if (!config.transposed) {
    // oneDNN wants the padding that its own output formula gives back, without what the stride leaves over.
    const Shape output = OutputShape(config);
    for (std::size_t i = 0; i < rank; ++i) {
      after[i] = (output.dims[2 + i] - 1) * stride[i] + config.dilation.dims[i] * (config.kernel.dims[i] - 1) + 1 -
                 config.input.dims[2 + i] - before[i];
    }
    if (config.bias) {
      return dnnl::convolution_forward::primitive_desc(CpuEngine(), prop_kind::forward_inference, kind, layouts.input,
                                                       layouts.weights, layouts.bias, layouts.output, stride, dilation,
                                                       before, after, attributes, true);
    }
    return dnnl::convolution_forward::primitive_desc(CpuEngine(), prop_kind::forward_inference, kind, layouts.input,
                                                     layouts.weights, layouts.output, stride, dilation, before, after,
                                                     attributes, true);
  }
  if (config.bias) {
    return dnnl::deconvolution_forward::primitive_desc(CpuEngine(), prop_kind::forward_inference, kind, layouts.input,
                                                       layouts.weights, layouts.bias, layouts.output, stride, dilation,
                                                       before, after, attributes, true);
  }
  return dnnl::deconvolution_forward::primitive_desc(CpuEngine(), prop_kind::forward_inference, kind, layouts.input,
                                                     layouts.weights, layouts.output, stride, dilation, before, after,
                                                     attributes, true);
}

}  // namespace

std::vector<Offer> ConvolutionOffers(const ConvolutionConfig& config, const LayerValues& own,
                                     const Epilogue& epilogue) {
  for (const DataType type : {config.types.input, config.types.weights, config.types.output}) {
    if (LibraryType(type) == memory::data_type::undef) return {};
  }
  const ProductValues values = ValuesOf(config, own);
  if (!values.symmetric()) return {};
  const Shape output = OutputShape(config);
  const bool packed = config.weights == Constness::kConstant;
  const DataType bias_type =
      config.bias ? LibraryBiasType(values, OperandsOf(LayerConfig(config))[2].type) : DataType::kF32;
  if (LibraryType(bias_type) == memory::data_type::undef) return {};
  ImplementationWalk walk([=](const Problem& problem, const dnnl::primitive_desc_base& implementation) {
    return MakeCall(config, values, epilogue, problem, implementation);
  });
  struct Policy {
    const char* name;
    memory::desc (*desc)(const Shape&, DataType);
  };
  struct Kind {
    const char* name;
    algorithm forward, transposed;
  };
  for (const Policy& policy : {Policy{"", AnyDesc}, Policy{"nhwc", ChannelsLastDesc}, Policy{"nchw", PlainDesc}}) {
    for (const Kind& kind : {Kind{"", algorithm::convolution_direct, algorithm::deconvolution_direct},
                             Kind{"winograd", algorithm::convolution_winograd, algorithm::deconvolution_winograd}}) {
      std::string name = policy.name;
      if (*kind.name != '\0') name += (name.empty() ? "" : "/") + std::string(kind.name);
      walk.Add(name, [&]() -> dnnl::primitive_desc {
        dnnl::primitive_attr attributes = DefaultAttributes();
        SetProductAttributes(values, config.groups > 1 ? 3 : 1, attributes);
        Append(epilogue, attributes);
        const Layouts layouts{
            policy.desc(config.input, config.types.input),
            packed ? AnyDesc(LibraryWeightShape(config), config.types.weights) : ModelWeightDesc(config),
            PlainDesc(Shape{{config.output_channels}}, bias_type), policy.desc(output, config.types.output)};
        return Describe(config, config.transposed ? kind.transposed : kind.forward, layouts, attributes);
      });
    }
  }
  return walk.Take();
}

}  // namespace infimum::cpu
