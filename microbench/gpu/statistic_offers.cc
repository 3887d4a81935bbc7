#include "microbench/gpu/statistic_offers.h"

#include <utility>

#include "microbench/reference/statistic_product.h"

namespace infimum::cuda {
namespace {

// The product's program, whose constant is memory of its own.
class StatisticProgram : public GpuProgram {
 public:
  StatisticProgram(std::unique_ptr<GpuProgram> product, const cpu::StatisticProduct& statistic)
      : product_(std::move(product)), constant_(static_cast<std::int64_t>(statistic.constant)) {
    for (GpuBinding binding : product_->bindings()) {
      if (IsConstant(binding)) continue;
      binding.tensor.index = 0;
      bindings_.push_back(std::move(binding));
    }
  }

  Status Upload(Gpu& gpu, const cpu::StatisticProduct& statistic) {
    INFIMUM_ASSIGN_OR_RETURN(const cpu::HostTensor values, statistic.Constant());
    for (const GpuBinding& binding : product_->bindings()) {
      if (!IsConstant(binding)) continue;
      const std::vector<std::byte> packed = Packed(values, binding.placement, binding.type);
      INFIMUM_ASSIGN_OR_RETURN(memory_, DeviceMemory::Allocate(gpu, binding.placement.bytes(binding.type)));
      INFIMUM_RETURN_IF_ERROR(gpu.Upload(memory_.data(), packed.data(), memory_.size()));
    }
    return {};
  }

  Bytes workspace() const override { return product_->workspace(); }
  Status Bind(const std::vector<void*>& addresses, void* workspace) override {
    std::vector<void*> all;
    auto next = addresses.begin();
    for (const GpuBinding& binding : product_->bindings())
      all.push_back(IsConstant(binding) ? memory_.data() : *next++);
    return product_->Bind(all, workspace);
  }
  Status Prepare() override { return product_->Prepare(); }
  Status Enqueue(Gpu::Stream stream) override { return product_->Enqueue(stream); }

 private:
  bool IsConstant(const GpuBinding& binding) const {
    return !binding.is_written() && binding.tensor.index == constant_;
  }

  std::unique_ptr<GpuProgram> product_;
  std::int64_t constant_;
  DeviceMemory memory_;
};

GpuOffer OfferOf(const cpu::StatisticProduct& statistic, GpuOffer product) {
  Candidate candidate = product.candidate;
  candidate.algorithm = std::string(cpu::kAsMatMul) + candidate.algorithm;
  candidate.input_layout = candidate.output_layout = "plain";
  candidate.library_choice = false;
  const auto make = [statistic, make = std::move(product.make)](Gpu& gpu) -> Result<std::unique_ptr<GpuProgram>> {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<GpuProgram> inner, make(gpu));
    auto program = std::make_unique<StatisticProgram>(std::move(inner), statistic);
    for (const GpuBinding& binding : program->bindings())
      if (!binding.placement.is_row_major()) return Error{"unsupported: the product's layout is its own"};
    INFIMUM_RETURN_IF_ERROR(program->Upload(gpu, statistic));
    return std::unique_ptr<GpuProgram>(std::move(program));
  };
  return {std::move(candidate), make};
}

std::optional<cpu::StatisticProduct> StatisticOf(const Workload& workload) {
  const auto* layer = std::get_if<LayerConfig>(&workload);
  return layer == nullptr ? std::nullopt : cpu::StatisticProductOf(*layer);
}

// Of the product's candidates those that read and write the layer's tensors as they lie.
bool IsRowMajor(const Candidate& candidate) {
  return (candidate.input_layout == "abc,abc" || candidate.input_layout == "abc") && candidate.output_layout == "abc";
}

class StatisticLibraries : public GpuLibraries {
 public:
  explicit StatisticLibraries(std::unique_ptr<GpuLibraries> libraries) : libraries_(std::move(libraries)) {}

  std::map<std::string, std::string> versions() override { return libraries_->versions(); }
  std::vector<std::string> missing() override { return libraries_->missing(); }

  Result<std::vector<GpuOffer>> Offers(const Workload& workload, NumericContract contract,
                                       CandidateTier tier) override {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<GpuOffer> offers, libraries_->Offers(workload, contract, tier));
    const std::optional<cpu::StatisticProduct> statistic = StatisticOf(workload);
    if (!statistic || tier == CandidateTier::kHeuristic) return offers;
    const CandidateTier of_products =
        tier == CandidateTier::kEngine ? CandidateTier::kHeuristic : CandidateTier::kEngine;
    INFIMUM_ASSIGN_OR_RETURN(std::vector<GpuOffer> products,
                             libraries_->Offers(Workload(LayerConfig(statistic->product)), contract, of_products));
    for (GpuOffer& product : products)
      if (IsRowMajor(product.candidate)) offers.push_back(OfferOf(*statistic, std::move(product)));
    return offers;
  }

  Result<std::optional<GpuOffer>> Find(const Workload& workload, NumericContract contract, const Candidate& candidate,
                                       const cpu::RegionValues& values) override {
    const std::optional<cpu::StatisticProduct> statistic = StatisticOf(workload);
    if (!statistic || !candidate.algorithm.starts_with(cpu::kAsMatMul))
      return libraries_->Find(workload, contract, candidate, values);
    INFIMUM_ASSIGN_OR_RETURN(
        std::vector<GpuOffer> products,
        libraries_->Offers(Workload(LayerConfig(statistic->product)), contract, CandidateTier::kEngine));
    for (GpuOffer& product : products) {
      if (!IsRowMajor(product.candidate)) continue;
      GpuOffer offer = OfferOf(*statistic, std::move(product));
      if (offer.candidate.name() == candidate.name()) return std::optional<GpuOffer>(std::move(offer));
    }
    return std::optional<GpuOffer>();
  }

  std::vector<GpuOffer> LargeProducts(DataType type, NumericContract contract, std::int64_t extent,
                                      std::optional<GemmSums> sums) override {
    return libraries_->LargeProducts(type, contract, extent, sums);
  }

 private:
  std::unique_ptr<GpuLibraries> libraries_;
};

}  // namespace

std::unique_ptr<GpuLibraries> WithStatisticOffers(std::unique_ptr<GpuLibraries> libraries) {
  return std::make_unique<StatisticLibraries>(std::move(libraries));
}

}  // namespace infimum::cuda
