// A layer's operations (cudnn_layer.h) as calls of NVIDIA's frontend, whose headers take half a minute to compile.
#pragma once

#include <cudnn_frontend.h>

#include <memory>
#include <string>
#include <vector>

#include "src/core/measurement/cudnn_layer.h"

namespace cudnn {

namespace fe = cudnn_frontend;
using TensorPointer = std::shared_ptr<fe::graph::Tensor_attributes>;

// The tensors in memory, in the order of the layer's.
struct Arguments {
  std::vector<TensorPointer> tensors, outputs;
};

// Throws std::runtime_error where the layer has a word that cuDNN does not know.
Arguments AddOperations(const OperationGraph& layer, const Form& form, fe::graph::Graph& graph);

}  // namespace cudnn
