#include "normalization.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "pooling.h"

namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::normalization_flags;
using dnnl::prop_kind;

normalization_flags FlagsOf(const Normalization& layer, normalization_flags flags) {
  if (layer.scale) flags |= normalization_flags::use_scale;
  if (layer.bias) flags |= normalization_flags::use_shift;
  return flags;
}

// Operands: input, then scale, bias, mean, variance as far as the layer has them. `length`: of these vectors.
std::vector<Argument> NormalizationArguments(const Normalization& layer, const memory::dims& input, memory::dim length,
                                             bool statistics) {
  std::vector<Argument> arguments{Input(DNNL_ARG_SRC, 0, Plain(input, layer.dtype.input))};
  std::size_t operand = 1;
  const auto add = [&](int id) {
    arguments.push_back(Constant(id, operand++, Plain({length}, memory::data_type::f32)));
  };
  if (layer.scale) add(DNNL_ARG_SCALE);
  if (layer.bias) add(DNNL_ARG_SHIFT);
  if (statistics) {
    add(DNNL_ARG_MEAN);
    add(DNNL_ARG_VARIANCE);
  }
  arguments.push_back(Output(DNNL_ARG_DST, Plain(input, layer.dtype.output)));
  return arguments;
}

// Images in three layouts. The input's is never left to the library, which computes in the layout that it is given.
template <class Describe>
std::vector<Form> ImageForms(const Normalization& layer, const std::vector<Argument>& arguments, Describe describe) {
  std::vector<Form> forms;
  const auto add = [&](const char* name, Layout input, Layout output) {
    forms.push_back(MakeForm("", name, arguments, [layer, describe, input, output] {
      return describe(input(layer.in, layer.dtype.input), output(layer.in, layer.dtype.output));
    }));
  };
  if (layer.in.size() == 4) add("", Blocked8, Any);
  add("nhwc", ChannelsLast, ChannelsLast);
  add("nchw", Plain, Plain);
  return forms;
}

std::vector<Form> BatchForms(const Normalization& layer) {
  if (layer.axis != 1 || layer.in.size() < 2 || layer.dtype.weights != memory::data_type::f32) return {};
  return ImageForms(layer, NormalizationArguments(layer, layer.in, layer.in[1], true),
                    [layer](const memory::desc& input, const memory::desc& output) {
                      return dnnl::batch_normalization_forward::primitive_desc(
                          Cpu(), prop_kind::forward_inference, input, output, layer.epsilon,
                          FlagsOf(layer, normalization_flags::use_global_stats),
                          layer.steps.empty() ? PlainAttributes() : Attributes({}, 0, layer.steps),
                          /*allow_empty=*/true);
                    });
}

std::vector<Form> RowForms(const Normalization& layer) {
  if (layer.dtype.weights != memory::data_type::f32 && (layer.scale || layer.bias)) return {};
  memory::dims rows{1, 1};
  for (std::size_t i = 0; i < layer.in.size(); ++i)
    rows[static_cast<memory::dim>(i) < layer.axis ? 0 : 1] *= layer.in[i];
  return {MakeForm("", "", NormalizationArguments(layer, rows, rows[1], false), [layer, rows] {
    return dnnl::layer_normalization_forward::primitive_desc(
        Cpu(), prop_kind::forward_inference, Plain(rows, layer.dtype.input), Plain(rows, layer.dtype.output),
        layer.epsilon, FlagsOf(layer, normalization_flags::none), PlainAttributes(), /*allow_empty=*/true);
  })};
}

std::vector<Form> ResponseForms(const Normalization& layer) {
  // oneDNN's window reaches as far to both sides; ONNX's even window does not.
  if (layer.size % 2 == 0 || layer.in.size() != 4) return {};
  return ImageForms(layer, NormalizationArguments(layer, layer.in, 1, false),
                    [layer](const memory::desc& input, const memory::desc& output) {
                      return dnnl::lrn_forward::primitive_desc(
                          Cpu(), prop_kind::forward_inference, algorithm::lrn_across_channels, input, output,
                          layer.size, layer.response_alpha, layer.response_beta, layer.response_k, PlainAttributes(),
                          /*allow_empty=*/true);
                    });
}

