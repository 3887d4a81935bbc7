// LSTM, GRU and plain recurrent layers by cudnnRNNForward, which the graph has no operation for.
#include <limits>

#include "microbench/libraries/cudnn_legacy/legacy_calls.h"
#include "microbench/libraries/cudnn_legacy/legacy_descriptors.h"
#include "microbench/libraries/cudnn_legacy/recurrent_gates.h"

namespace infimum::cuda {
namespace {

struct RecurrentAlgorithm {
  cudnnRNNAlgo_t number;
  const char* name;
};
constexpr RecurrentAlgorithm kRecurrentAlgorithms[] = {
    {CUDNN_RNN_ALGO_STANDARD, "standard"},
    {CUDNN_RNN_ALGO_PERSIST_STATIC, "persist_static"},
    {CUDNN_RNN_ALGO_PERSIST_DYNAMIC, "persist_dynamic"},
    {CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H, "persist_static_small_h"}};

cudnnRNNMode_t CellOf(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::kLstm:
      return CUDNN_LSTM;
    case RecurrentKind::kRnnTanh:
      return CUDNN_RNN_TANH;
    case RecurrentKind::kRnnRelu:
      return CUDNN_RNN_RELU;
    default:
      return CUDNN_GRU;
  }
}

// FMA for strict f32 and f64, Tensor Cores for 16 bits, whatever the library likes for tf32.
cudnnMathType_t MathOf(const RecurrentConfig& config, NumericContract contract) {
  if (config.types.input == DataType::kF16 || config.types.input == DataType::kBF16) return CUDNN_TENSOR_OP_MATH;
  return contract == NumericContract::kTf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

std::vector<GpuBinding> BindingsOf(const RegionMember& member, const RecurrentConfig& config) {
  std::vector<GpuBinding> bindings = PlainBindings(member);
  // Ours is steps x directions x batch x hidden; cuDNN has both directions of a step side by side.
  bindings.back().placement.strides = {config.directions * config.batch * config.hidden, config.hidden,
                                       config.directions * config.hidden, 1};
  return bindings;
}

class RecurrentProgram : public GpuProgram {
 public:
  RecurrentProgram(Gpu& gpu, std::shared_ptr<CudnnHandle> handle, const RegionMember& member,
                   const RecurrentConfig& config)
      : GpuProgram(BindingsOf(member, config)), gpu_(gpu), handle_(std::move(handle)), config_(config) {}

  Status Describe(const RecurrentAlgorithm& algorithm, NumericContract contract) {
    INFIMUM_ASSIGN_OR_RETURN(const cudnnDataType_t type, LegacyTypeOf(config_.types.input));
    for (const GpuBinding& binding : bindings_)
      if (binding.type != config_.types.input)
        return Error{"unsupported: cuDNN's recurrent layers have one type for all"};
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    for (const std::int64_t extent : {config_.sequence, config_.batch, config_.input, config_.hidden})
      if (extent > kMost) return Error{"unsupported: cuDNN's older calls count in 32 bits"};
    const auto input = static_cast<int>(config_.input), hidden = static_cast<int>(config_.hidden);
    const auto batch = static_cast<int>(config_.batch), steps = static_cast<int>(config_.sequence);
    INFIMUM_RETURN_IF_ERROR(CheckCudnn(
        CUDNN_FUNCTION(cudnnSetDropoutDescriptor)(dropout_.get(), cudnn(), 0, nullptr, 0, 0), "describing no dropout"));
    const cudnnDataType_t sums = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    INFIMUM_RETURN_IF_ERROR(CheckCudnn(
        CUDNN_FUNCTION(cudnnSetRNNDescriptor_v8)(layer_.get(), algorithm.number, CellOf(config_.kind),
                                                 config_.bias ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
                                                 config_.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                                                 CUDNN_LINEAR_INPUT, type, sums, MathOf(config_, contract), input,
                                                 hidden, hidden, 1, dropout_.get(), CUDNN_RNN_PADDED_IO_DISABLED),
        "describing it"));
    const std::vector<int> lengths(static_cast<std::size_t>(batch), steps);
    const auto set_data = [&](cudnnRNNDataDescriptor_t data, int width) {
      return CheckCudnn(CUDNN_FUNCTION(cudnnSetRNNDataDescriptor)(data, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
                                                                  steps, batch, width, lengths.data(), nullptr),
                        "describing a sequence");
    };
    INFIMUM_RETURN_IF_ERROR(set_data(x_.get(), input));
    INFIMUM_RETURN_IF_ERROR(set_data(y_.get(), hidden * static_cast<int>(config_.directions)));
    const Shape state{{config_.directions, config_.batch, config_.hidden}};
    INFIMUM_RETURN_IF_ERROR(SetTensor(state_.get(), config_.types.input, TensorPlacement::RowMajor(state)));
    if (algorithm.number == CUDNN_RNN_ALGO_PERSIST_DYNAMIC)
      INFIMUM_RETURN_IF_ERROR(
          CheckCudnn(CUDNN_FUNCTION(cudnnBuildRNNDynamic)(cudnn(), layer_.get(), batch), "compiling it"));
    INFIMUM_RETURN_IF_ERROR(
        CheckCudnn(CUDNN_FUNCTION(cudnnGetRNNTempSpaceSizes)(cudnn(), layer_.get(), CUDNN_FWD_MODE_INFERENCE, x_.get(),
                                                             &scratch_bytes_, &reserve_bytes_),
                   "asking for its scratch memory"));
    INFIMUM_RETURN_IF_ERROR(CheckCudnn(
        CUDNN_FUNCTION(cudnnGetRNNWeightSpaceSize)(cudnn(), layer_.get(), &weight_bytes_), "asking for its weights"));
    INFIMUM_ASSIGN_OR_RETURN(weights_, DeviceMemory::Allocate(gpu_, Bytes{static_cast<std::int64_t>(weight_bytes_)}));
    return {};
  }

  Bytes workspace() const override { return Bytes{static_cast<std::int64_t>(scratch_bytes_)}; }

  Status Bind(const std::vector<void*>& addresses, void* workspace) override {
    // Weights were packed once, from where they were then.
    for (std::size_t i = 1; is_packed_ && i + 1 < addresses.size(); ++i)
      if (addresses[i] != addresses_[i]) return Error{"unsupported: its constant operands cannot be moved"};
    return GpuProgram::Bind(addresses, workspace);
  }

  Status Prepare() override {
    std::vector<std::vector<std::byte>> given(bindings_.size());
    for (std::size_t i = 1; i + 1 < bindings_.size(); ++i) {
      const Bytes size = bindings_[i].placement.bytes(bindings_[i].type);
      given[i].resize(static_cast<std::size_t>(size.value));
      INFIMUM_RETURN_IF_ERROR(gpu_.Download(given[i].data(), addresses_[i], size));
    }
    INFIMUM_RETURN_IF_ERROR(gpu_.Fill(weights_.data(), 0, weights_.size()));
    for (std::int64_t direction = 0; direction < config_.directions; ++direction) {
      for (const RecurrentBlock& block : RecurrentBlocksOf(config_, direction))
        INFIMUM_RETURN_IF_ERROR(Place(direction, block, given));
    }
    is_packed_ = true;
    return {};
  }

  Status Enqueue(Gpu::Stream stream) override {
    INFIMUM_RETURN_IF_ERROR(handle_->Use(stream));
    return CheckCudnn(CUDNN_FUNCTION(cudnnRNNForward)(
                          cudnn(), layer_.get(), CUDNN_FWD_MODE_INFERENCE, nullptr, x_.get(), addresses_.front(),
                          y_.get(), addresses_.back(), state_.get(), nullptr, nullptr, state_.get(), nullptr, nullptr,
                          weight_bytes_, weights_.data(), scratch_bytes_, workspace_, 0, nullptr),
                      "running");
  }

 private:
  cudnnHandle_t cudnn() const { return static_cast<cudnnHandle_t>(handle_->get()); }

  // A gate's matrix and bias, to where cuDNN has them.
  Status Place(std::int64_t direction, const RecurrentBlock& block, const std::vector<std::vector<std::byte>>& given) {
    cudnn::Descriptor<cudnnTensorDescriptor_t> matrix = CUDNN_DESCRIPTOR(TensorDescriptor);
    cudnn::Descriptor<cudnnTensorDescriptor_t> bias = CUDNN_DESCRIPTOR(TensorDescriptor);
    void *matrix_at = nullptr, *bias_at = nullptr;
    INFIMUM_RETURN_IF_ERROR(
        CheckCudnn(CUDNN_FUNCTION(cudnnGetRNNWeightParams)(cudnn(), layer_.get(), static_cast<std::int32_t>(direction),
                                                           weight_bytes_, weights_.data(), block.layer, matrix.get(),
                                                           &matrix_at, bias.get(), &bias_at),
                   "asking where its weights lie"));
    const auto element = static_cast<std::int64_t>(cpu::BytesPerElement(config_.types.weights));
    const auto put = [&](void* at, std::size_t operand, std::int64_t first, std::int64_t count) -> Status {
      if (at == nullptr) return Error{"cuDNN has no place for a weight"};
      return gpu_.Upload(at, given[operand].data() + first * element, Bytes{count * element});
    };
    INFIMUM_RETURN_IF_ERROR(put(matrix_at, block.operand, block.first, block.count));
    if (!config_.bias) return {};
    return put(bias_at, 3, block.first_bias, config_.hidden);
  }

  Gpu& gpu_;
  std::shared_ptr<CudnnHandle> handle_;
  RecurrentConfig config_;
  cudnn::Descriptor<cudnnRNNDescriptor_t> layer_ = CUDNN_DESCRIPTOR(RNNDescriptor);
  cudnn::Descriptor<cudnnDropoutDescriptor_t> dropout_ = CUDNN_DESCRIPTOR(DropoutDescriptor);
  cudnn::Descriptor<cudnnRNNDataDescriptor_t> x_ = CUDNN_DESCRIPTOR(RNNDataDescriptor);
  cudnn::Descriptor<cudnnRNNDataDescriptor_t> y_ = CUDNN_DESCRIPTOR(RNNDataDescriptor);
  cudnn::Descriptor<cudnnTensorDescriptor_t> state_ = CUDNN_DESCRIPTOR(TensorDescriptor);
  std::size_t weight_bytes_ = 0, scratch_bytes_ = 0, reserve_bytes_ = 0;
  DeviceMemory weights_;
  bool is_packed_ = false;
};

}  // namespace

std::vector<GpuOffer> LegacyRecurrent(const std::shared_ptr<CudnnHandle>& handle, const cpu::ValuedRegion& problem,
                                      NumericContract contract) {
  if (problem.region.members.size() != 1) return {};
  const RegionMember& member = problem.region.members.front();
  const auto* config = std::get_if<RecurrentConfig>(&member.config);
  // The reset before the product is no cell of cuDNN's.
  if (config == nullptr || config->kind == RecurrentKind::kGru) return {};
  std::vector<GpuOffer> offers;
  for (const RecurrentAlgorithm& algorithm : kRecurrentAlgorithms) {
    const bool on_tensor_cores = MathOf(*config, contract) == CUDNN_TENSOR_OP_MATH;
    const std::string name = std::string("rnn/") + algorithm.name + (on_tensor_cores ? "/tensor_op" : "");
    const auto make = [=, layer = *config](Gpu& gpu) -> Result<std::unique_ptr<GpuProgram>> {
      auto program = std::make_unique<RecurrentProgram>(gpu, handle, member, layer);
      INFIMUM_RETURN_IF_ERROR(program->Describe(algorithm, contract));
      return std::unique_ptr<GpuProgram>(std::move(program));
    };
    offers.push_back({{std::string(kCudnnLegacy), name, "plain", "plain", false}, make});
  }
  return offers;
}

}  // namespace infimum::cuda
