
#include "microbench/libraries/cudnn_legacy/legacy_calls.h"
#include "microbench/libraries/cudnn_legacy/legacy_descriptors.h"
#include "microbench/reference/region_tensors.h"
#include "src/core/measurement/cudnn_form.h"
#include "src/core/measurement/cudnn_shapes.h"

namespace infimum::cuda {
namespace {

struct ConvolutionAlgorithm {
  cudnnConvolutionFwdAlgo_t number;
  const char* name;
};
constexpr ConvolutionAlgorithm kConvolutionAlgorithms[] = {
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, "implicit_precomp_gemm"},
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, "implicit_gemm"},
    {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, "gemm"},
    {CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, "direct"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT, "fft"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, "fft_tiling"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, "winograd"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, "winograd_nonfused"}};

struct Way {
  ConvolutionAlgorithm algorithm{};
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  bool half_sums = false;
  bool channels_last = false;
};

std::string NameOf(const Way& way) {
  std::string name = way.algorithm.name;
  if (way.math == CUDNN_TENSOR_OP_MATH) name += "/tensor_op";
  if (way.half_sums) name += "/acc=f16";
  return name;
}

// A convolution with what one call computes beside it.
struct Fused {
  ConvolutionConfig config;
  std::vector<RegionOperand> operands;  // input, weights, bias
  std::int64_t result = 0;              // the member whose output it is
  bool relu = false;

  bool has_epilogue() const { return config.bias || relu; }
};

std::optional<Fused> FusedOf(const Region& region) {
  const auto* config = std::get_if<ConvolutionConfig>(&region.members.front().config);
  if (config == nullptr || config->transposed || region.outputs.size() != 1 || region.members.size() > 2)
    return std::nullopt;
  Fused fused{*config, region.members.front().operands, 0, false};
  if (region.members.size() == 1) return fused;
  const auto* relu = std::get_if<PointwiseConfig>(&region.members[1].config);
  if (relu == nullptr || relu->kind != PointwiseKind::kRelu || !config->bias) return std::nullopt;
  fused.relu = true;
  fused.result = 1;
  return fused;
}

class ConvolutionProgram : public GpuProgram {
 public:
  ConvolutionProgram(std::shared_ptr<CudnnHandle> handle, Fused fused, Way way)
      : handle_(std::move(handle)), fused_(std::move(fused)), way_(way), factors_(fused_.config.types.input) {}

  Status Describe() {
    const ConvolutionConfig& config = fused_.config;
    for (std::size_t i = 0; i < config.padding.size() / 2; ++i)
      if (config.padding[i] != config.padding[i + config.padding.size() / 2])
        return Error{"unsupported: cuDNN's older calls pad both sides alike"};
    const auto placed = [&](const Shape& shape) {
      return TensorPlacement::WithChannels(WithTwoSpatial(shape), way_.channels_last);
    };
    const TensorPlacement input = placed(config.input), weights = placed(WeightShape(config)),
                          output = placed(OutputShape(config));
    INFIMUM_RETURN_IF_ERROR(SetTensor(input_.get(), config.types.input, input));
    INFIMUM_RETURN_IF_ERROR(SetTensor(output_.get(), config.types.output, output));
    INFIMUM_ASSIGN_OR_RETURN(const cudnnDataType_t type, LegacyTypeOf(config.types.weights));
    const auto ints = [](const auto& list) { return std::vector<int>(list.begin(), list.end()); };
    INFIMUM_RETURN_IF_ERROR(
        CheckCudnn(INFIMUM_CUDNN(cudnnSetFilterNdDescriptor)(
                       weights_.get(), type, way_.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                       static_cast<int>(weights.shape.rank()), ints(weights.shape.dims).data()),
                   "describing the weights"));
    cudnnDataType_t sums = way_.half_sums ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
    if (IsInteger(config.types.input)) sums = CUDNN_DATA_INT32;
    if (config.types.input == DataType::kF64) sums = CUDNN_DATA_DOUBLE;
    const std::vector<int> padding = ints(PaddingBefore(config.padding)), stride = ints(SpatialSteps(config.stride)),
                           dilation = ints(SpatialSteps(config.dilation));
    INFIMUM_RETURN_IF_ERROR(CheckCudnn(INFIMUM_CUDNN(cudnnSetConvolutionNdDescriptor)(
                                           convolution_.get(), static_cast<int>(padding.size()), padding.data(),
                                           stride.data(), dilation.data(), CUDNN_CROSS_CORRELATION, sums),
                                       "describing the convolution"));
    INFIMUM_RETURN_IF_ERROR(
        CheckCudnn(INFIMUM_CUDNN(cudnnSetConvolutionGroupCount)(convolution_.get(), static_cast<int>(config.groups)),
                   "setting groups"));
    INFIMUM_RETURN_IF_ERROR(CheckCudnn(INFIMUM_CUDNN(cudnnSetConvolutionMathType)(convolution_.get(), way_.math),
                                       "setting the arithmetic"));
    bindings_ = {{fused_.operands[0], 0, config.types.input, input},
                 {fused_.operands[1], 0, config.types.weights, weights}};
    if (fused_.has_epilogue()) INFIMUM_RETURN_IF_ERROR(DescribeEpilogue(output.room.rank()));
    bindings_.push_back({{RegionOperand::Source::kMember, fused_.result}, 0, config.types.output, output});
    std::size_t workspace = 0;
    INFIMUM_RETURN_IF_ERROR(CheckCudnn(INFIMUM_CUDNN(cudnnGetConvolutionForwardWorkspaceSize)(
                                           Handle(), input_.get(), weights_.get(), convolution_.get(), output_.get(),
                                           way_.algorithm.number, &workspace),
                                       "asking for scratch memory"));
    scratch_ = Bytes{static_cast<std::int64_t>(workspace)};
    return {};
  }

