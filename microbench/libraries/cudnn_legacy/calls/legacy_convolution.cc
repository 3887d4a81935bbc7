// cudnnConvolutionForward, and cudnnConvolutionBiasActivationForward where a bias or a ReLU follows.
#include <algorithm>
#include <array>

#include "microbench/libraries/cudnn_legacy/calls/legacy_call.h"
#include "microbench/libraries/cudnn_legacy/calls/legacy_functions.h"

namespace cudnn {
namespace {

constexpr std::pair<cudnnConvolutionFwdAlgo_t, const char*> kAlgorithms[] = {
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, "implicit_precomp_gemm"},
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, "implicit_gemm"},
    {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, "gemm"},
    {CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, "direct"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT, "fft"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, "fft_tiling"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, "winograd"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, "winograd_nonfused"}};

// What one call computes.
struct Call {
  const Operation* convolution = nullptr;
  std::size_t input = 0, weights = 0, bias = 0;  // the layer's tensors
  bool has_bias = false, has_relu = false;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
};

// False where the layer is anything else.
bool Find(const OperationGraph& layer, Call& call) {
  const std::vector<Operation>& operations = layer.operations;
  const auto tensor = [&](const std::string& name, std::size_t& found) {
    const auto at =
        std::find_if(layer.tensors.begin(), layer.tensors.end(), [&](const Tensor& one) { return one.name == name; });
    found = static_cast<std::size_t>(at - layer.tensors.begin());
    return at != layer.tensors.end();
  };
  if (operations.empty() || operations.size() > 3 || layer.outputs.size() != 1 || operations[0].call != "conv_fprop" ||
      !tensor(operations[0].operands[0], call.input) || !tensor(operations[0].operands[1], call.weights))
    return false;
  call.convolution = operations.data();
  const std::string& type = layer.tensors[call.input].type;
  const bool is_float = type == "f64" || type == "f32" || type == "f16" || type == "bf16";
  if (!is_float || layer.tensors[call.weights].type != type || layer.outputs[0].type != type) return false;
  call.type = LegacyTypeOf(type);
  if (operations.size() > 1) {
    const Operation& addition = operations[1];
    if (addition.call != "pointwise" || addition.mode != "ADD" || addition.operands.size() != 2 ||
        addition.operands[0] != operations[0].result || !tensor(addition.operands[1], call.bias))
      return false;
    Dims channels(operations[0].dims.size(), 1);
    channels[1] = operations[0].dims[1];
    if (layer.tensors[call.bias].dims != channels || layer.tensors[call.bias].type != type) return false;
    call.has_bias = true;
  }
  if (operations.size() > 2) {
    const Operation& relu = operations[2];
    if (relu.call != "pointwise" || relu.mode != "RELU_FWD" || relu.operands.size() != 1 || relu.relu_slope ||
        relu.relu_low || relu.relu_high)
      return false;
    call.has_relu = true;
  }
  return layer.outputs[0].name == operations.back().result;
}

class Convolution : public LegacyCall {
 public:
  Convolution(const OperationGraph& layer, const Call& call, const LegacyWay& way, cudnnHandle_t handle)
      : algorithm_(static_cast<cudnnConvolutionFwdAlgo_t>(way.algorithm)),
        handle_(handle),
        type_(call.type),
        operands_{call.input, call.weights, call.bias},
        has_bias_(call.has_bias) {
    const Operation& operation = *call.convolution;
    const Tensor &input = layer.tensors[call.input], &weights = layer.tensors[call.weights];
    Describe(input_, type_, input.dims, input.layout, way.channels_last);
    Describe(output_, type_, operation.dims, operation.layout, way.channels_last);
    Check(CUDNN_FUNCTION(cudnnSetFilterNdDescriptor)(weights_.get(), type_,
                                                     way.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                                                     static_cast<int>(weights.dims.size()), Ints(weights.dims).data()),
          "describing the weights");
    cudnnDataType_t sums = way.half_sums ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
    if (type_ == CUDNN_DATA_DOUBLE) sums = CUDNN_DATA_DOUBLE;
    Check(CUDNN_FUNCTION(cudnnSetConvolutionNdDescriptor)(
              convolution_.get(), static_cast<int>(operation.stride.size()), Ints(operation.pre_padding).data(),
              Ints(operation.stride).data(), Ints(operation.dilation).data(), CUDNN_CROSS_CORRELATION, sums),
          "describing the convolution");
    Check(CUDNN_FUNCTION(cudnnSetConvolutionGroupCount)(convolution_.get(),
                                                        static_cast<int>(input.dims[1] / weights.dims[1])),
          "setting groups");
    Check(CUDNN_FUNCTION(cudnnSetConvolutionMathType)(convolution_.get(), way.math), "setting the arithmetic");
    if (has_bias_) {
      Describe(bias_, type_, layer.tensors[call.bias].dims, Layout::kChannels, way.channels_last);
      Check(CUDNN_FUNCTION(cudnnSetActivationDescriptor)(
                activation_.get(), call.has_relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY,
                CUDNN_NOT_PROPAGATE_NAN, 0),
            "describing the activation");
    }
    Check(CUDNN_FUNCTION(cudnnGetConvolutionForwardWorkspaceSize)(
              handle_, input_.get(), weights_.get(), convolution_.get(), output_.get(), algorithm_, &workspace_),
          "asking for scratch memory");
  }

