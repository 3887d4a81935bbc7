// LSTM, GRU, RNN, the dynamically quantised LSTM, and linear attention.
#include <vector>

#include "infimum/base/text.h"
#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/operator_table.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {
namespace {

// X is sequence x batch x input, or batch x sequence x input with layout = 1. Initial states, sequence
// lengths and peepholes are values: at most a few times `hidden` elements.
Result<Lowering> Recurrent(const NodeView& node, RecurrentKind kind) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape x, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape w, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const Shape r, InputShape(node, 2));
  INFIMUM_ASSIGN_OR_RETURN(const DataType input_type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType weight_type, InputType(node, 1));
  std::size_t given_output = 0;
  while (given_output < node.outputs.size() && !HasOutput(node, given_output)) ++given_output;
  INFIMUM_ASSIGN_OR_RETURN(const DataType output_type, OutputType(node, given_output));
  INFIMUM_ASSIGN_OR_RETURN(const bool batch_first, Flag(node, "layout", false));
  INFIMUM_ASSIGN_OR_RETURN(const std::string direction, Text(node, "direction", "forward"));
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return Error{"attribute 'direction' is " + Quoted(direction) + ", an unknown value"};
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3)
    return Error{"input " + Format(x) + " and weights " + Format(w) + " and " + Format(r) +
                 " are not a recurrent layer"};

  RecurrentConfig config;
  config.kind = kind;
  config.types = {input_type, weight_type, output_type};
  config.sequence = x.dims[batch_first ? 1 : 0];
  config.batch = x.dims[batch_first ? 0 : 1];
  config.input = x.dims[2];
  config.directions = direction == "bidirectional" ? 2 : 1;
  const std::int64_t gates = GateCount(kind);
  // R is directions x gates hidden x hidden; the quantised form has it transposed.
  const bool transposed = r.dims[2] != r.dims[1] / gates;
  config.hidden = transposed ? r.dims[1] : r.dims[2];
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t hidden, IntegerIn(node, "hidden_size", config.hidden));
  const Shape expected_w = transposed ? Shape{{config.directions, config.input, gates * hidden}}
                                      : Shape{{config.directions, gates * hidden, config.input}};
  const Shape expected_r = transposed ? Shape{{config.directions, hidden, gates * hidden}}
                                      : Shape{{config.directions, gates * hidden, hidden}};
  if (hidden != config.hidden || w != expected_w || r != expected_r)
    return Error{"weights of " + Format(w) + " and " + Format(r) + " do not fit " + std::to_string(hidden) +
                 " hidden elements over an input of " + Format(x)};
  config.bias = HasInput(node, 3);
  config.weights = ConstnessOf(node, 1, config.bias ? std::optional<std::size_t>(3) : std::nullopt);
  std::vector<std::size_t> operands{0, 1, 2};
  if (config.bias) operands.push_back(3);
  return Measurable(config, std::move(operands));
}

Result<Lowering> LowerLstm(const NodeView& node) { return Recurrent(node, RecurrentKind::kLstm); }

Result<Lowering> LowerGru(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const bool before_reset, Flag(node, "linear_before_reset", false));
  return Recurrent(node, before_reset ? RecurrentKind::kGruLinearBeforeReset : RecurrentKind::kGru);
}

Result<Lowering> LowerRnn(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::string> activations, Texts(node, "activations"));
  const std::string activation = activations.empty() ? "Tanh" : activations[0];
  if (activation == "Tanh") return Recurrent(node, RecurrentKind::kRnnTanh);
  if (activation == "Relu") return Recurrent(node, RecurrentKind::kRnnRelu);
  return Unknown("no recurrent workload has the activation " + Quoted(activation));
}

// Queries, keys, values, the state before, decay and gates; y and the state after.
Result<Lowering> LowerLinearAttention(const NodeView& node) {
  std::vector<Written> writes;
  for (std::size_t output = 0; output < node.outputs.size(); ++output) {
    if (!HasOutput(node, output)) continue;
    INFIMUM_ASSIGN_OR_RETURN(const Shape shape, OutputShape(node, output));
    INFIMUM_ASSIGN_OR_RETURN(const DataType type, OutputType(node, output));
    writes.push_back({type, shape});
  }
  return UnknownThatMoves(
      node, {0, 1, 2, 3, 4, 5}, writes,
      "a recurrence over the positions that no layer family has; what any run reads and writes counts");
}

}  // namespace

std::span<const OperatorEntry> RecurrentOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "LSTM", LowerLstm},
      {kOnnx, "GRU", LowerGru},
      {kOnnx, "RNN", LowerRnn},
      {kOnnx, "LinearAttention", LowerLinearAttention},
      {kMicrosoft, "DynamicQuantizeLSTM", LowerLstm},
      {kMicrosoft, "LinearAttention", LowerLinearAttention},
  };
  return kEntries;
}

}  // namespace infimum::lowering
