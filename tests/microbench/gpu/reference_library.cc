#include "tests/microbench/gpu/reference_library.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/gpu/kernel_program.h"
#include "microbench/gpu/product_offers.h"
#include "microbench/reference/step_reference.h"
#include "src/core/measurement/cudnn_form.h"

namespace infimum::cuda {
namespace {

using cpu::HostTensor;

class OwnLibrary : public GpuLibraries {
 public:
  std::map<std::string, std::string> versions() override { return {}; }
  // PRETENDED_GPU=bare
  std::vector<std::string> missing() override {
    const char* const faults = std::getenv("PRETENDED_GPU");
    if (faults == nullptr || std::string_view(faults) != "bare") return {};
    return {"cuDNN (libcudnn.so.9) was not found"};
  }
  Result<std::vector<GpuOffer>> Offers(const Workload& workload, NumericContract, CandidateTier tier) override {
    std::vector<GpuOffer> offers = KernelOffers(BenchmarkedRegion(workload));
    if (tier == CandidateTier::kHeuristic && offers.size() > 1) offers.resize(1);
    return offers;
  }
  Result<std::optional<GpuOffer>> Find(const Workload& workload, NumericContract, const Candidate& candidate,
                                       const cpu::RegionValues& values) override {
    if (candidate.library != kOurs) return std::optional<GpuOffer>();
    for (GpuOffer& offer : KernelOffers({cpu::RegionOf(workload), values}))
      if (offer.candidate.algorithm == candidate.algorithm) return std::optional<GpuOffer>(std::move(offer));
    return std::optional<GpuOffer>();
  }
  std::vector<GpuOffer> LargeProducts(DataType, NumericContract, std::int64_t, std::optional<GemmSums>) override {
    return {};
  }
};

class ReferenceProgram : public GpuProgram {
 public:
  ReferenceProgram(PretendedGpu& gpu, LayerConfig config, cpu::LayerValues values, const CudnnForm& form)
      : gpu_(gpu), config_(std::move(config)), values_(std::move(values)) {
    const Region region = cpu::RegionOf(config_);
    const auto place = [&](const Operand& operand) {
      // Vectors (a bias) have no channels to put last.
      const bool has_channels = std::holds_alternative<ConvolutionConfig>(config_) && operand.shape.rank() > 2;
      return has_channels ? TensorPlacement::WithChannels(operand.shape, form.channels_last, form.channel_multiple)
                          : TensorPlacement::RowMajor(operand.shape);
    };
    const std::vector<Operand> reads = OperandsOf(config_), writes = OutputsOf(config_);
    for (std::size_t i = 0; i < reads.size(); ++i)
      bindings_.push_back({region.members[0].operands[i], 0, reads[i].type, place(reads[i])});
    operands_ = reads.size();
    for (std::size_t i = 0; i < writes.size(); ++i)
      bindings_.push_back({{RegionOperand::Source::kMember, 0}, i, writes[i].type, place(writes[i])});
  }

  Status Enqueue(Gpu::Stream stream) override {
    return gpu_.EnqueueHost([this, addresses = addresses_] { Compute(addresses); }, stream, this);
  }

 private:
  void Compute(const std::vector<void*>& addresses) const {
    std::deque<HostTensor> tensors;
    cpu::Operands operands;
    cpu::Outputs outputs;
    for (std::size_t i = 0; i < bindings_.size(); ++i) {
      const GpuBinding& binding = bindings_[i];
      HostTensor& tensor = tensors.emplace_back(*HostTensor::Make(binding.placement.shape, binding.type));
      if (i >= operands_) {
        outputs.push_back(&tensor);
        continue;
      }
      std::vector<std::byte> packed(static_cast<std::size_t>(binding.placement.bytes(binding.type).value));
      std::memcpy(packed.data(), addresses[i], packed.size());
      Unpack(packed, binding.placement, binding.type, tensor);
      operands.push_back(&tensor);
    }
    cpu::ComputeReference(config_, values_, operands, outputs);
    for (std::size_t i = operands_; i < bindings_.size(); ++i) {
      const std::vector<std::byte> packed = Packed(tensors[i], bindings_[i].placement, bindings_[i].type);
      std::memcpy(addresses[i], packed.data(), packed.size());
    }
  }

