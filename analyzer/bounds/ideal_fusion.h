// What fusion could win at most, whatever a library can fuse today: element-wise layers and layers that only move
// elements within a tensor cost nothing of their own, and what they are fused into reads and writes their bytes.
//
//   conv 100 us -> add(residual) 20 us -> relu 15 us -> transpose 18 us -> matmul 50 us
//   group {conv, add, relu, transpose}: max(100, bytes of conv's input, weights, residual and the result / bandwidth)
//   ideal: 100 + 50 = 150 us
//
// Each such layer joins the group of the layer that writes its largest operand; one whose operands come from no group
// waits for the first group that reads it. A group without another layer (its anchor) pays for its bytes alone. An
// estimate from below under its assumption `ideal-fusion`: no library is promised to do it.
#pragma once

#include <span>

#include "analyzer/types/device_model.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

// `times`: one for each layer of the graph, 0 where free or missing.
Latency IdealFusion(const ModelGraph& graph, std::span<const Latency> times, const DeviceModel& device);

}  // namespace infimum