  Bytes workspace() const override { return scratch_; }

  Status Enqueue(Gpu::Stream stream) override {
    INFIMUM_RETURN_IF_ERROR(handle_->Use(stream));
    const auto size = static_cast<std::size_t>(scratch_.value);
    void* const y = addresses_.back();
    if (!fused_.has_epilogue()) {
      return CheckCudnn(
          INFIMUM_CUDNN(cudnnConvolutionForward)(Handle(), factors_.one(), input_.get(), addresses_[0], weights_.get(),
                                                 addresses_[1], convolution_.get(), way_.algorithm.number, workspace_,
                                                 size, factors_.zero(), output_.get(), y),
          "running");
    }
    return CheckCudnn(INFIMUM_CUDNN(cudnnConvolutionBiasActivationForward)(
                          Handle(), factors_.one(), input_.get(), addresses_[0], weights_.get(), addresses_[1],
                          convolution_.get(), way_.algorithm.number, workspace_, size, factors_.zero(), output_.get(),
                          y, bias_.get(), addresses_[2], activation_.get(), output_.get(), y),
                      "running");
  }

 private:
  cudnnHandle_t Handle() const { return static_cast<cudnnHandle_t>(handle_->get()); }

  Status DescribeEpilogue(std::size_t rank) {
    const ConvolutionConfig& config = fused_.config;
    Shape channels{std::vector<std::int64_t>(rank, 1)};
    channels.dims[1] = config.output_channels;
    const TensorPlacement bias = TensorPlacement::WithChannels(channels, way_.channels_last);
    INFIMUM_RETURN_IF_ERROR(SetTensor(bias_.get(), config.types.output, bias));
    bindings_.push_back({fused_.operands[2], 0, config.types.output, bias});
    return CheckCudnn(INFIMUM_CUDNN(cudnnSetActivationDescriptor)(
                          activation_.get(), fused_.relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY,
                          CUDNN_NOT_PROPAGATE_NAN, 0),
                      "describing the activation");
  }

  std::shared_ptr<CudnnHandle> handle_;
  Fused fused_;
  Way way_;
  LegacyFactors factors_;
  INFIMUM_DESCRIPTOR(cudnnTensorDescriptor_t, TensorDescriptor, input_);
  INFIMUM_DESCRIPTOR(cudnnTensorDescriptor_t, TensorDescriptor, output_);
  INFIMUM_DESCRIPTOR(cudnnTensorDescriptor_t, TensorDescriptor, bias_);
  INFIMUM_DESCRIPTOR(cudnnFilterDescriptor_t, FilterDescriptor, weights_);
  INFIMUM_DESCRIPTOR(cudnnConvolutionDescriptor_t, ConvolutionDescriptor, convolution_);
  INFIMUM_DESCRIPTOR(cudnnActivationDescriptor_t, ActivationDescriptor, activation_);
  Bytes scratch_;
};

// The ways of the call under a contract, the usual one first.
std::vector<Way> WaysOf(const Fused& fused, NumericContract contract) {
  std::vector<Way> ways;
  const bool is_half = fused.config.types.input == DataType::kF16 || fused.config.types.input == DataType::kBF16;
  for (const ConvolutionAlgorithm& algorithm : kConvolutionAlgorithms) {
    Way way{algorithm};
    // For f32, CUDNN_DEFAULT_MATH allows Tensor Cores and CUDNN_FMA_MATH does not.
    if (contract == NumericContract::kStrictF32) way.math = CUDNN_FMA_MATH;
    if (is_half) way.math = CUDNN_TENSOR_OP_MATH;
    ways.push_back(way);
    if (!is_half) continue;
    Way other = way;
    other.math = CUDNN_FMA_MATH;
    ways.push_back(other);
    if (contract != NumericContract::kF16) continue;
    other = way;
    other.half_sums = true;
    ways.push_back(other);
  }
  // Channels last: the one algorithm that takes them.
  Way last = ways.front();
  last.channels_last = true;
  ways.push_back(last);
  return ways;
}

}  // namespace

std::vector<GpuOffer> LegacyConvolutions(const std::shared_ptr<CudnnHandle>& handle, const Workload& workload,
                                         NumericContract contract) {
  const std::optional<Fused> fused = FusedOf(cpu::RegionOf(workload));
  if (!fused || IsInteger(fused->config.types.input)) return {};
  std::vector<GpuOffer> offers;
  for (const Way& way : WaysOf(*fused, contract)) {
    CudnnForm form;
    form.channels_last = way.channels_last;
    const Candidate candidate = {std::string(kCudnnLegacy), NameOf(way), InputLayouts(workload, form),
                                 OutputLayout(workload, form), offers.empty()};
    const auto make = [handle, fused = *fused, way](Gpu&) -> Result<std::unique_ptr<GpuProgram>> {
      auto program = std::make_unique<ConvolutionProgram>(handle, fused, way);
      INFIMUM_RETURN_IF_ERROR(program->Describe());
      return std::unique_ptr<GpuProgram>(std::move(program));
    };
    offers.push_back({candidate, make});
  }
  return offers;
}

}  // namespace infimum::cuda
