#include "matmul.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace onednn {
namespace {

using dnnl::prop_kind;

bool IsPacked(const MatMul& layer) { return layer.weights == "const"; }
bool HasBias(const MatMul& layer) { return layer.bias != "no"; }

memory::dim Rows(const MatMul& layer) { return layer.a[layer.a.size() - 2]; }
memory::dim Depth(const MatMul& layer) { return layer.a.back(); }
memory::dim Columns(const MatMul& layer) { return layer.b.back(); }

memory::dims ResultDims(const MatMul& layer) {
  memory::dims result = layer.a;
  for (std::size_t i = 0; i + 2 < result.size(); ++i)
    if (result[i] == 1) result[i] = layer.b[i];
  result.back() = Columns(layer);
  return result;
}

memory::dims Swapped(memory::dims dims) {
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return dims;
}

// Without a bias the empty descriptor, which the library takes for none.
memory::desc Bias(const MatMul& layer, const memory::dims& dims) {
  return HasBias(layer) ? Plain(dims, BiasType(layer.dtype, layer.scaling)) : memory::desc();
}

memory::dims BiasDims(const MatMul& layer) {
  memory::dims dims = ResultDims(layer);
  if (layer.bias != "full") std::fill(dims.begin(), dims.end() - 1, 1);
  return dims;
}

// As a primitive sees them.
struct Matrices {
  memory::desc a, b, bias, result;
};

std::vector<Argument> ArgumentsOf(const MatMul& layer, const Matrices& matrices) {
  std::vector<Argument> arguments{Input(DNNL_ARG_SRC, 0, matrices.a)};
  arguments.push_back(IsPacked(layer) ? Constant(DNNL_ARG_WEIGHTS, 1, matrices.b)
                                      : Input(DNNL_ARG_WEIGHTS, 1, matrices.b));
  if (layer.bias == "column") arguments.push_back(Constant(DNNL_ARG_BIAS, 2, matrices.bias));
  if (layer.bias == "full") arguments.push_back(UndeclaredInput(DNNL_ARG_BIAS, 2, matrices.bias));
  arguments.push_back(Output(DNNL_ARG_DST, matrices.result));
  AddAttributeArguments(layer.scaling, layer.steps, Columns(layer), HasBias(layer) ? 3 : 2, arguments);
  return arguments;
}

dnnl::matmul::primitive_desc Describe(const MatMul& layer, const memory::desc& a, const memory::desc& b,
                                      const memory::desc& result) {
  const dnnl::primitive_attr attributes = Attributes(layer.scaling, 1 << (layer.a.size() - 1), layer.steps);
  const memory::desc bias = Bias(layer, BiasDims(layer));
  return dnnl::matmul::primitive_desc(Cpu(), a, b, bias, result, attributes, /*allow_empty=*/true);
}

// The other primitives compute unbatched products with packed weights.
bool HasOtherPrimitives(const MatMul& layer) {
  if (!IsPacked(layer) || layer.bias == "full") return false;
  for (std::size_t i = 0; i + 2 < layer.a.size(); ++i)
    if (layer.a[i] != 1 || layer.b[i] != 1) return false;
  return true;
}

dnnl::inner_product_forward::primitive_desc DescribeInnerProduct(const MatMul& layer, Layout layout) {
  const memory::desc a = layout({Rows(layer), Depth(layer)}, layer.dtype.input);
  const memory::desc weights = Any({Columns(layer), Depth(layer)}, layer.dtype.weights);
  const memory::desc result = layout({Rows(layer), Columns(layer)}, layer.dtype.output);
  const dnnl::primitive_attr attributes = Attributes(layer.scaling, 1, layer.steps);
  return dnnl::inner_product_forward::primitive_desc(Cpu(), prop_kind::forward_inference, a, weights,
                                                     Bias(layer, {Columns(layer)}), result, attributes,
                                                     /*allow_empty=*/true);
}

void AddInnerProducts(MatMul layer, std::vector<Form>& forms) {
  // The batch of one is left out, of the steps' operands too.
  for (Step& step : layer.steps)
    if (step.binary()) step.dims.erase(step.dims.begin(), step.dims.end() - 2);
  const Matrices matrices{Plain({Rows(layer), Depth(layer)}, layer.dtype.input),
                          Transposed({Columns(layer), Depth(layer)}, layer.dtype.weights),
                          Bias(layer, {Columns(layer)}), Plain({Rows(layer), Columns(layer)}, layer.dtype.output)};
  for (const auto& [name, layout] : {std::pair("", Layout(Any)), std::pair("plain", Layout(Plain))}) {
    forms.push_back(MakeForm("matmul-as-inner-product/", name, ArgumentsOf(layer, matrices),
                             [layer, layout = layout] { return DescribeInnerProduct(layer, layout); }));
  }
}

// Rows are the pixels, columns the output channels of a 1x1 convolution of one image.
dnnl::convolution_forward::primitive_desc DescribeConvolution(const MatMul& layer, Layout layout) {
  const memory::desc image = layout({1, Depth(layer), Rows(layer), 1}, layer.dtype.input);
  const memory::desc weights = Any({Columns(layer), Depth(layer), 1, 1}, layer.dtype.weights);
  const memory::desc result = layout({1, Columns(layer), Rows(layer), 1}, layer.dtype.output);
  const dnnl::primitive_attr attributes = Attributes(layer.scaling, 1, layer.steps);
  const memory::dims one{1, 1}, none{0, 0};
  return dnnl::convolution_forward::primitive_desc(Cpu(), prop_kind::forward_inference,
                                                   dnnl::algorithm::convolution_direct, image, weights,
                                                   Bias(layer, {Columns(layer)}), result, one, none, none, attributes,
                                                   /*allow_empty=*/true);
}

void AddConvolutions(const MatMul& layer, std::vector<Form>& forms) {
  for (const Step& step : layer.steps)
    if (step.binary()) return;
  const memory::desc weights({Columns(layer), Depth(layer), 1, 1}, layer.dtype.weights,
                             memory::dims{1, Columns(layer), 1, 1});
  const Matrices matrices{ChannelsLast({1, Depth(layer), Rows(layer), 1}, layer.dtype.input), weights,
                          Bias(layer, {Columns(layer)}),
                          ChannelsLast({1, Columns(layer), Rows(layer), 1}, layer.dtype.output)};
  for (const auto& [name, layout] : {std::pair("", Layout(Any)), std::pair("plain", Layout(ChannelsLast))}) {
    forms.push_back(MakeForm("matmul-as-convolution/", name, ArgumentsOf(layer, matrices),
                             [layer, layout = layout] { return DescribeConvolution(layer, layout); }));
  }
}

// C^T = B^T A^T, with the result transposed in memory or not.
void AddTransposed(const MatMul& layer, std::vector<Form>& forms) {
  // Scales and zero points would belong to the other side.
  if (HasBias(layer) || !layer.steps.empty() || IsInteger(layer.dtype.input)) return;
  const memory::desc a = Transposed(Swapped(layer.a), layer.dtype.input);
  const memory::dims result = Swapped(ResultDims(layer));
  const memory::desc model_b = Transposed(Swapped(layer.b), layer.dtype.weights);
  const memory::desc b = IsPacked(layer) ? Any(Swapped(layer.b), layer.dtype.weights) : model_b;
  const std::vector<Argument> arguments{
      Input(DNNL_ARG_WEIGHTS, 0, a),
      IsPacked(layer) ? Constant(DNNL_ARG_SRC, 1, model_b) : Input(DNNL_ARG_SRC, 1, model_b),
      Output(DNNL_ARG_DST, Transposed(result, layer.dtype.output))};
  for (const auto& [name, layout] :
       {std::pair("", Layout(Transposed)), std::pair("transposed-output", Layout(Plain))}) {
    const memory::desc c = layout(result, layer.dtype.output);
    forms.push_back(MakeForm("matmul-transposed/", name, arguments, [a, b, c] {
      return dnnl::matmul::primitive_desc(Cpu(), b, a, c, PlainAttributes(), /*allow_empty=*/true);
    }));
  }
}

}  // namespace

