#include "pointwise.h"

#include <algorithm>

namespace onednn {
namespace {

using dnnl::algorithm;

struct EltwiseRow {
  const char* kind;
  algorithm eltwise;
  double alpha = 0, beta = 0;
  // Where a parameter is a value of the layer.
  double EltwiseValues::*alpha_value = nullptr;
  double EltwiseValues::*beta_value = nullptr;
};

constexpr EltwiseRow kEltwise[] = {
    {"relu", algorithm::eltwise_relu},
    {"leaky_relu", algorithm::eltwise_relu, 0, 0, &EltwiseValues::leaky_slope},
    {"elu", algorithm::eltwise_elu, 0, 0, &EltwiseValues::elu_alpha},
    {"celu", algorithm::eltwise_elu, 0, 0, &EltwiseValues::elu_alpha},
    {"tanh", algorithm::eltwise_tanh},
    {"square", algorithm::eltwise_square},
    {"cube", algorithm::eltwise_pow, 1, 3},
    {"absolute", algorithm::eltwise_abs},
    {"square_root", algorithm::eltwise_sqrt},
    {"swish", algorithm::eltwise_swish, 1},
    {"quick_gelu", algorithm::eltwise_swish, 0, 0, &EltwiseValues::quick_gelu_alpha},
    {"negative", algorithm::eltwise_linear, -1},
    {"clip", algorithm::eltwise_clip, 0, 0, &EltwiseValues::clip_low, &EltwiseValues::clip_high},
    {"sigmoid", algorithm::eltwise_logistic},
    {"exponential", algorithm::eltwise_exp},
    {"logarithm", algorithm::eltwise_log},
    {"reciprocal", algorithm::eltwise_pow, 1, -1},
    {"gelu_erf", algorithm::eltwise_gelu_erf},
    {"gelu_tanh", algorithm::eltwise_gelu_tanh},
    {"mish", algorithm::eltwise_mish},
    {"hard_swish", algorithm::eltwise_hardswish, 1.0 / 6, 0.5},
    {"hard_sigmoid", algorithm::eltwise_hardsigmoid, 0, 0, &EltwiseValues::hard_sigmoid_alpha,
     &EltwiseValues::hard_sigmoid_beta},
    {"softplus", algorithm::eltwise_soft_relu, 1},
    {"round", algorithm::eltwise_round},
};

struct BinaryRow {
  const char* kind;
  algorithm binary;
};

constexpr BinaryRow kBinary[] = {
    {"add", algorithm::binary_add},
    {"subtract", algorithm::binary_sub},
    {"multiply", algorithm::binary_mul},
    {"divide", algorithm::binary_div},
    {"minimum", algorithm::binary_min},
    {"maximum", algorithm::binary_max},
    {"equal", algorithm::binary_eq},
    {"greater", algorithm::binary_gt},
    {"greater_or_equal", algorithm::binary_ge},
    {"less", algorithm::binary_lt},
    {"less_or_equal", algorithm::binary_le},
};

std::vector<Form> EltwiseForms(const Pointwise& layer, const Step& step) {
  if (layer.in.size() != 1 || layer.in[0].empty()) return {};
  const memory::desc input = Plain(layer.in[0], layer.dtype.input), output = Plain(layer.in[0], layer.dtype.output);
  return {MakeForm("", "", {Input(DNNL_ARG_SRC, 0, input), Output(DNNL_ARG_DST, output)}, [=] {
    return dnnl::eltwise_forward::primitive_desc(Cpu(), dnnl::prop_kind::forward_inference, step.algorithm, input,
                                                 output, step.alpha, step.beta, PlainAttributes(),
                                                 /*allow_empty=*/true);
  })};
}

memory::dims WithRank(const memory::dims& dims, std::size_t rank) {
  memory::dims result(rank - dims.size(), 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}

dnnl::primitive_attr SumAttributes(const ScaledSum& sum) {
  dnnl::primitive_attr attributes = PlainAttributes();
  attributes.set_scales_mask(DNNL_ARG_SRC_0, 0);
  attributes.set_scales_mask(DNNL_ARG_SRC_1, 0);
  dnnl::post_ops steps;
  steps.append_eltwise(algorithm::eltwise_linear, 1, sum.shift);
  attributes.set_post_ops(steps);
  return attributes;
}

bool Commutes(algorithm kind) {
  return kind == algorithm::binary_add || kind == algorithm::binary_mul || kind == algorithm::binary_min ||
         kind == algorithm::binary_max || kind == algorithm::binary_eq;
}

// An image and a number for each of its channels: with the channels last too, as convolutions like them (the library
// refuses blocks of them here). Operands of one shape may lie in any order that is the same for both.
bool IsChannelwise(const memory::dims& first, const memory::dims& second, const memory::dims& output) {
  const memory::dims& smaller = first == output ? second : first;
  if ((first == output) == (second == output) || output.size() < 3 || output[1] == 1) return false;
  return smaller[1] == output[1] &&
         std::all_of(smaller.begin() + 2, smaller.end(), [](memory::dim extent) { return extent == 1; });
}

std::vector<Form> BinaryForms(const Pointwise& layer, algorithm kind) {
  if (layer.in.size() != 2) return {};
  std::size_t rank = std::max(layer.in[0].size(), layer.in[1].size());
  if (rank == 0 || rank > 6) return {};
  if (rank == 2) rank = 3;  // channels and pixels of one image
  const memory::dims first_dims = WithRank(layer.in[0], rank), second_dims = WithRank(layer.in[1], rank);
  memory::dims output_dims = first_dims;
  for (std::size_t i = 0; i < rank; ++i)
    if (output_dims[i] == 1) output_dims[i] = second_dims[i];
  const bool one_type = layer.dtype.weights == memory::data_type::undef;
  const memory::data_type second_type = one_type ? layer.dtype.input : layer.dtype.weights;
  // The library broadcasts its second operand.
  const bool swaps = Commutes(kind) && !layer.scaled_sum && first_dims != output_dims && second_dims == output_dims;
  std::vector<Argument> arguments{
      Input(swaps ? DNNL_ARG_SRC_1 : DNNL_ARG_SRC_0, 0, Plain(first_dims, layer.dtype.input)),
      Input(swaps ? DNNL_ARG_SRC_0 : DNNL_ARG_SRC_1, 1, Plain(second_dims, second_type)),
      Output(DNNL_ARG_DST, Plain(output_dims, layer.dtype.output))};
  const std::optional<ScaledSum>& sum = layer.scaled_sum;
  if (sum) {
    arguments.push_back(Numbers(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC_0, {sum->first}));
    arguments.push_back(Numbers(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC_1, {sum->second}));
  }
  std::vector<Form> forms;
  const auto add = [&](const char* name, Layout image) {
    const auto described = [&](const memory::dims& dims, memory::data_type type) {
      return dims == output_dims ? image(dims, type) : Plain(dims, type);
    };
    const memory::desc first = described(first_dims, layer.dtype.input), second = described(second_dims, second_type),
                       output = described(output_dims, layer.dtype.output);
    forms.push_back(MakeForm("", name, arguments, [=] {
      return dnnl::binary::primitive_desc(Cpu(), kind, swaps ? second : first, swaps ? first : second, output,
                                          sum ? SumAttributes(*sum) : PlainAttributes(), /*allow_empty=*/true);
    }));
  };
  add("", Plain);
  if (IsChannelwise(first_dims, second_dims, output_dims)) add("nhwc", ChannelsLast);
  return forms;
}

}  // namespace

std::optional<Step> FindEltwise(std::string_view kind, const EltwiseValues& values) {
  for (const EltwiseRow& row : kEltwise) {
    if (kind != row.kind) continue;
    // The same function for this alpha alone.
    if (kind == "celu" && values.elu_alpha != 1) return std::nullopt;
    const double alpha = row.alpha_value != nullptr ? values.*row.alpha_value : row.alpha;
    const double beta = row.beta_value != nullptr ? values.*row.beta_value : row.beta;
    return Step{row.eltwise, static_cast<float>(alpha), static_cast<float>(beta)};
  }
  return std::nullopt;
}

std::optional<algorithm> FindBinary(std::string_view kind) {
  for (const BinaryRow& row : kBinary)
    if (kind == row.kind) return row.binary;
  return std::nullopt;
}

std::vector<Form> FormsOf(const Pointwise& layer) {
  if (const auto step = FindEltwise(layer.kind, layer.values)) return EltwiseForms(layer, *step);
  if (const auto kind = FindBinary(layer.kind)) return BinaryForms(layer, *kind);
  return {};
}

}  // namespace onednn
