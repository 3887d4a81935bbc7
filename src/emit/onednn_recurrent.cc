// LSTM, GRU and plain recurrent networks over a sequence, from a state of zeros.
#include <fmt/format.h>

#include "src/emit/onednn_attributes.h"
#include "src/emit/onednn_source.h"
#include "src/emit/onednn_types.h"
#include "src/emit/source_text.h"

namespace infimum::emit {

Result<OneDnnSource> DescribeRecurrent(const RecurrentConfig& config) {
  const OperandTypes& types = config.types;
  if (!IsFloatingPoint(types.input) || types.input != types.weights || types.input != types.output)
    return Error{"oneDNN's recurrent layers have one floating point type for all tensors here"};
  INFIMUM_RETURN_IF_ERROR(CheckTypes({types.input}));
  const std::int64_t gates = GateCount(config.kind);
  const std::int64_t bias_gates = gates + (config.kind == RecurrentKind::kGruLinearBeforeReset ? 1 : 0);
  const std::int64_t directions = config.directions, hidden = config.hidden;
  OneDnnSource source;
  source.Dims("kInput", Shape{{config.sequence, config.batch, config.input}}, "sequence, batch, features");
  source.Dims("kWeights", Shape{{1, directions, config.input, gates, hidden}},
              "layers, directions, features, gates, hidden units");
  source.Dims("kRecurrent", Shape{{1, directions, hidden, gates, hidden}});
  source.Dims("kBias", Shape{{1, directions, bias_gates, hidden}}, "input and recurrent biases, summed");
  source.Dims("kOutput", Shape{{config.sequence, config.batch, directions * hidden}});
  AddPlainAttributes(source);

  std::string primitive = "vanilla_rnn_forward";
  if (config.kind == RecurrentKind::kLstm) primitive = "lstm_forward";
  if (config.kind == RecurrentKind::kGru) primitive = "gru_forward";
  if (config.kind == RecurrentKind::kGruLinearBeforeReset) primitive = "lbr_gru_forward";
  const bool lstm = config.kind == RecurrentKind::kLstm;
  std::vector<std::string> arguments{"Cpu()", "prop_kind::forward_inference"};
  if (config.kind == RecurrentKind::kRnnTanh) arguments.emplace_back("algorithm::eltwise_tanh");
  if (config.kind == RecurrentKind::kRnnRelu) arguments.emplace_back("algorithm::eltwise_relu");
  arguments.emplace_back(directions == 2 ? "rnn_direction::bidirectional_concat"
                                         : "rnn_direction::unidirectional_left2right");
  const char* const layout = config.weights == Constness::kConstant ? "Any" : "Plain";
  const auto add_states = [&] { arguments.insert(arguments.end(), lstm ? 2 : 1, "none"); };
  arguments.push_back(Desc("Plain", "kInput", types.input));
  add_states();
  arguments.push_back(Desc(layout, "kWeights", types.weights));
  arguments.push_back(Desc(layout, "kRecurrent", types.weights));
  arguments.push_back(Desc("Plain", "kBias", DataType::kF32));
  arguments.push_back(Desc("Plain", "kOutput", types.output));
  add_states();
  arguments.emplace_back("Attributes()");
  arguments.emplace_back("/*allow_empty=*/true");
  source.functions.push_back(fmt::format(
      "{0}::primitive_desc Describe() {{\n  const memory::desc none;  // the states are zero, and nobody reads the "
      "last\n  return {1};\n}}\n",
      primitive, BrokenCall(primitive + "::primitive_desc", arguments, 2, 8)));
  source.forms = {{"*", "Describe()"}};
  const Range range{-0.25, 0.25};
  source.arguments = {InputText("DNNL_ARG_SRC_LAYER", {}), ConstantText("DNNL_ARG_WEIGHTS_LAYER", range),
                      ConstantText("DNNL_ARG_WEIGHTS_ITER", range), ConstantText("DNNL_ARG_BIAS", range),
                      OutputText("DNNL_ARG_DST_LAYER")};
  // A model has both directions one after the other, oneDNN side by side: no order says that.
  source.layouts = directions == 2 ? "any->any" : "abc->abcd";
  return source;
}

}  // namespace infimum::emit
