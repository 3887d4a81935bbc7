// Adds a region's operations to a graph of NVIDIA's frontend. For cudnn_graph.cc alone: the frontend's headers take
// half a minute to compile.
//
//   convolution + bias, add, relu   conv_fprop -> pointwise ADD -> pointwise ADD -> pointwise RELU_FWD
//
// Tensors between them are virtual. Shapes that the canonical texts merged are spread over the dimensions of the tensor
// that they meet; dimensions that cuDNN wants and the layer lacks are of extent one.
#pragma once

#include <cudnn_frontend.h>

#include <vector>

#include "microbench/libraries/cudnn/cudnn_graph.h"
#include "microbench/reference/region_tensors.h"
#include "src/core/measurement/cudnn_form.h"

namespace infimum::cuda {

// The graph's tensors in memory. An error that starts with "unsupported: " names what cuDNN's graph cannot
// say.
Result<std::vector<CudnnTensor>> AddOperations(const cpu::ValuedRegion& problem, const CudnnForm& form,
                                               cudnn_frontend::graph::Graph& graph);

}  // namespace infimum::cuda
