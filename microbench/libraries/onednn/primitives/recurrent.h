// LSTM, GRU and plain recurrent networks over a sequence, from a state of zeros.
#pragma once

#include <string>
#include <vector>

#include "form.h"

namespace onednn {

struct Recurrent {
  std::string kind;  // "lstm", "gru", "gru_linear_before_reset", "rnn_tanh", "rnn_relu"
  Types dtype;
  memory::dim sequence = 1, batch = 1;
  memory::dim input = 1;  // features
  memory::dim hidden = 1;
  memory::dim directions = 1;
  bool bias = false;
  std::string weights = "const";  // or "variable"
};

// The tensors as oneDNN has them: weights of layers x directions x features x gates x hidden units, input and recurrent
// biases summed. What the model has in another order is brought into this one by the caller.
struct RecurrentDims {
  memory::dims input, weights, recurrent, bias, output;
};
RecurrentDims DimsOf(const Recurrent& layer);

std::vector<Form> FormsOf(const Recurrent& layer);

}  // namespace onednn
