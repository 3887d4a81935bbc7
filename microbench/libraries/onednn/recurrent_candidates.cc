#include "microbench/libraries/onednn/recurrent_candidates.h"

#include "microbench/libraries/onednn/program/implementations.h"

namespace infimum::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using dnnl::rnn_direction;

// The model's gate for each of the library's: LSTM i, o, f, c becomes i, f, c, o; GRU z, r, h stays.
std::vector<std::int64_t> GateOrder(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::kLstm:
      return {0, 2, 3, 1};
    case RecurrentKind::kGru:
    case RecurrentKind::kGruLinearBeforeReset:
      return {0, 1, 2};
    default:
      return {0};
  }
}

struct Shapes {
  Shape input, weights, recurrent, bias, output;
};

Shapes ShapesOf(const RecurrentConfig& c) {
  const std::int64_t gates = GateCount(c.kind);
  const std::int64_t bias_gates = gates + (c.kind == RecurrentKind::kGruLinearBeforeReset ? 1 : 0);
  return {Shape{{c.sequence, c.batch, c.input}}, Shape{{1, c.directions, c.input, gates, c.hidden}},
          Shape{{1, c.directions, c.hidden, gates, c.hidden}}, Shape{{1, c.directions, bias_gates, c.hidden}},
          Shape{{c.sequence, c.batch, c.directions * c.hidden}}};
}

// directions x gates x hidden x inputs with the gates in the library's order.
Result<std::shared_ptr<HostTensor>> OrderedWeights(const RecurrentConfig& c, const HostTensor& weights,
                                                   std::int64_t inputs) {
  INFIMUM_ASSIGN_OR_RETURN(HostTensor made, HostTensor::Make(weights.shape(), weights.type()));
  const std::vector<std::int64_t> order = GateOrder(c.kind);
  const auto gates = static_cast<std::int64_t>(order.size());
  const std::int64_t block = c.hidden * inputs;
  for (std::int64_t direction = 0; direction < c.directions; ++direction) {
    for (std::int64_t gate = 0; gate < gates; ++gate) {
      const std::int64_t from = (direction * gates + order[static_cast<std::size_t>(gate)]) * block;
      const std::int64_t to = (direction * gates + gate) * block;
      const int bytes = BytesPerElement(weights.type());
      std::copy_n(weights.As<char>() + from * bytes, block * bytes, made.As<char>() + to * bytes);
    }
  }
  return std::make_shared<HostTensor>(std::move(made));
}

// Input and recurrent biases summed; a linear-before-reset GRU keeps its hidden gate's apart.
Result<std::shared_ptr<HostTensor>> SummedBias(const RecurrentConfig& c, const HostTensor* bias) {
  const Shapes shapes = ShapesOf(c);
  INFIMUM_ASSIGN_OR_RETURN(HostTensor made, HostTensor::Make(shapes.bias, DataType::kF32));
  const std::vector<std::int64_t> order = GateOrder(c.kind);
  const auto gates = static_cast<std::int64_t>(order.size());
  const bool apart = c.kind == RecurrentKind::kGruLinearBeforeReset;
  for (std::int64_t direction = 0; bias != nullptr && direction < c.directions; ++direction) {
    for (std::int64_t gate = 0; gate < gates + (apart ? 1 : 0); ++gate) {
      const std::int64_t source = gate < gates ? order[static_cast<std::size_t>(gate)] : gates - 1;
      for (std::int64_t unit = 0; unit < c.hidden; ++unit) {
        const std::int64_t from_input = (direction * 2 * gates + source) * c.hidden + unit;
        const std::int64_t from_state = from_input + gates * c.hidden;
        double value = 0;
        if (!apart || gate < gates - 1) value = bias->Get(from_input) + bias->Get(from_state);
        if (apart && gate == gates - 1) value = bias->Get(from_input);
        if (apart && gate == gates) value = bias->Get(from_state);
        made.Set((direction * shapes.bias.dims[2] + gate) * c.hidden + unit, value);
      }
    }
  }
  return std::make_shared<HostTensor>(std::move(made));
}

// directions x (gates x hidden) x inputs as the model has it, seen as 1 x directions x inputs x gates x hidden.
memory::desc ModelWeights(const Shape& shape, DataType type) {
  const std::int64_t inputs = shape.dims[2], gates = shape.dims[3], hidden = shape.dims[4];
  return memory::desc(shape.dims, LibraryType(type),
                      {shape.dims[1] * gates * hidden * inputs, gates * hidden * inputs, 1, hidden * inputs, inputs});
}

