#include "microbench/libraries/cudnn_legacy/legacy_calls.h"

#include "microbench/gpu/device/caught.h"
#include "microbench/libraries/cudnn/cudnn_library.h"
#include "microbench/libraries/cudnn_legacy/calls/legacy_recurrent.h"
#include "microbench/libraries/cudnn_legacy/recurrent_gates.h"
#include "microbench/reference/region_tensors.h"
#include "src/core/measurement/cudnn_form.h"
#include "src/core/measurement/cudnn_legacy.h"

void* cudnn::SymbolOf(const char* name) { return infimum::cuda::CudnnLibrary::Symbol(name); }

namespace infimum::cuda {
namespace {

std::vector<GpuBinding> BindingsOf(const CudnnOperations& layer, bool channels_last) {
  cudnn::Form form;
  form.channels_last = channels_last;
  std::vector<GpuBinding> bindings;
  const auto bind = [&](const CudnnOperand& operand, const cudnn::Dims& dims, cudnn::Layout layout) {
    bindings.push_back({operand.tensor, 0, operand.type, PlacementOf(dims, layout, operand.shape, form)});
  };
  for (std::size_t i = 0; i < layer.tensors.size(); ++i)
    bind(layer.tensors[i], layer.graph.tensors[i].dims, layer.graph.tensors[i].layout);
  bind(layer.outputs[0], layer.graph.operations.back().dims, layer.graph.operations.back().layout);
  return bindings;
}

class LegacyProgram : public GpuProgram {
 public:
  LegacyProgram(std::shared_ptr<CudnnHandle> handle, std::vector<GpuBinding> bindings,
                std::unique_ptr<cudnn::LegacyCall> call)
      : GpuProgram(std::move(bindings)), call_(std::move(call)), handle_(std::move(handle)) {}

  Bytes workspace() const override { return Bytes{static_cast<std::int64_t>(call_->workspace())}; }

  Status Enqueue(Gpu::Stream stream) override {
    INFIMUM_RETURN_IF_ERROR(handle_->Use(stream));
    return Caught([&] { call_->Run(Tensors(), addresses_.back(), workspace_); });
  }

 protected:
  virtual std::vector<void*> Tensors() const { return addresses_; }

  std::unique_ptr<cudnn::LegacyCall> call_;

 private:
  std::shared_ptr<CudnnHandle> handle_;
};

// cuDNN has a recurrent layer's weights in one block, where they are put once, from where they are when it is prepared.
class RecurrentProgram : public LegacyProgram {
 public:
  RecurrentProgram(Gpu& gpu, std::shared_ptr<CudnnHandle> handle, std::vector<GpuBinding> bindings,
                   const RecurrentConfig& config, std::unique_ptr<cudnn::RecurrentCall> call)
      : LegacyProgram(std::move(handle), std::move(bindings), nullptr), gpu_(gpu), config_(config), recurrent_(*call) {
    call_ = std::move(call);
    // Ours is steps x directions x batch x hidden; cuDNN has both directions of a step side by side.
    bindings_.back().placement.strides = {config.directions * config.batch * config.hidden, config.hidden,
                                          config.directions * config.hidden, 1};
  }

  Status Bind(const std::vector<void*>& addresses, void* workspace) override {
    for (std::size_t i = 1; is_packed_ && i + 1 < addresses.size(); ++i)
      if (addresses[i] != addresses_[i]) return Error{"unsupported: its constant operands cannot be moved"};
    return GpuProgram::Bind(addresses, workspace);
  }

