// Softmax, local response and batch normalization, and poolings by cuDNN's older calls.
#include <algorithm>

#include "microbench/libraries/cudnn_legacy/legacy_calls.h"
#include "microbench/libraries/cudnn_legacy/legacy_descriptors.h"
#include "microbench/reference/region_tensors.h"
#include "src/core/measurement/cudnn_shapes.h"

namespace infimum::cuda {
namespace {

// A call on tensors that are bound by position: operands, then the result.
class CallProgram : public GpuProgram {
 public:
  using Call = std::function<cudnnStatus_t(cudnnHandle_t, const std::vector<void*>&)>;

  CallProgram(std::shared_ptr<CudnnHandle> handle, std::vector<GpuBinding> bindings, Call call)
      : GpuProgram(std::move(bindings)), handle_(std::move(handle)), call_(std::move(call)) {}

  Status Enqueue(Gpu::Stream stream) override {
    INFIMUM_RETURN_IF_ERROR(handle_->Use(stream));
    return CheckCudnn(call_(static_cast<cudnnHandle_t>(handle_->get()), addresses_), "running");
  }

 private:
  std::shared_ptr<CudnnHandle> handle_;
  Call call_;
};

using Tensor = cudnn::Descriptor<cudnnTensorDescriptor_t>;

std::shared_ptr<Tensor> MakeTensor() {
  return std::make_shared<Tensor>(CUDNN_FUNCTION(cudnnCreateTensorDescriptor),
                                  CUDNN_FUNCTION(cudnnDestroyTensorDescriptor));
}

GpuOffer OfferOf(std::string name, std::function<Result<std::unique_ptr<GpuProgram>>(Gpu&)> make) {
  return {{std::string(kCudnnLegacy), std::move(name), "plain", "plain", false}, std::move(make)};
}

std::vector<GpuOffer> SoftmaxOffers(const std::shared_ptr<CudnnHandle>& handle, const RegionMember& member,
                                    const SoftmaxConfig& config) {
  struct Algorithm {
    cudnnSoftmaxAlgorithm_t number;
    const char* name;
  };
  std::vector<Algorithm> algorithms;
  if (config.kind == SoftmaxKind::kSoftmax)
    algorithms = {{CUDNN_SOFTMAX_ACCURATE, "accurate"}, {CUDNN_SOFTMAX_FAST, "fast"}};
  if (config.kind == SoftmaxKind::kLogSoftmax) algorithms = {{CUDNN_SOFTMAX_LOG, "log"}};
  // Outer x axis x inner as images x channels x pixels; alone it is an instance.
  Shape shape{{1, 1, 1, 1}};
  for (std::size_t i = 0; i < config.input.rank(); ++i) {
    const auto axis = static_cast<std::size_t>(config.axis);
    shape.dims[i < axis ? 0 : i == axis ? 1 : 2] *= config.input.dims[i];
  }
  const bool is_instance = shape.dims[2] == 1;
  std::vector<GpuOffer> offers;
  for (const Algorithm& algorithm : algorithms) {
    const std::string name = "softmax/" + std::string(algorithm.name) + (is_instance ? "/instance" : "/channel");
    offers.push_back(OfferOf(name, [=](Gpu&) -> Result<std::unique_ptr<GpuProgram>> {
      const std::shared_ptr<Tensor> tensor = MakeTensor();
      INFIMUM_RETURN_IF_ERROR(SetTensor(tensor->get(), config.types.input, TensorPlacement::RowMajor(shape)));
      const LegacyFactors factors(config.types.input);
      return std::unique_ptr<GpuProgram>(std::make_unique<CallProgram>(
          handle, PlainBindings(member), [=](cudnnHandle_t cudnn, const std::vector<void*>& at) {
            return CUDNN_FUNCTION(cudnnSoftmaxForward)(
                cudnn, algorithm.number, is_instance ? CUDNN_SOFTMAX_MODE_INSTANCE : CUDNN_SOFTMAX_MODE_CHANNEL,
                factors.one(), tensor->get(), at[0], factors.zero(), tensor->get(), at[1]);
          }));
    }));
  }
  return offers;
}

std::vector<GpuOffer> Normalization(const std::shared_ptr<CudnnHandle>& handle, const RegionMember& member,
                                    const NormalizationConfig& config, const cpu::LayerValues& values) {
  if (config.axis != 1 || config.input.rank() < 3) return {};
  Shape shape = config.input;  // images x channels x pixels
  while (shape.rank() < 4) shape.dims.push_back(1);
  const LegacyFactors factors(config.types.input);
  if (config.kind == NormalizationKind::kLocalResponse) {
    return {OfferOf("lrn", [=](Gpu&) -> Result<std::unique_ptr<GpuProgram>> {
      const std::shared_ptr<Tensor> tensor = MakeTensor();
      INFIMUM_RETURN_IF_ERROR(SetTensor(tensor->get(), config.types.input, TensorPlacement::RowMajor(shape)));
      const auto response = std::make_shared<cudnn::Descriptor<cudnnLRNDescriptor_t>>(
          CUDNN_FUNCTION(cudnnCreateLRNDescriptor), CUDNN_FUNCTION(cudnnDestroyLRNDescriptor));
      INFIMUM_RETURN_IF_ERROR(CheckCudnn(
          CUDNN_FUNCTION(cudnnSetLRNDescriptor)(response->get(), static_cast<unsigned>(config.size),
                                                values.response_alpha, values.response_beta, values.response_k),
          "describing it"));
      return std::unique_ptr<GpuProgram>(std::make_unique<CallProgram>(
          handle, PlainBindings(member), [=](cudnnHandle_t cudnn, const std::vector<void*>& at) {
            return CUDNN_FUNCTION(cudnnLRNCrossChannelForward)(cudnn, response->get(), CUDNN_LRN_CROSS_CHANNEL_DIM1,
                                                               factors.one(), tensor->get(), at[0], factors.zero(),
                                                               tensor->get(), at[1]);
          }));
    })};
  }
  if (config.kind != NormalizationKind::kBatch || !config.scale || !config.bias) return {};
  return {OfferOf("batchnorm/spatial", [=](Gpu&) -> Result<std::unique_ptr<GpuProgram>> {
    const std::shared_ptr<Tensor> tensor = MakeTensor(), parameters = MakeTensor();
    INFIMUM_RETURN_IF_ERROR(SetTensor(tensor->get(), config.types.input, TensorPlacement::RowMajor(shape)));
    INFIMUM_RETURN_IF_ERROR(CheckCudnn(
        CUDNN_FUNCTION(cudnnDeriveBNTensorDescriptor)(parameters->get(), tensor->get(), CUDNN_BATCHNORM_SPATIAL),
        "describing it"));
    // Its parameters are f32 for all narrower types.
    const DataType expected = config.types.input == DataType::kF64 ? DataType::kF64 : DataType::kF32;
    if (config.types.weights != expected)
      return Error{"unsupported: cuDNN's batch normalization has parameters of " + std::string(Name(expected))};
    return std::unique_ptr<GpuProgram>(std::make_unique<CallProgram>(
        handle, PlainBindings(member), [=](cudnnHandle_t cudnn, const std::vector<void*>& at) {
          return CUDNN_FUNCTION(cudnnBatchNormalizationForwardInference)(
              cudnn, CUDNN_BATCHNORM_SPATIAL, factors.one(), factors.zero(), tensor->get(), at[0], tensor->get(), at[5],
              parameters->get(), at[1], at[2], at[3], at[4], values.epsilon);
        }));
  })};
}

std::vector<GpuOffer> Pooling(const std::shared_ptr<CudnnHandle>& handle, const RegionMember& member,
                              const PoolingConfig& config) {
  cudnnPoolingMode_t mode;
  const char* name;
  switch (config.kind) {
    case PoolingKind::kMax:
      mode = CUDNN_POOLING_MAX;
      name = "pooling/max";
      break;
    case PoolingKind::kAverageWithPad:
      mode = CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
      name = "pooling/average_include_padding";
      break;
    case PoolingKind::kAverageWithoutPad:
      mode = CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
      name = "pooling/average_exclude_padding";
      break;
    default:
      return {};
  }
  const bool is_dilated = std::ranges::any_of(config.dilation.dims, [](std::int64_t extent) { return extent != 1; });
  if (is_dilated || config.kernel.rank() > 3) return {};
  return {OfferOf(name, [=](Gpu&) -> Result<std::unique_ptr<GpuProgram>> {
    const std::shared_ptr<Tensor> input = MakeTensor(), output = MakeTensor();
    const auto placed = [](const Shape& shape) { return TensorPlacement::WithChannels(WithTwoSpatial(shape), false); };
    INFIMUM_RETURN_IF_ERROR(SetTensor(input->get(), config.types.input, placed(config.input)));
    INFIMUM_RETURN_IF_ERROR(SetTensor(output->get(), config.types.output, placed(config.output)));
    const auto window = std::make_shared<cudnn::Descriptor<cudnnPoolingDescriptor_t>>(
        CUDNN_FUNCTION(cudnnCreatePoolingDescriptor), CUDNN_FUNCTION(cudnnDestroyPoolingDescriptor));
    const auto ints = [](const auto& list) { return std::vector<int>(list.begin(), list.end()); };
    // Padding behind follows from the output's extent.
    const std::vector<int> kernel = ints(SpatialSteps(config.kernel)), padding = ints(PaddingBefore(config.padding)),
                           stride = ints(SpatialSteps(config.stride));
    INFIMUM_RETURN_IF_ERROR(CheckCudnn(CUDNN_FUNCTION(cudnnSetPoolingNdDescriptor)(
                                           window->get(), mode, CUDNN_PROPAGATE_NAN, static_cast<int>(kernel.size()),
                                           kernel.data(), padding.data(), stride.data()),
                                       "describing it"));
    const LegacyFactors factors(config.types.input);
    return std::unique_ptr<GpuProgram>(std::make_unique<CallProgram>(
        handle, PlainBindings(member), [=](cudnnHandle_t cudnn, const std::vector<void*>& at) {
          return CUDNN_FUNCTION(cudnnPoolingForward)(cudnn, window->get(), factors.one(), input->get(), at[0],
                                                     factors.zero(), output->get(), at[1]);
        }));
  })};
}

}  // namespace

std::vector<GpuOffer> LegacyStatistics(const std::shared_ptr<CudnnHandle>& handle, const cpu::ValuedRegion& problem) {
  if (problem.region.members.size() != 1) return {};
  const RegionMember& member = problem.region.members.front();
  if (const auto* softmax = std::get_if<SoftmaxConfig>(&member.config)) return SoftmaxOffers(handle, member, *softmax);
  if (const auto* pooling = std::get_if<PoolingConfig>(&member.config)) return Pooling(handle, member, *pooling);
  if (const auto* normalization = std::get_if<NormalizationConfig>(&member.config))
    return Normalization(handle, member, *normalization, cpu::ValuesOfMember(problem.values, 0));
  return {};
}

std::vector<GpuOffer> LegacyOffers(const std::shared_ptr<CudnnHandle>& handle, const Workload& workload,
                                   NumericContract contract, const cpu::RegionValues& values) {
  std::vector<GpuOffer> offers = LegacyConvolutions(handle, workload, contract);
  const cpu::ValuedRegion problem{cpu::RegionOf(workload), values};
  for (GpuOffer& offer : LegacyStatistics(handle, problem)) offers.push_back(std::move(offer));
  for (GpuOffer& offer : LegacyRecurrent(handle, problem, contract)) offers.push_back(std::move(offer));
  return offers;
}

}  // namespace infimum::cuda
