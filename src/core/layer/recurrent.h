// LSTM, GRU and plain recurrent networks over a whole sequence.
//
//   recurrent kind=lstm dtype=f32:f32:f32 sequence=64 batch=1 input=256 hidden=512 directions=2 bias=yes weights=const
//
// Operands: input, w, r, bias (when `bias=yes`), then initial states as the model gives them (not
// part of the configuration: at most hidden elements).
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/layer/data_type.h"
#include "src/core/layer/work.h"

namespace infimum {

enum class RecurrentKind {
  kLstm,                  // "lstm"
  kGru,                   // "gru"
  kGruLinearBeforeReset,  // "gru_linear_before_reset"
  kRnnTanh,               // "rnn_tanh"
  kRnnRelu,               // "rnn_relu"
};
std::span<const NamedValue<RecurrentKind>> NamesOf(RecurrentKind);

struct RecurrentConfig {
  RecurrentKind kind = RecurrentKind::kLstm;
  OperandTypes types{DataType::kF32, DataType::kF32, DataType::kF32};
  std::int64_t sequence = 1;
  std::int64_t batch = 1;
  std::int64_t input = 1;
  std::int64_t hidden = 1;
  std::int64_t directions = 1;
  bool bias = false;
  Constness weights = Constness::kConstant;

  static constexpr std::string_view kName = "recurrent";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("sequence", self.sequence);
    visit("batch", self.batch);
    visit("input", self.input);
    visit("hidden", self.hidden);
    visit("directions", self.directions);
    visit("bias", self.bias);
    visit("weights", self.weights);
  }
  friend bool operator==(const RecurrentConfig&, const RecurrentConfig&) = default;
};

// 4 for lstm, 3 for gru, 1 for rnn.
std::int64_t GateCount(RecurrentKind kind);

// direct = conventional = directions * sequence * batch * gates * hidden * (2 (input + hidden) + c),
// c = 7 for the element-wise part. Writes sequence x directions x batch x hidden.
Work WorkOf(const RecurrentConfig& config);
Status Validate(const RecurrentConfig& config);
std::vector<Operand> OperandsOfFamily(const RecurrentConfig& config);
std::vector<Operand> OutputsOfFamily(const RecurrentConfig& config);

}  // namespace infimum
