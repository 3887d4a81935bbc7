// Softmax, local response and batch normalization, poolings: calls on one tensor with its channels.
#include <algorithm>

#include "microbench/libraries/cudnn_legacy/calls/legacy_call.h"
#include "microbench/libraries/cudnn_legacy/calls/legacy_functions.h"

namespace cudnn {
namespace {

// What the calls share: the first operand and the result.
class Statistic : public LegacyCall {
 public:
  Statistic(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle)
      : handle_(handle), type_(LegacyTypeOf(layer.tensors[0].type)), operation_(layer.operations[0]) {
    Describe(input_, type_, layer.tensors[0].dims, layer.tensors[0].layout, way.channels_last);
    Describe(output_, LegacyTypeOf(layer.outputs[0].type), operation_.dims, operation_.layout, way.channels_last);
  }

 protected:
  const void* one() const { return Factor(type_, 1); }
  const void* zero() const { return Factor(type_, 0); }

  cudnnHandle_t handle_;
  cudnnDataType_t type_;
  Operation operation_;
  Descriptor<cudnnTensorDescriptor_t> input_ = CUDNN_DESCRIPTOR(TensorDescriptor);
  Descriptor<cudnnTensorDescriptor_t> output_ = CUDNN_DESCRIPTOR(TensorDescriptor);
};

// Over the channels of each pixel; of an image without pixels over all of it, which is the call's other mode.
bool IsInstance(const Operation& softmax) { return softmax.dims[2] == 1; }

class Softmax : public Statistic {
 public:
  Softmax(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle)
      : Statistic(layer, way, handle), algorithm_(static_cast<cudnnSoftmaxAlgorithm_t>(way.algorithm)) {}

  void Run(const std::vector<void*>& tensors, void* result, void*) const override {
    Check(CUDNN_FUNCTION(cudnnSoftmaxForward)(
              handle_, algorithm_, IsInstance(operation_) ? CUDNN_SOFTMAX_MODE_INSTANCE : CUDNN_SOFTMAX_MODE_CHANNEL,
              one(), input_.get(), tensors[0], zero(), output_.get(), result),
          "running");
  }

 private:
  cudnnSoftmaxAlgorithm_t algorithm_;
};

class LocalResponse : public Statistic {
 public:
  LocalResponse(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle)
      : Statistic(layer, way, handle) {
    Check(CUDNN_FUNCTION(cudnnSetLRNDescriptor)(response_.get(), static_cast<unsigned>(operation_.window[0]),
                                                *operation_.lrn_alpha, *operation_.lrn_beta, *operation_.lrn_k),
          "describing it");
  }

  void Run(const std::vector<void*>& tensors, void* result, void*) const override {
    Check(CUDNN_FUNCTION(cudnnLRNCrossChannelForward)(handle_, response_.get(), CUDNN_LRN_CROSS_CHANNEL_DIM1, one(),
                                                      input_.get(), tensors[0], zero(), output_.get(), result),
          "running");
  }

 private:
  Descriptor<cudnnLRNDescriptor_t> response_ = CUDNN_DESCRIPTOR(LRNDescriptor);
};

class BatchNormalization : public Statistic {
 public:
  BatchNormalization(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle)
      : Statistic(layer, way, handle) {
    // Its parameters are f32 for all narrower types.
    const std::string expected = type_ == CUDNN_DATA_DOUBLE ? "f64" : "f32";
    for (std::size_t i = 1; i < layer.tensors.size(); ++i)
      if (layer.tensors[i].type != expected)
        throw std::runtime_error("unsupported: cuDNN's batch normalization has parameters of " + expected);
    Check(CUDNN_FUNCTION(cudnnDeriveBNTensorDescriptor)(parameters_.get(), input_.get(), CUDNN_BATCHNORM_SPATIAL),
          "describing it");
  }

  void Run(const std::vector<void*>& tensors, void* result, void*) const override {
    Check(CUDNN_FUNCTION(cudnnBatchNormalizationForwardInference)(
              handle_, CUDNN_BATCHNORM_SPATIAL, one(), zero(), input_.get(), tensors[0], output_.get(), result,
              parameters_.get(), tensors[1], tensors[2], tensors[3], tensors[4], *operation_.number),
          "running");
  }