std::vector<Form> MatMulForms(const MatMul& layer, const std::string& prefix) {
  const memory::dims result = ResultDims(layer);
  const std::vector<Argument> arguments =
      ArgumentsOf(layer, {layer.a_layout(layer.a, layer.dtype.input), layer.b_layout(layer.b, layer.dtype.weights),
                          Bias(layer, BiasDims(layer)), layer.result_layout(result, layer.dtype.output)});
  std::vector<Form> forms;
  const auto add = [&](const char* name, Layout a, Layout b, Layout c) {
    forms.push_back(MakeForm(prefix, name, arguments, [layer, result, a, b, c] {
      return Describe(layer, a(layer.a, layer.dtype.input), b(layer.b, layer.dtype.weights),
                      c(result, layer.dtype.output));
    }));
  };
  if (IsPacked(layer)) {
    add("", Any, Any, Any);
    add("plain", Plain, Any, Plain);
    add("plain-b", Plain, Plain, Plain);
  } else {
    add("", Plain, Plain, Plain);
  }
  add("b-transposed", Plain, Transposed, Plain);
  return forms;
}

std::vector<Form> FormsOf(const MatMul& layer) {
  std::vector<Form> forms = MatMulForms(layer, "");
  if (HasOtherPrimitives(layer)) {
    AddInnerProducts(layer, forms);
    AddConvolutions(layer, forms);
  }
  AddTransposed(layer, forms);
  return forms;
}

}  // namespace onednn
