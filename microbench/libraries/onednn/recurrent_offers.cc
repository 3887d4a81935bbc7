// The gates of a model's weights are in another order than oneDNN's, its two biases are summed here, and the results of
// two directions follow one another.
#include <algorithm>

#include "microbench/libraries/onednn/layer_offers.h"
#include "microbench/libraries/onednn/primitives/recurrent.h"
#include "microbench/libraries/onednn/program/implementations.h"
#include "src/core/layer/field_text.h"

namespace infimum::cpu {
namespace {

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
Result<std::shared_ptr<HostTensor>> SummedBias(const RecurrentConfig& c, const Shape& shape, const HostTensor* bias) {
  INFIMUM_ASSIGN_OR_RETURN(HostTensor made, HostTensor::Make(shape, DataType::kF32));
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
        made.Set((direction * shape.dims[2] + gate) * c.hidden + unit, value);
      }
    }
  }
  return std::make_shared<HostTensor>(std::move(made));
}

Result<PrimitiveCall> BindRecurrent(const RecurrentConfig& c, const onednn::RecurrentDims& dims, const Problem& problem,
                                    const onednn::Implementation& implementation) {
  INFIMUM_ASSIGN_OR_RETURN(std::shared_ptr<HostTensor> weights, OrderedWeights(c, *problem.operands[1], c.input));
  INFIMUM_ASSIGN_OR_RETURN(std::shared_ptr<HostTensor> recurrent, OrderedWeights(c, *problem.operands[2], c.hidden));
  INFIMUM_ASSIGN_OR_RETURN(std::shared_ptr<HostTensor> bias,
                           SummedBias(c, Shape{dims.bias}, c.bias ? problem.operands[3] : nullptr));
  const Problem ordered{
      problem.config, {problem.operands[0], weights.get(), recurrent.get(), bias.get()}, problem.outputs};
  INFIMUM_ASSIGN_OR_RETURN(PrimitiveCall call, BindOperands(ordered, implementation));
  call.owned = {weights, recurrent, bias};
  if (c.directions == 1) return call;
  // Both directions are side by side here, one after the other in the model.
  HostTensor* const output = problem.outputs[0];
  INFIMUM_ASSIGN_OR_RETURN(HostTensor made, HostTensor::Make(Shape{dims.output}, output->type()));
  auto together = std::make_shared<HostTensor>(std::move(made));
  call.owned.push_back(together);
  call.outputs[0].tensor = together.get();
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
  const onednn::Recurrent layer{
      .kind = ValueText(config.kind),
      .dtype = {LibraryType(config.types.input), LibraryType(config.types.weights), LibraryType(config.types.output)},
      .sequence = config.sequence,
      .batch = config.batch,
      .input = config.input,
      .hidden = config.hidden,
      .directions = config.directions,
      .bias = config.bias,
      .weights = ValueText(config.weights)};
  if (layer.dtype.input == dnnl::memory::data_type::undef) return {};
  std::vector<Offer> offers =
      OffersOf([&] { return FormsOf(layer); },
               [config, dims = DimsOf(layer)](const Problem& problem, const onednn::Implementation& implementation) {
                 return BindRecurrent(config, dims, problem, implementation);
               });
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
