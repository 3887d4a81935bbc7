// Values of a layer that are inputs of it: which of them, by the names of the runner.
//
//   QLinearConv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias)
//     {"in0_scale": x_scale, "in0_zero": x_zero, "in1_scale": w_scale, ..., "out_scale": y_scale, "out_zero": y_zero}
//   LSTM(x, w, r, b, , h)
//     {"initial_h": h}
//
// An 8-bit element stands for (element - zero) * scale, with one scale for the tensor, or of weights one for each
// output channel. They stay tensors, because there may be thousands of numbers and only the model's file knows them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "infimum/graph/model_graph.h"
#include "infimum/graph/replay_schedule.h"

namespace infimum {

struct ValueTensors {
  std::map<std::string, ValueId> tensors;
  ReplayValues numbers;  // zero points that are not given
};

// nullopt for layers that have none.
std::optional<ValueTensors> ValueTensorsOf(const Layer& layer);

}  // namespace infimum
