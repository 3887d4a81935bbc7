// How near an inference of a whole model leaves a layer's constants until their turn comes again: what a row measured
// with the same weights again and again says too little of, and one with weights from memory too much.
//
//   ResNet-50: an inference goes through 102 MB of weights and 6 MB of the rest. tau, the measured curve of the memory
//   (analyzer/types/touch_curve.h), says 94 ps for each byte of 108 MB, 28 ps for a byte of 1 MB, 100 ps for one more
//   byte than the caches keep. So of a layer with 1 MB of weights (100 - 94) / (100 - 28) = 0.08 count as near.
//
// Predicted from the model and the device alone; no run of the model enters.
#pragma once

#include <utility>

#include "analyzer/types/device_model.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

// Bytes that one inference goes through: weights, inputs and outputs that every execution needs
// (compulsory_traffic.h), and as much memory as its intermediates need at once.
double WorkingSetOf(const ModelGraph& graph);

class Residency {
 public:
  Residency(const ModelGraph& graph, DeviceModel device)
      : device_(std::move(device)), working_set_(WorkingSetOf(graph)) {}

  double working_set() const { return working_set_; }
  // From 0, all of them from memory, to 1; 1 of a workload without constants.
  double ShareNear(const Workload& workload) const;

 private:
  DeviceModel device_;  // as its peaks have it, whatever rows show later
  double working_set_;
};

// Bytes of the operands that are known before the first inference.
double ConstantBytesOf(const Workload& workload);

}  // namespace infimum