  void Run(const std::vector<void*>& tensors, void* result, void* workspace) const override {
    const auto& [x, w, bias] = operands_;
    if (!has_bias_) {
      Check(CUDNN_FUNCTION(cudnnConvolutionForward)(handle_, Factor(type_, 1), input_.get(), tensors[x], weights_.get(),
                                                    tensors[w], convolution_.get(), algorithm_, workspace, workspace_,
                                                    Factor(type_, 0), output_.get(), result),
            "running");
      return;
    }
    Check(CUDNN_FUNCTION(cudnnConvolutionBiasActivationForward)(
              handle_, Factor(type_, 1), input_.get(), tensors[x], weights_.get(), tensors[w], convolution_.get(),
              algorithm_, workspace, workspace_, Factor(type_, 0), output_.get(), result, bias_.get(), tensors[bias],
              activation_.get(), output_.get(), result),
          "running");
  }

 private:
  cudnnConvolutionFwdAlgo_t algorithm_;
  cudnnHandle_t handle_;
  cudnnDataType_t type_;
  std::array<std::size_t, 3> operands_;  // input, weights and bias among the layer's tensors
  bool has_bias_;
  Descriptor<cudnnTensorDescriptor_t> input_ = CUDNN_DESCRIPTOR(TensorDescriptor);
  Descriptor<cudnnTensorDescriptor_t> output_ = CUDNN_DESCRIPTOR(TensorDescriptor);
  Descriptor<cudnnTensorDescriptor_t> bias_ = CUDNN_DESCRIPTOR(TensorDescriptor);
  Descriptor<cudnnFilterDescriptor_t> weights_ = CUDNN_DESCRIPTOR(FilterDescriptor);
  Descriptor<cudnnConvolutionDescriptor_t> convolution_ = CUDNN_DESCRIPTOR(ConvolutionDescriptor);
  Descriptor<cudnnActivationDescriptor_t> activation_ = CUDNN_DESCRIPTOR(ActivationDescriptor);
};

}  // namespace

std::vector<LegacyWay> ConvolutionWays(const OperationGraph& layer, const std::string& contract) {
  std::vector<LegacyWay> ways;
  Call call;
  if (!Find(layer, call)) return ways;
  const bool is_half = call.type == CUDNN_DATA_HALF || call.type == CUDNN_DATA_BFLOAT16;
  for (const auto& [algorithm, name] : kAlgorithms) {
    LegacyWay way{name, algorithm};
    const auto add = [&](cudnnMathType_t math, bool half_sums) {
      way.math = math;
      way.half_sums = half_sums;
      way.name = std::string(name) + (math == CUDNN_TENSOR_OP_MATH ? "/tensor_op" : "") + (half_sums ? "/acc=f16" : "");
      ways.push_back(way);
    };
    if (!is_half) {
      // For f32, CUDNN_DEFAULT_MATH allows Tensor Cores and CUDNN_FMA_MATH does not.
      add(contract == "strict-f32" ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH, false);
      continue;
    }
    add(CUDNN_TENSOR_OP_MATH, false);
    add(CUDNN_FMA_MATH, false);
    if (contract == "f16") add(CUDNN_TENSOR_OP_MATH, true);
  }
  // Channels last: the one algorithm that takes them.
  LegacyWay last = ways.front();
  last.channels_last = true;
  ways.push_back(last);
  return ways;
}

std::unique_ptr<LegacyCall> MakeConvolution(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle) {
  Call call;
  if (!Find(layer, call)) throw std::runtime_error("unsupported: more than one of cuDNN's older calls computes");
  if (call.convolution->pre_padding != call.convolution->post_padding)
    throw std::runtime_error("unsupported: cuDNN's older calls pad both sides alike");
  return std::make_unique<Convolution>(layer, call, way, handle);
}

}  // namespace cudnn