Result<PrimitiveCall> MakeCall(const RecurrentConfig& c, const Problem& problem,
                               const dnnl::primitive_desc_base& implementation) {
  const Shapes shapes = ShapesOf(c);
  PrimitiveCall call;
  call.implementation = implementation;
  INFIMUM_ASSIGN_OR_RETURN(std::shared_ptr<HostTensor> weights, OrderedWeights(c, *problem.operands[1], c.input));
  INFIMUM_ASSIGN_OR_RETURN(std::shared_ptr<HostTensor> recurrent, OrderedWeights(c, *problem.operands[2], c.hidden));
  INFIMUM_ASSIGN_OR_RETURN(std::shared_ptr<HostTensor> bias, SummedBias(c, c.bias ? problem.operands[3] : nullptr));
  call.owned = {weights, recurrent, bias};
  call.inputs.push_back({DNNL_ARG_SRC_LAYER, problem.operands[0], PlainDesc(shapes.input, c.types.input)});
  call.inputs.push_back({DNNL_ARG_WEIGHTS_LAYER, weights.get(), ModelWeights(shapes.weights, c.types.weights), true});
  call.inputs.push_back(
      {DNNL_ARG_WEIGHTS_ITER, recurrent.get(), ModelWeights(shapes.recurrent, c.types.weights), true});
  call.inputs.push_back({DNNL_ARG_BIAS, bias.get(), PlainDesc(shapes.bias, DataType::kF32), true});
  HostTensor* const output = problem.outputs[0];
  if (c.directions == 1) {
    call.outputs.push_back({DNNL_ARG_DST_LAYER, output, PlainDesc(shapes.output, c.types.output)});
    return call;
  }
  // Both directions lie side by side here, one after the other in the model.
  INFIMUM_ASSIGN_OR_RETURN(HostTensor made, HostTensor::Make(shapes.output, output->type()));
  auto together = std::make_shared<HostTensor>(std::move(made));
  call.owned.push_back(together);
  call.outputs.push_back({DNNL_ARG_DST_LAYER, together.get(), PlainDesc(shapes.output, c.types.output)});
  call.after_unpack = [c, together, output] {
    const int bytes = BytesPerElement(output->type());
    for (std::int64_t i = 0; i < c.sequence * c.batch * c.directions; ++i) {
      const std::int64_t direction = i % c.directions, batch = i / c.directions % c.batch;
      const std::int64_t step = i / c.directions / c.batch;
      const std::int64_t to = ((step * c.directions + direction) * c.batch + batch) * c.hidden;
      std::copy_n(together->As<char>() + i * c.hidden * bytes, c.hidden * bytes, output->As<char>() + to * bytes);
    }
  };
  return call;
}

}  // namespace

std::vector<Offer> RecurrentOffers(const RecurrentConfig& config) {
  const OperandTypes& types = config.types;
  if (!IsFloatingPoint(types.input) || types.input != types.weights || types.input != types.output) return {};
  if (LibraryType(types.input) == memory::data_type::undef) return {};
  const Shapes shapes = ShapesOf(config);
  ImplementationWalk walk([config](const Problem& problem, const dnnl::primitive_desc_base& implementation) {
    return MakeCall(config, problem, implementation);
  });
  const rnn_direction direction =
      config.directions == 2 ? rnn_direction::bidirectional_concat : rnn_direction::unidirectional_left2right;
  walk.Add(
      "",
      [&]() -> dnnl::primitive_desc {
        const memory::desc input = PlainDesc(shapes.input, types.input);
        const memory::desc output = PlainDesc(shapes.output, types.output);
        const memory::desc bias = PlainDesc(shapes.bias, DataType::kF32);
        const bool packed = config.weights == Constness::kConstant;
        const memory::desc weights =
            packed ? AnyDesc(shapes.weights, types.weights) : PlainDesc(shapes.weights, types.weights);
        const memory::desc recurrent =
            packed ? AnyDesc(shapes.recurrent, types.weights) : PlainDesc(shapes.recurrent, types.weights);
        const memory::desc none;
        const dnnl::primitive_attr attributes = DefaultAttributes();
        const prop_kind kind = prop_kind::forward_inference;
        switch (config.kind) {
          case RecurrentKind::kLstm:
            return dnnl::lstm_forward::primitive_desc(CpuEngine(), kind, direction, input, none, none, weights,
                                                      recurrent, bias, output, none, none, attributes, true);
          case RecurrentKind::kGru:
            return dnnl::gru_forward::primitive_desc(CpuEngine(), kind, direction, input, none, weights, recurrent,
                                                     bias, output, none, attributes, true);
          case RecurrentKind::kGruLinearBeforeReset:
            return dnnl::lbr_gru_forward::primitive_desc(CpuEngine(), kind, direction, input, none, weights, recurrent,
                                                         bias, output, none, attributes, true);
          default:
            return dnnl::vanilla_rnn_forward::primitive_desc(
                CpuEngine(), kind,
                config.kind == RecurrentKind::kRnnTanh ? algorithm::eltwise_tanh : algorithm::eltwise_relu, direction,
                input, none, weights, recurrent, bias, output, none, attributes, true);
        }
      },
      DNNL_ARG_SRC_LAYER, DNNL_ARG_DST_LAYER);
  std::vector<Offer> offers = walk.Take();
  if (config.directions == 2) {
    // The result is moved to its place after the primitive, which no order says.
    for (Offer& offer : offers) {
      offer.input_orders.clear();
      offer.output_order = nullptr;
      offer.candidate.input_layout = offer.candidate.output_layout = "any";
    }
  }
  return offers;
}

}  // namespace infimum::cpu
