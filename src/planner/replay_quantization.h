// Scales and zero points of a layer of 8-bit tensors: which of its inputs they are, by the names of the runner.
//
//   QLinearConv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias)
//     {"in0_scale": x_scale, "in0_zero": x_zero, "in1_scale": w_scale, ..., "out_scale": y_scale, "out_zero": y_zero}
//
// An element stands for (element - zero) * scale. A scale has one number, or of weights one for each output channel;
// they stay tensors, because there may be thousands of them and only the model's file knows them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "infimum/graph/model_graph.h"
#include "infimum/graph/replay_schedule.h"

namespace infimum {

struct Quantization {
  ReplayValues numbers;                    // zero points that are not given
  std::map<std::string, ValueId> tensors;  // all that are
};

// nullopt for layers that have none.
std::optional<Quantization> QuantizationOf(const Layer& layer);

}  // namespace infimum
