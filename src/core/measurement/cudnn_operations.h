// A workload as operations of cuDNN's graph (cudnn_layer.h), the same for all its forms: for the runner, the enumerator
// and `infimum emit`.
//
//   convolution + bias, add, relu   conv_fprop -> pointwise ADD -> pointwise ADD -> pointwise RELU_FWD
//
// Tensors between operations are virtual. Shapes that the canonical texts merged are spread over the dimensions of the
// tensor that they meet; dimensions that cuDNN wants and the layer lacks are of extent one.
#pragma once

#include <optional>
#include <vector>

#include "infimum/layer/pointwise.h"
#include "infimum/layer/region.h"
#include "src/core/measurement/cudnn_layer.h"

namespace infimum::cuda {

// What a member's configuration leaves open because it changes results, not cost; the defaults are what benchmarks use.
struct CudnnValues : PointwiseParameters {
  double epsilon = 1e-5;
  double response_alpha = 1e-4, response_beta = 0.75, response_k = 1;  // of a local response normalization
  std::optional<double> attention_scale;                               // absent: 1 / sqrt(head)
  std::int64_t scales = 1;  // of 8-bit results: one, or as many as there are output channels
};

// Which tensor of the region one of the graph's is.
struct CudnnOperand {
  RegionOperand tensor;
  DataType type = DataType::kF32;
  Shape shape;  // of the region's elements, in their row-major order
  // What a member has beside operands and results of the region, memory of its own: scales of 8-bit results, and what
  // an attention of 8-bit floats writes beside its result. That member.
  std::optional<std::size_t> own_of;
};

struct CudnnOperations {
  cudnn::OperationGraph graph;
  std::vector<CudnnOperand> tensors;  // of the graph's
  std::vector<CudnnOperand> outputs;
};

// `values`: for each member, or empty. The error begins with "unsupported: " and says what cuDNN's graph does not have.
Result<CudnnOperations> CudnnOperationsOf(const Region& region, const std::vector<CudnnValues>& values = {});

// Whether a member multiplies floating point numbers: engines differ in the arithmetic of these alone.
bool HasFloatProduct(const Region& region);

}  // namespace infimum::cuda
