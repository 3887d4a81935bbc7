// How near an inference of a whole model leaves a layer's constants until their turn comes again: what a row measured
// with the same weights again and again says too little of, and one with weights from memory too much.
//
//   ResNet-50: an inference goes through 102 MB of weights and 10 MB of the rest. By tau, the measured curve of the
//   memory (analyzer/types/touch_curve.h), caches keep 0.29 of so much at best, in one order 0.036 (DeviceModel): so
//   much of a layer's weights counts as near.
//   MobileNetV2: 14 MB of weights and 10 MB of the rest would fit into 32 MiB; but when a layer's turn comes again, 3
//   ms later, others who share that cache have taken most of it, where it keeps what lies in it for 2 ms.
//
// Predicted from the model and the device alone; no run of the model enters.
#pragma once

#include <vector>

#include "analyzer/floor/floor.h"
#include "analyzer/floor/in_place.h"
#include "analyzer/types/device_model.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

// Bytes that one inference goes through: weights, inputs and outputs that every execution needs
// (compulsory_traffic.h), and as much memory as its intermediates need at once.
double WorkingSetOf(const ModelGraph& graph);

// Of a workload.
struct NearConstants {
  double bytes = 0;  // of operands that are known before the first inference
  double share = 1;  // of them as near as if the workload ran alone; 1 without constants
};

double ConstantBytesOf(const Workload& workload);

struct Roofline {
  Latency latency{0};
  Latency launches{0};  // of it what starts of kernels add
};

// What a roofline model says of a graph without any measured row: its layers' own floors in context one after the
// other, each at least the start of a kernel where the device's is known, a loop's as often as it runs at least, of
// branches the cheapest; or the textbook floor where that is more. No bound, since layers may be fused.
Roofline RooflineOf(const ModelGraph& graph, const DeviceModel& device, Latency textbook);

class Residency {
 public:
  // The graph lives longer.
  Residency(const ModelGraph& graph, DeviceModel device);

  double working_set() const { return working_set_; }
  NearConstants Of(const Workload& workload) const;

  // Of layer `layer` of `graph`, the one given or a body of it. A layer that updates a cache in place neither reads nor
  // writes the rest of it.
  LayerBytes BytesOf(const ModelGraph& graph, std::size_t layer) const;

 private:
  double ShareNear(double bytes) const;

  const ModelGraph& graph_;
  std::vector<ValueId> roots_;  // of its views
  InPlaceUpdates updates_;
  DeviceModel device_;  // as its peaks have it, whatever rows show later
  double working_set_;
  Latency between_{0};  // two uses of the same weights, at least: an inference's roofline
};

// By how much layers that take less than the start of a kernel fall short of one each.
Latency LaunchesOf(const ModelGraph& graph, const DeviceModel& device, const Residency& residency);

}  // namespace infimum
