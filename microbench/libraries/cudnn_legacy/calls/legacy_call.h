// cuDNN's calls that are older than its graph: cudnnConvolutionForward with its eight algorithms, with Tensor Cores and
// without, cudnnConvolutionBiasActivationForward where a bias or a ReLU follows, softmax, local response and batch
// normalization, poolings, recurrent layers. Algorithms' names are those of the measurements of 2019.
//
//   for (const LegacyWay& way : LegacyWays(layer, "f16")) ...   // {"implicit_precomp_gemm/tensor_op", ...}
//   const std::unique_ptr<LegacyCall> call = MakeLegacyCall(layer, way, handle);
//   call->Run({x, w, bias}, y, workspace);   // into the handle's stream
//
// Errors are std::runtime_error with cuDNN's words, "unsupported: ..." where it refuses the layer or the algorithm.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "src/core/measurement/cudnn_layer.h"

namespace cudnn {

struct LegacyWay {
  std::string name{};  // "implicit_precomp_gemm/tensor_op/acc=f16", "softmax/accurate/instance", "lrn", "rnn/standard"
  int algorithm = 0;   // of the call's own enumeration, where it has one
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  bool half_sums = false;
  bool channels_last = false;
};

// Under a contract, "strict-f32" or "tf32" of f32, the usual one first. Empty where the layer is more than one call
// computes, or a convolution of integers. Which algorithms take the layer cuDNN says when one is made.
std::vector<LegacyWay> LegacyWays(const OperationGraph& layer, const std::string& contract);

class LegacyCall {
 public:
  virtual ~LegacyCall() = default;

  std::size_t workspace() const { return workspace_; }  // bytes
  // Of a recurrent layer, whose weights lie as cuDNN says (legacy_recurrent.h): its tensors are what it reads and they.
  virtual std::size_t packed_weights() const { return 0; }
  // Addresses in the order of the layer's tensors; each lies as StridesOf says of the way's form.
  virtual void Run(const std::vector<void*>& tensors, void* result, void* workspace) const = 0;

 protected:
  std::size_t workspace_ = 0;
};

std::unique_ptr<LegacyCall> MakeLegacyCall(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle);

// By family, for MakeLegacyCall and LegacyWays: no ways where the layer is of another one.
std::vector<LegacyWay> ConvolutionWays(const OperationGraph& layer, const std::string& contract);
std::vector<LegacyWay> StatisticWays(const OperationGraph& layer);
std::vector<LegacyWay> RecurrentWays(const OperationGraph& layer, const std::string& contract);
std::unique_ptr<LegacyCall> MakeConvolution(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle);
std::unique_ptr<LegacyCall> MakeStatistic(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle);

}  // namespace cudnn