  Status Prepare() override {
    const Bytes size{static_cast<std::int64_t>(recurrent_.packed_weights())};
    INFIMUM_ASSIGN_OR_RETURN(weights_, DeviceMemory::Allocate(gpu_, size));
    std::vector<std::vector<std::byte>> given(bindings_.size());
    for (std::size_t i = 1; i + 1 < bindings_.size(); ++i) {
      const Bytes bytes = bindings_[i].placement.bytes(bindings_[i].type);
      given[i].resize(static_cast<std::size_t>(bytes.value));
      INFIMUM_RETURN_IF_ERROR(gpu_.Download(given[i].data(), addresses_[i], bytes));
    }
    INFIMUM_RETURN_IF_ERROR(gpu_.Fill(weights_.data(), 0, size));
    for (std::int64_t direction = 0; direction < config_.directions; ++direction) {
      for (const RecurrentBlock& block : RecurrentBlocksOf(config_, direction))
        INFIMUM_RETURN_IF_ERROR(Place(direction, block, given));
    }
    is_packed_ = true;
    return {};
  }

 private:
  std::vector<void*> Tensors() const override { return {addresses_.front(), weights_.data()}; }

  // A gate's matrix and bias, to where cuDNN has them.
  Status Place(std::int64_t direction, const RecurrentBlock& block, const std::vector<std::vector<std::byte>>& given) {
    INFIMUM_ASSIGN_OR_RETURN(const cudnn::WeightPlace place, Caught([&] {
                               return recurrent_.PlaceOf(static_cast<int>(direction), block.layer, weights_.data());
                             }));
    const auto element = static_cast<std::int64_t>(cpu::BytesPerElement(config_.types.weights));
    const auto put = [&](void* at, std::size_t operand, std::int64_t first, std::int64_t count) -> Status {
      if (at == nullptr) return Error{"cuDNN has no place for a weight"};
      return gpu_.Upload(at, given[operand].data() + first * element, Bytes{count * element});
    };
    INFIMUM_RETURN_IF_ERROR(put(place.matrix, block.operand, block.first, block.count));
    if (!config_.bias) return {};
    return put(place.bias, 3, block.first_bias, config_.hidden);
  }

  Gpu& gpu_;
  RecurrentConfig config_;
  const cudnn::RecurrentCall& recurrent_;
  DeviceMemory weights_;
  bool is_packed_ = false;
};

CudnnValues ValuesOf(const cpu::LayerValues& values) {
  CudnnValues result;
  result.epsilon = values.epsilon;
  result.response_alpha = values.response_alpha;
  result.response_beta = values.response_beta;
  result.response_k = values.response_k;
  return result;
}

}  // namespace

std::vector<GpuOffer> LegacyOffers(const std::shared_ptr<CudnnHandle>& handle, const Workload& workload,
                                   NumericContract contract, const cpu::RegionValues& values) {
  const Region region = cpu::RegionOf(workload);
  const Result<CudnnOperations> layer = CudnnLegacyOf(region, {ValuesOf(cpu::ValuesOfMember(values, 0))});
  if (!layer.ok()) return {};
  std::vector<GpuOffer> offers;
  // Of convolutions alone cuDNN chooses an algorithm.
  const bool chooses = std::holds_alternative<ConvolutionConfig>(LeadOf(workload));
  for (const cudnn::LegacyWay& way : cudnn::LegacyWays(layer->graph, std::string(Name(contract)))) {
    CudnnForm form;
    form.channels_last = way.channels_last;
    const Candidate candidate = {std::string(kCudnnLegacy), way.name, InputLayouts(workload, form),
                                 OutputLayout(workload, form), chooses && offers.empty()};
    offers.push_back({candidate, [=, layer = *layer, lead = LeadOf(workload)](Gpu& gpu) {
                        return Caught([&]() -> std::unique_ptr<GpuProgram> {
                          std::vector<GpuBinding> bindings = BindingsOf(layer, way.channels_last);
                          const auto cudnn = static_cast<cudnnHandle_t>(handle->get());
                          if (const auto* recurrent = std::get_if<RecurrentConfig>(&lead))
                            return std::make_unique<RecurrentProgram>(
                                gpu, handle, std::move(bindings), *recurrent,
                                std::make_unique<cudnn::RecurrentCall>(layer.graph, way, cudnn));
                          return std::make_unique<LegacyProgram>(handle, std::move(bindings),
                                                                 cudnn::MakeLegacyCall(layer.graph, way, cudnn));
                        });
                      }});
  }
  return offers;
}

}  // namespace infimum::cuda
