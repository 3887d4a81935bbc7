// cudnnConvolutionForward, and cudnnConvolutionBiasActivationForward where a bias or a ReLU follows: eight algorithms,
// with Tensor Cores and without. Their names are those of the measurements of 2019.
//
//   for (const ConvolutionWay& way : ConvolutionWays(layer, "f16")) ...   // {"implicit_precomp_gemm/tensor_op", ...}
//   const LegacyConvolution convolution(layer, way, handle);
//   convolution.Run({x, w, bias}, y, workspace);   // into the handle's stream
//
// Errors are std::runtime_error with cuDNN's words, "unsupported: ..." where it refuses the layer or the algorithm.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "microbench/libraries/cudnn_legacy/calls/legacy_functions.h"
#include "src/core/measurement/cudnn_layer.h"

namespace cudnn {

struct ConvolutionWay {
  std::string name{};  // "implicit_precomp_gemm/tensor_op/acc=f16"
  cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  bool half_sums = false;
  bool channels_last = false;
};

// Under a contract, "strict-f32" or "tf32" of f32, the usual one first. Empty where the layer is more than one call
// computes, or of integers. Which algorithms take the layer cuDNN says when one is made.
std::vector<ConvolutionWay> ConvolutionWays(const OperationGraph& layer, const std::string& contract);

class LegacyConvolution {
 public:
  LegacyConvolution(const OperationGraph& layer, const ConvolutionWay& way, cudnnHandle_t handle);

  std::size_t workspace() const { return workspace_; }  // bytes
  // Addresses in the order of the layer's tensors; each lies as StridesOf says of the way's form.
  void Run(const std::vector<void*>& tensors, void* result, void* workspace) const;

 private:
  void Describe(cudnnTensorDescriptor_t descriptor, const Dims& dims, Layout layout, const Form& form) const;

  ConvolutionWay way_;
  cudnnHandle_t handle_;
  cudnnDataType_t type_;
  std::array<std::size_t, 3> operands_{};  // input, weights and bias among the layer's tensors
  bool has_bias_ = false;
  std::size_t workspace_ = 0;
  Descriptor<cudnnTensorDescriptor_t> input_ = CUDNN_DESCRIPTOR(TensorDescriptor);
  Descriptor<cudnnTensorDescriptor_t> output_ = CUDNN_DESCRIPTOR(TensorDescriptor);
  Descriptor<cudnnTensorDescriptor_t> bias_ = CUDNN_DESCRIPTOR(TensorDescriptor);
  Descriptor<cudnnFilterDescriptor_t> weights_ = CUDNN_DESCRIPTOR(FilterDescriptor);
  Descriptor<cudnnConvolutionDescriptor_t> convolution_ = CUDNN_DESCRIPTOR(ConvolutionDescriptor);
  Descriptor<cudnnActivationDescriptor_t> activation_ = CUDNN_DESCRIPTOR(ActivationDescriptor);
};

}  // namespace cudnn
