// LSTM, GRU and plain recurrent layers by cudnnRNNForward, which the graph has no operation for. Its weights are one
// block, in which each gate's matrix and bias have their place.
//
//   const RecurrentCall lstm(layer, way, handle);
//   const WeightPlace place = lstm.PlaceOf(direction, gate, weights);   // addresses in it, null where it has none
//   lstm.Run({x, weights}, y, workspace);
#pragma once

#include "microbench/libraries/cudnn_legacy/calls/legacy_call.h"
#include "microbench/libraries/cudnn_legacy/calls/legacy_functions.h"

namespace cudnn {

struct WeightPlace {
  void* matrix = nullptr;
  void* bias = nullptr;
};

// Tensors of the layer: steps x batch x input; w, directions x gates * hidden x input; r, the same with what it reads
// of the state; where it has one, a bias. The result is steps x directions x batch x hidden, of which cuDNN has both
// directions of a step side by side.
class RecurrentCall : public LegacyCall {
 public:
  RecurrentCall(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle);

  std::size_t packed_weights() const override { return weights_; }
  // `gate`: cuDNN's linear layer (recurrent_gates.h).
  WeightPlace PlaceOf(int direction, int gate, void* weights) const;
  void Run(const std::vector<void*>& tensors, void* result, void* workspace) const override;

 private:
  cudnnHandle_t handle_;
  std::size_t weights_ = 0;
  Descriptor<cudnnRNNDescriptor_t> layer_ = CUDNN_DESCRIPTOR(RNNDescriptor);
  Descriptor<cudnnDropoutDescriptor_t> dropout_ = CUDNN_DESCRIPTOR(DropoutDescriptor);
  Descriptor<cudnnRNNDataDescriptor_t> x_ = CUDNN_DESCRIPTOR(RNNDataDescriptor);
  Descriptor<cudnnRNNDataDescriptor_t> y_ = CUDNN_DESCRIPTOR(RNNDataDescriptor);
  Descriptor<cudnnTensorDescriptor_t> state_ = CUDNN_DESCRIPTOR(TensorDescriptor);
};

}  // namespace cudnn