std::optional<algorithm> ReductionAlgorithm(const std::string& kind) {
  if (kind == "sum") return algorithm::reduction_sum;
  if (kind == "mean") return algorithm::reduction_mean;
  if (kind == "max") return algorithm::reduction_max;
  if (kind == "min") return algorithm::reduction_min;
  if (kind == "product") return algorithm::reduction_mul;
  return std::nullopt;
}

// Over all of each channel's image: a pooling with one window, which knows the layouts of convolutions. Its pixels
// stand in one column, since the generated code repeats itself for each pixel of a row: of 3,136 in a row it is fast
// while it is repeated by itself, and must be fetched from memory in a model.
std::vector<Form> PoolingForms(const Reduction& layer, const memory::dims& reduced) {
  if (layer.kind != "mean") return {};  // the largest of a window is no NaN where a reduction's is
  memory::dims image = layer.in, result = reduced;
  if (image.size() == 2) {  // channels and pixels of one image
    image.insert(image.begin(), 1);
    result.insert(result.begin(), 1);
  }
  if (image.size() < 3 || result[0] != image[0] || result[1] != image[1]) return {};
  if (std::any_of(result.begin() + 2, result.end(), [](memory::dim extent) { return extent != 1; })) return {};
  memory::dim pixels = 1;
  for (std::size_t i = 2; i < image.size(); ++i) pixels *= image[i];
  Pooling pooling{.kind = "average",
                  .dtype = layer.dtype,
                  .in = {image[0], image[1], pixels, 1},
                  .out = {image[0], image[1], 1, 1},
                  .kernel = {pixels, 1},
                  .stride = {1, 1},
                  .dilation = {1, 1},
                  .pad = {0, 0, 0, 0}};
  std::vector<Form> forms = FormsOf(pooling);
  for (Form& form : forms) form.prefix = "reduction-as-pooling/";
  return forms;
}

}  // namespace

std::vector<Form> FormsOf(const Normalization& layer) {
  if (layer.kind == "batch") return BatchForms(layer);
  if (layer.kind == "layer") return RowForms(layer);
  if (layer.kind == "lrn") return ResponseForms(layer);
  return {};
}

std::vector<Form> FormsOf(const Softmax& layer) {
  if (layer.kind != "softmax" && layer.kind != "log_softmax") return {};
  const algorithm kind = layer.kind == "softmax" ? algorithm::softmax_accurate : algorithm::softmax_log;
  const memory::desc input = Plain(layer.in, layer.dtype.input), output = Plain(layer.in, layer.dtype.output);
  return {MakeForm("", "", {Input(DNNL_ARG_SRC, 0, input), Output(DNNL_ARG_DST, output)}, [=] {
    return dnnl::softmax_forward::primitive_desc(Cpu(), prop_kind::forward_inference, kind, input, output,
                                                 static_cast<int>(layer.axis), PlainAttributes(),
                                                 /*allow_empty=*/true);
  })};
}

std::vector<Form> FormsOf(const Reduction& layer) {
  const std::optional<algorithm> kind = ReductionAlgorithm(layer.kind);
  // Its arithmetic is f32, which does not hold every integer.
  if (!kind || layer.in.empty() || layer.in.size() > 6 || IsInteger(layer.dtype.input) ||
      IsInteger(layer.dtype.output)) {
    return {};
  }
  memory::dims reduced = layer.in;
  for (const memory::dim axis : layer.axes) reduced[static_cast<std::size_t>(axis)] = 1;
  if (reduced == layer.in) return {};  // nothing is reduced, which oneDNN refuses
  const memory::desc input = Plain(layer.in, layer.dtype.input), output = Plain(reduced, layer.dtype.output);
  std::vector<Form> forms;
  forms.push_back(MakeForm("", "", {Input(DNNL_ARG_SRC, 0, input), Output(DNNL_ARG_DST, output)}, [=] {
    return dnnl::reduction::primitive_desc(Cpu(), *kind, input, output, 0.0F, 0.0F, PlainAttributes(),
                                           /*allow_empty=*/true);
  }));
  std::ranges::move(PoolingForms(layer, reduced), std::back_inserter(forms));
  return forms;
}

}  // namespace onednn
