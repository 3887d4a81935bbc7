#include "microbench/libraries/cudnn_legacy/calls/legacy_convolution.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

// Most of these calls are marked as deprecated; they are what is measured here.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

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
constexpr std::pair<const char*, cudnnDataType_t> kTypes[] = {
    {"f64", CUDNN_DATA_DOUBLE}, {"f32", CUDNN_DATA_FLOAT}, {"f16", CUDNN_DATA_HALF}, {"bf16", CUDNN_DATA_BFLOAT16}};

void Check(cudnnStatus_t status, const char* what) {
  if (const std::string failure = FailureOf(status, what); !failure.empty()) throw std::runtime_error(failure);
}

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
  const auto known =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& one) { return one.first == type; });
  if (known == std::end(kTypes) || layer.tensors[call.weights].type != type || layer.outputs[0].type != type)
    return false;
  call.type = known->second;
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

std::vector<int> Ints(const Dims& numbers) {
  std::vector<int> ints;
  for (const std::int64_t number : numbers) {
    if (number > std::numeric_limits<int>::max())
      throw std::runtime_error("unsupported: cuDNN's older calls count in 32 bits");
    ints.push_back(static_cast<int>(number));
  }
  return ints;
}

// Factors of the result: doubles for f64, floats for all else.
constexpr double kDoubles[] = {0, 1};
constexpr float kFloats[] = {0, 1};
const void* Factor(cudnnDataType_t type, int value) {
  return type == CUDNN_DATA_DOUBLE ? static_cast<const void*>(&kDoubles[value]) : &kFloats[value];
}

}  // namespace

std::vector<ConvolutionWay> ConvolutionWays(const OperationGraph& layer, const std::string& contract) {
  std::vector<ConvolutionWay> ways;
  Call call;
  if (!Find(layer, call)) return ways;
  const bool is_half = call.type == CUDNN_DATA_HALF || call.type == CUDNN_DATA_BFLOAT16;
  for (const auto& [algorithm, name] : kAlgorithms) {
    ConvolutionWay way{name, algorithm};
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
  ConvolutionWay last = ways.front();
  last.channels_last = true;
  ways.push_back(last);
  return ways;
}

LegacyConvolution::LegacyConvolution(const OperationGraph& layer, const ConvolutionWay& way, cudnnHandle_t handle)
    : way_(way), handle_(handle) {
  Call call;
  if (!Find(layer, call)) throw std::runtime_error("unsupported: more than one of cuDNN's older calls computes");
  const Operation& operation = *call.convolution;
  if (operation.pre_padding != operation.post_padding)
    throw std::runtime_error("unsupported: cuDNN's older calls pad both sides alike");
  Form form;
  form.channels_last = way.channels_last;
  type_ = call.type;
  const Tensor &input = layer.tensors[call.input], &weights = layer.tensors[call.weights];
  Describe(input_.get(), input.dims, input.layout, form);
  Describe(output_.get(), operation.dims, operation.layout, form);
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
  has_bias_ = call.has_bias;
  if (has_bias_) {
    Describe(bias_.get(), layer.tensors[call.bias].dims, Layout::kChannels, form);
    Check(CUDNN_FUNCTION(cudnnSetActivationDescriptor)(
              activation_.get(), call.has_relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY,
              CUDNN_NOT_PROPAGATE_NAN, 0),
          "describing the activation");
  }
  operands_ = {call.input, call.weights, call.bias};
  Check(CUDNN_FUNCTION(cudnnGetConvolutionForwardWorkspaceSize)(
            handle_, input_.get(), weights_.get(), convolution_.get(), output_.get(), way.algorithm, &workspace_),
        "asking for scratch memory");
}

void LegacyConvolution::Describe(cudnnTensorDescriptor_t descriptor, const Dims& dims, Layout layout,
                                 const Form& form) const {
  Check(CUDNN_FUNCTION(cudnnSetTensorNdDescriptor)(descriptor, type_, static_cast<int>(dims.size()), Ints(dims).data(),
                                                   Ints(StridesOf(dims, layout, form)).data()),
        "describing a tensor");
}

void LegacyConvolution::Run(const std::vector<void*>& tensors, void* result, void* workspace) const {
  const auto& [x, w, bias] = operands_;
  if (!has_bias_) {
    Check(CUDNN_FUNCTION(cudnnConvolutionForward)(handle_, Factor(type_, 1), input_.get(), tensors[x], weights_.get(),
                                                  tensors[w], convolution_.get(), way_.algorithm, workspace, workspace_,
                                                  Factor(type_, 0), output_.get(), result),
          "running");
    return;
  }
  Check(CUDNN_FUNCTION(cudnnConvolutionBiasActivationForward)(
            handle_, Factor(type_, 1), input_.get(), tensors[x], weights_.get(), tensors[w], convolution_.get(),
            way_.algorithm, workspace, workspace_, Factor(type_, 0), output_.get(), result, bias_.get(), tensors[bias],
            activation_.get(), output_.get(), result),
        "running");
}

}  // namespace cudnn
