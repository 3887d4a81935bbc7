#include "recurrent.h"

namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using dnnl::rnn_direction;

// directions x (gates x hidden) x inputs, as a model has them, seen in oneDNN's order.
memory::desc ModelGates(const memory::dims& dims, memory::data_type type) {
  const memory::dim inputs = dims[2], gates = dims[3], hidden = dims[4];
  return memory::desc(dims, type,
                      {dims[1] * gates * hidden * inputs, gates * hidden * inputs, 1, hidden * inputs, inputs});
}

dnnl::primitive_desc DescribeRecurrent(const Recurrent& layer) {
  const RecurrentDims dims = DimsOf(layer);
  const Layout packed = layer.weights == "const" ? Any : Plain;
  const memory::desc input = Plain(dims.input, layer.dtype.input), output = Plain(dims.output, layer.dtype.output);
  const memory::desc weights = packed(dims.weights, layer.dtype.weights);
  const memory::desc recurrent = packed(dims.recurrent, layer.dtype.weights);
  const memory::desc bias = Plain(dims.bias, memory::data_type::f32);
  const memory::desc none;  // the states are zero, and nobody reads the last
  const dnnl::primitive_attr attributes = PlainAttributes();
  const prop_kind inference = prop_kind::forward_inference;
  const rnn_direction direction =
      layer.directions == 2 ? rnn_direction::bidirectional_concat : rnn_direction::unidirectional_left2right;
  if (layer.kind == "lstm") {
    return dnnl::lstm_forward::primitive_desc(Cpu(), inference, direction, input, none, none, weights, recurrent, bias,
                                              output, none, none, attributes, /*allow_empty=*/true);
  }
  if (layer.kind == "gru") {
    return dnnl::gru_forward::primitive_desc(Cpu(), inference, direction, input, none, weights, recurrent, bias, output,
                                             none, attributes, /*allow_empty=*/true);
  }
  if (layer.kind == "gru_linear_before_reset") {
    return dnnl::lbr_gru_forward::primitive_desc(Cpu(), inference, direction, input, none, weights, recurrent, bias,
                                                 output, none, attributes, /*allow_empty=*/true);
  }
  const algorithm activation = layer.kind == "rnn_tanh" ? algorithm::eltwise_tanh : algorithm::eltwise_relu;
  return dnnl::vanilla_rnn_forward::primitive_desc(Cpu(), inference, activation, direction, input, none, weights,
                                                   recurrent, bias, output, none, attributes, /*allow_empty=*/true);
}

}  // namespace

RecurrentDims DimsOf(const Recurrent& layer) {
  const bool linear_before_reset = layer.kind == "gru_linear_before_reset";
  const memory::dim gates = layer.kind == "lstm" ? 4 : layer.kind == "gru" || linear_before_reset ? 3 : 1;
  return {{layer.sequence, layer.batch, layer.input},
          {1, layer.directions, layer.input, gates, layer.hidden},
          {1, layer.directions, layer.hidden, gates, layer.hidden},
          {1, layer.directions, gates + (linear_before_reset ? 1 : 0), layer.hidden},
          {layer.sequence, layer.batch, layer.directions * layer.hidden}};
}

std::vector<Form> FormsOf(const Recurrent& layer) {
  const memory::data_type type = layer.dtype.input;
  if (IsInteger(type) || layer.dtype.weights != type || layer.dtype.output != type) return {};
  const RecurrentDims dims = DimsOf(layer);
  const std::vector<Argument> arguments{Input(DNNL_ARG_SRC_LAYER, 0, Plain(dims.input, type)),
                                        Constant(DNNL_ARG_WEIGHTS_LAYER, 1, ModelGates(dims.weights, type)),
                                        Constant(DNNL_ARG_WEIGHTS_ITER, 2, ModelGates(dims.recurrent, type)),
                                        Constant(DNNL_ARG_BIAS, 3, Plain(dims.bias, memory::data_type::f32)),
                                        Output(DNNL_ARG_DST_LAYER, Plain(dims.output, type))};
  return {MakeForm("", "", arguments, [layer] { return DescribeRecurrent(layer); })};
}

}  // namespace onednn
