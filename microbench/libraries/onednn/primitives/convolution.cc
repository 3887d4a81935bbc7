#include "convolution.h"

#include <algorithm>

#include "matmul.h"

namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

memory::dims OutputDims(const Convolution& layer) {
  memory::dims output{layer.in[0], layer.out_channels};
  const std::size_t rank = layer.kernel.size();
  for (std::size_t i = 0; i < rank; ++i) {
    const memory::dim reach = layer.dilation[i] * (layer.kernel[i] - 1) + 1;
    const memory::dim padding = layer.pad[i] + layer.pad[rank + i], input = layer.in[2 + i];
    output.push_back(layer.transposed ? layer.stride[i] * (input - 1) + reach - padding +
                                            (layer.output_pad.empty() ? 0 : layer.output_pad[i])
                                      : (input + padding - reach) / layer.stride[i] + 1);
  }
  return output;
}

// (groups,) output channels, input channels, kernel: oneDNN's order for both directions.
memory::dims WeightDims(const Convolution& layer) {
  memory::dims dims;
  if (layer.groups > 1) dims.push_back(layer.groups);
  dims.push_back(layer.out_channels / layer.groups);
  dims.push_back(layer.in[1] / layer.groups);
  dims.insert(dims.end(), layer.kernel.begin(), layer.kernel.end());
  return dims;
}

// A model's weights in that order: those of a transposed convolution have the input channels first.
memory::desc ModelWeights(const Convolution& layer) {
  const memory::dims dims = WeightDims(layer);
  if (!layer.transposed) return Plain(dims, layer.dtype.weights);
  memory::dim below = 1;
  for (const memory::dim extent : layer.kernel) below *= extent;
  const memory::dim outputs = layer.out_channels / layer.groups, inputs = layer.in[1] / layer.groups;
  memory::dims strides;
  if (layer.groups > 1) strides.push_back(inputs * outputs * below);
  strides.push_back(below);
  strides.push_back(outputs * below);
  for (const memory::dim extent : layer.kernel) strides.push_back(below /= extent);
  return memory::desc(dims, layer.dtype.weights, strides);
}

struct Windows {
  memory::dims dilation, before, after;
};

Windows WindowsOf(const Convolution& layer) {
  Windows windows;
  const memory::dims output = OutputDims(layer);
  const std::size_t rank = layer.kernel.size();
  for (std::size_t i = 0; i < rank; ++i) {
    windows.dilation.push_back(layer.dilation[i] - 1);
    windows.before.push_back(layer.pad[i]);
    // oneDNN wants the padding that its own output formula gives back, without what the stride leaves over.
    windows.after.push_back(layer.transposed
                                ? layer.pad[rank + i] - (layer.output_pad.empty() ? 0 : layer.output_pad[i])
                                : (output[2 + i] - 1) * layer.stride[i] + layer.dilation[i] * (layer.kernel[i] - 1) +
                                      1 - layer.in[2 + i] - layer.pad[i]);
  }
  return windows;
}

// Primitive: convolution_forward or deconvolution_forward.
template <class Primitive>
typename Primitive::primitive_desc Describe(const Convolution& layer, algorithm kind, Layout layout) {
  const Windows windows = WindowsOf(layer);
  const memory::desc input = layout(layer.in, layer.dtype.input);
  const memory::desc output = layout(OutputDims(layer), layer.dtype.output);
  const memory::desc weights =
      layer.weights == "const" ? Any(WeightDims(layer), layer.dtype.weights) : ModelWeights(layer);
  const dnnl::primitive_attr attributes = Attributes(layer.scaling, layer.groups > 1 ? 3 : 1, layer.steps);
  // The library takes the empty descriptor for no bias.
  const memory::desc bias =
      layer.bias ? Plain({layer.out_channels}, BiasType(layer.dtype, layer.scaling)) : memory::desc();
  return typename Primitive::primitive_desc(Cpu(), prop_kind::forward_inference, kind, input, weights, bias, output,
                                            layer.stride, windows.dilation, windows.before, windows.after, attributes,
                                            /*allow_empty=*/true);
}

std::vector<Argument> ArgumentsOf(const Convolution& layer) {
  std::vector<Argument> arguments{Input(DNNL_ARG_SRC, 0, Plain(layer.in, layer.dtype.input))};
  const memory::desc weights = ModelWeights(layer);
  arguments.push_back(layer.weights == "const" ? Constant(DNNL_ARG_WEIGHTS, 1, weights)
                                               : UndeclaredInput(DNNL_ARG_WEIGHTS, 1, weights));
  if (layer.bias)
    arguments.push_back(Constant(DNNL_ARG_BIAS, 2, Plain({layer.out_channels}, BiasType(layer.dtype, layer.scaling))));
  arguments.push_back(Output(DNNL_ARG_DST, Plain(OutputDims(layer), layer.dtype.output)));
  AddAttributeArguments(layer.scaling, layer.steps, layer.out_channels, layer.bias ? 3 : 2, arguments);
  return arguments;
}

bool IsMatMul(const Convolution& layer) {
  const auto all = [](const memory::dims& numbers, memory::dim wanted) {
    return std::all_of(numbers.begin(), numbers.end(), [=](memory::dim number) { return number == wanted; });
  };
  return !layer.transposed && layer.groups == 1 && layer.in[0] == 1 && layer.steps.empty() && all(layer.kernel, 1) &&
         all(layer.stride, 1) && all(layer.pad, 0);
}

// Rows are pixels. With one image they are columns of the model's memory; with more it would take a copy.
MatMul PixelsByChannels(const Convolution& layer) {
  memory::dim pixels = 1;
  for (std::size_t i = 2; i < layer.in.size(); ++i) pixels *= layer.in[i];
  MatMul product;
  product.dtype = layer.dtype;
  product.a = {pixels, layer.in[1]};
  product.b = {layer.in[1], layer.out_channels};
  product.bias = layer.bias ? "column" : "no";
  product.weights = layer.weights;
  product.scaling = layer.scaling;
  product.a_layout = product.b_layout = product.result_layout = Transposed;
  return product;
}

}  // namespace

std::vector<Form> FormsOf(const Convolution& layer) {
  struct Policy {
    const char* name;
    Layout layout;
  };
  std::vector<Form> forms;
  for (const Policy& policy : {Policy{"", Any}, Policy{"nhwc", ChannelsLast}, Policy{"nchw", Plain}}) {
    for (const bool winograd : {false, true}) {
      std::string name = policy.name;
      if (winograd) name += name.empty() ? "winograd" : "/winograd";
      if (layer.transposed) {
        const algorithm kind = winograd ? algorithm::deconvolution_winograd : algorithm::deconvolution_direct;
        forms.push_back(MakeForm("", name, ArgumentsOf(layer), [layer, kind, layout = policy.layout] {
          return Describe<dnnl::deconvolution_forward>(layer, kind, layout);
        }));
      } else {
        const algorithm kind = winograd ? algorithm::convolution_winograd : algorithm::convolution_direct;
        forms.push_back(MakeForm("", name, ArgumentsOf(layer), [layer, kind, layout = policy.layout] {
          return Describe<dnnl::convolution_forward>(layer, kind, layout);
        }));
      }
    }
  }
  if (!IsMatMul(layer)) return forms;
  for (Form& form : MatMulForms(PixelsByChannels(layer), "convolution-as-matmul/")) forms.push_back(std::move(form));
  return forms;
}

}  // namespace onednn
