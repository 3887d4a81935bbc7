#include "microbench/gpu/statistic_offers.h"

#include <utility>

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

GpuOffer OfferOf(const cpu::StatisticProduct& statistic, Candidate candidate, GpuOffer product) {
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

class StatisticLibraries : public GpuLibraries {
 public:
  explicit StatisticLibraries(std::unique_ptr<GpuLibraries> libraries) : libraries_(std::move(libraries)) {}

  std::map<std::string, std::string> versions() override { return libraries_->versions(); }
  std::vector<std::string> missing() override { return libraries_->missing(); }

  Result<std::vector<GpuOffer>> Offers(const Workload& workload, NumericContract contract,
                                       CandidateTier tier) override {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<GpuOffer> offers, libraries_->Offers(workload, contract, tier));
    const std::optional<cpu::StatisticProduct> statistic = StatisticOf(workload);
    const std::optional<CandidateTier> of_product = ProductTier(tier);
    if (!statistic || !of_product) return offers;
    INFIMUM_ASSIGN_OR_RETURN(std::vector<GpuOffer> products,
                             libraries_->Offers(LayerConfig(statistic->product), contract, *of_product));
    for (GpuOffer& product : products)
      if (std::optional<Candidate> candidate = cpu::StatisticCandidate(product.candidate))
        offers.push_back(OfferOf(*statistic, *std::move(candidate), std::move(product)));
    return offers;
  }

  Result<std::optional<GpuOffer>> Find(const Workload& workload, NumericContract contract, const Candidate& candidate,
                                       const cpu::RegionValues& values) override {
    const std::optional<cpu::StatisticProduct> statistic = StatisticOf(workload);
    if (!statistic || !candidate.algorithm.starts_with(cpu::kAsMatMul))
      return libraries_->Find(workload, contract, candidate, values);
    Candidate of_product = candidate;
    of_product.algorithm.erase(0, cpu::kAsMatMul.size());
    const bool two_vary = statistic->product.weights == Constness::kVariable;
    of_product.input_layout = two_vary ? "abc,abc" : "abc";
    of_product.output_layout = "abc";
    INFIMUM_ASSIGN_OR_RETURN(std::optional<GpuOffer> product,
                             libraries_->Find(LayerConfig(statistic->product), contract, of_product));
    if (!product) return product;
    return std::optional<GpuOffer>(OfferOf(*statistic, candidate, *std::move(product)));
  }

  std::vector<GpuOffer> LargeProducts(DataType type, NumericContract contract, std::int64_t extent,
                                      std::optional<GemmSums> sums) override {
    return libraries_->LargeProducts(type, contract, extent, sums);
  }

 private:
  std::unique_ptr<GpuLibraries> libraries_;
};

}  // namespace

std::optional<cpu::StatisticProduct> StatisticOf(const Workload& workload) {
  const auto* layer = std::get_if<LayerConfig>(&workload);
  return layer == nullptr ? std::nullopt : cpu::StatisticProductOf(*layer);
}

std::optional<CandidateTier> ProductTier(CandidateTier tier) {
  if (tier == CandidateTier::kHeuristic) return std::nullopt;
  return tier == CandidateTier::kEngine ? CandidateTier::kHeuristic : CandidateTier::kEngine;
}

std::unique_ptr<GpuLibraries> WithStatisticOffers(std::unique_ptr<GpuLibraries> libraries) {
  return std::make_unique<StatisticLibraries>(std::move(libraries));
}

}  // namespace infimum::cuda