 private:
  Descriptor<cudnnTensorDescriptor_t> parameters_ = CUDNN_DESCRIPTOR(TensorDescriptor);
};

class Pooling : public Statistic {
 public:
  Pooling(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle) : Statistic(layer, way, handle) {
    // Padding behind follows from the output's extents.
    Check(CUDNN_FUNCTION(cudnnSetPoolingNdDescriptor)(
              window_.get(), static_cast<cudnnPoolingMode_t>(way.algorithm), CUDNN_PROPAGATE_NAN,
              static_cast<int>(operation_.window.size()), Ints(operation_.window).data(),
              Ints(operation_.pre_padding).data(), Ints(operation_.stride).data()),
          "describing it");
  }

  void Run(const std::vector<void*>& tensors, void* result, void*) const override {
    Check(CUDNN_FUNCTION(cudnnPoolingForward)(handle_, window_.get(), one(), input_.get(), tensors[0], zero(),
                                              output_.get(), result),
          "running");
  }

 private:
  Descriptor<cudnnPoolingDescriptor_t> window_ = CUDNN_DESCRIPTOR(PoolingDescriptor);
};

template <class Call>
std::unique_ptr<LegacyCall> Make(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle) {
  return std::make_unique<Call>(layer, way, handle);
}

// A call by the operation that it computes: its name, its algorithm or mode.
struct Family {
  const char* call;
  const char* mode;  // of the operation, where it has one
  const char* name;
  int algorithm;
  bool takes_channels_last;
  std::unique_ptr<LegacyCall> (*make)(const OperationGraph&, const LegacyWay&, cudnnHandle_t);
};
constexpr Family kFamilies[] = {
    {"softmax", "softmax", "softmax/accurate", CUDNN_SOFTMAX_ACCURATE, false, Make<Softmax>},
    {"softmax", "softmax", "softmax/fast", CUDNN_SOFTMAX_FAST, false, Make<Softmax>},
    {"softmax", "log_softmax", "softmax/log", CUDNN_SOFTMAX_LOG, false, Make<Softmax>},
    {"lrn", "", "lrn", 0, false, Make<LocalResponse>},
    {"batchnorm", "", "batchnorm/spatial", 0, true, Make<BatchNormalization>},
    {"resample", "MAXPOOL", "pooling/max", CUDNN_POOLING_MAX, true, Make<Pooling>},
    {"resample", "AVGPOOL_INCLUDE_PADDING", "pooling/average_include_padding",
     CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, true, Make<Pooling>},
    {"resample", "AVGPOOL_EXCLUDE_PADDING", "pooling/average_exclude_padding",
     CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, true, Make<Pooling>}};

bool Computes(const Family& family, const OperationGraph& layer) {
  return layer.operations.size() == 1 && layer.operations[0].call == family.call &&
         layer.operations[0].mode == family.mode;
}

}  // namespace

std::vector<LegacyWay> StatisticWays(const OperationGraph& layer) {
  std::vector<LegacyWay> ways;
  for (const bool last : {false, true}) {
    for (const Family& family : kFamilies) {
      if (!Computes(family, layer) || (last && !family.takes_channels_last)) continue;
      LegacyWay way;
      way.name = family.name;
      if (layer.operations[0].call == "softmax") way.name += IsInstance(layer.operations[0]) ? "/instance" : "/channel";
      way.algorithm = family.algorithm;
      way.channels_last = last;
      ways.push_back(way);
    }
  }
  return ways;
}

std::unique_ptr<LegacyCall> MakeStatistic(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle) {
  const auto* const family = std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& one) {
    return Computes(one, layer) && one.algorithm == way.algorithm;
  });
  if (family == std::end(kFamilies)) throw std::runtime_error("unsupported: none of cuDNN's older calls computes this");
  return family->make(layer, way, handle);
}

std::vector<LegacyWay> LegacyWays(const OperationGraph& layer, const std::string& contract) {
  for (std::vector<LegacyWay> ways :
       {ConvolutionWays(layer, contract), StatisticWays(layer), RecurrentWays(layer, contract)})
    if (!ways.empty()) return ways;
  return {};
}

}  // namespace cudnn