  PretendedGpu& gpu_;
  LayerConfig config_;
  cpu::LayerValues values_;
  std::size_t operands_ = 0;
};

class ReferenceLibrary : public GpuLibraries {
 public:
  ReferenceLibrary(PretendedGpu& gpu, Enumerate enumerate)
      : gpu_(gpu), enumerate_(std::move(enumerate)), own_(MakeOwnLibrary()) {}

  std::map<std::string, std::string> versions() override { return {{"pretended", "1.0"}}; }
  std::vector<std::string> missing() override { return {}; }

  Result<std::vector<GpuOffer>> Offers(const Workload& workload, NumericContract contract,
                                       CandidateTier tier) override {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<GpuOffer> offers, own_->Offers(workload, contract, tier));
    for (GpuOffer& offer : ProductOffers(workload, contract, tier, {})) offers.push_back(std::move(offer));
    return offers;
  }
  Result<std::optional<GpuOffer>> Find(const Workload& workload, NumericContract contract, const Candidate& candidate,
                                       const cpu::RegionValues& values) override {
    for (GpuOffer& offer : ProductOffers(workload, contract, CandidateTier::kEngine, values)) {
      const Candidate& found = offer.candidate;
      if (found.name() == candidate.name() && found.input_layout == candidate.input_layout)
        return std::optional<GpuOffer>(std::move(offer));
    }
    return own_->Find(workload, contract, candidate, values);
  }
  std::vector<GpuOffer> LargeProducts(DataType, NumericContract, std::int64_t, std::optional<GemmSums>) override {
    return {};
  }

 private:
  std::vector<EnumeratedCandidate> ProductsOf(const Workload& workload, const LayerConfig& layer) {
    const LayerConfig* const config = &layer;
    const auto* convolution = std::get_if<ConvolutionConfig>(config);
    std::vector<CudnnForm> forms;
    if (convolution != nullptr) forms = {{true, false, 1}, {false, false, 1}};
    if (convolution != nullptr && convolution->groups == 1) forms.push_back({true, false, 8});
    if (std::holds_alternative<MatMulConfig>(*config)) forms = {{}};
    std::vector<EnumeratedCandidate> candidates;
    for (const CudnnForm& form : forms)
      candidates.push_back({{"pretended", "reference" + Suffix(workload, form), InputLayouts(workload, form),
                             OutputLayout(workload, form), candidates.empty()},
                            form});
    return candidates;
  }

  std::vector<GpuOffer> ProductOffers(const Workload& workload, NumericContract contract, CandidateTier tier,
                                      const cpu::RegionValues& values) {
    const auto* config = std::get_if<LayerConfig>(&workload);
    const bool is_product = config != nullptr && (std::holds_alternative<ConvolutionConfig>(*config) ||
                                                  std::holds_alternative<MatMulConfig>(*config));
    if (!is_product) return {};
    std::vector<GpuOffer> offers;
    for (const auto& [candidate, form] :
         enumerate_ ? enumerate_(workload, contract, tier) : ProductsOf(workload, *config)) {
      GpuOffer offer;
      offer.candidate = candidate;
      offer.make = [this, layer = *config, own = cpu::ValuesOfMember(values, 0),
                    form = form](Gpu&) -> Result<std::unique_ptr<GpuProgram>> {
        return std::unique_ptr<GpuProgram>(std::make_unique<ReferenceProgram>(gpu_, layer, own, form));
      };
      offers.push_back(std::move(offer));
    }
    return offers;
  }

  PretendedGpu& gpu_;
  Enumerate enumerate_;
  std::unique_ptr<GpuLibraries> own_;
};

}  // namespace

std::unique_ptr<GpuLibraries> MakeOwnLibrary() { return std::make_unique<OwnLibrary>(); }

std::unique_ptr<GpuLibraries> MakeReferenceLibrary(PretendedGpu& gpu, Enumerate enumerate) {
  return WithDerivedProducts(std::make_unique<ReferenceLibrary>(gpu, std::move(enumerate)));
}

}  // namespace infimum::cuda
