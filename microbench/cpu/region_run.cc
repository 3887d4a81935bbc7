#include "microbench/cpu/region_run.h"

#include <utility>

#include "microbench/cpu/constant_copies.h"
#include "microbench/libraries/onednn_graph/graph_partition_offers.h"

namespace infimum::cpu {
namespace {

class RegionRun : public PreparedRun {
 public:
  RegionRun(std::unique_ptr<RegionTensors> tensors, std::uint64_t seed) : seed_(seed), tensors_(std::move(tensors)) {}

  Status Prepare(const RegionOffer& offer) {
    INFIMUM_ASSIGN_OR_RETURN(program_, offer.make(tensors_->problem()));
    copies_ = ConstantCopies(*program_);
    return {};
  }

  Status Run() override {
    copies_.Next();
    return program_->Run();
  }

  Result<std::optional<double>> NumericError() override {
    tensors_->PoisonResults();
    INFIMUM_RETURN_IF_ERROR(Run());
    INFIMUM_RETURN_IF_ERROR(program_->Unpack());
    return RegionError(tensors_->problem(), seed_);
  }

  Bytes footprint() const override { return program_->footprint(); }
  Bytes constants() const override { return copies_.bytes(); }
  Status RotateConstants(std::size_t copies) override { return copies_.Make(copies); }

 private:
  std::uint64_t seed_;
  std::unique_ptr<RegionTensors> tensors_;
  std::unique_ptr<Program> program_;
  ConstantCopies copies_;
};

}  // namespace

std::vector<RegionOffer> RegionOffersFor(const Region& region, CandidateTier tier, const RegionValues& values) {
  std::vector<RegionOffer> offers = PostOperationOffers(region, tier, values);
  for (auto more : {PointwiseChainOffers(region, values), RowChainOffers(region, values),
                    GraphPartitionOffers(region, values), ComposedOffers(region, values)}) {
    offers.insert(offers.end(), more.begin(), more.end());
  }
  return offers;
}

Result<std::unique_ptr<PreparedRun>> PrepareRegion(const Region& region, const RegionOffer& offer, std::uint64_t seed) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<RegionTensors> tensors, RegionTensors::Random(region, seed));
  auto run = std::make_unique<RegionRun>(std::move(tensors), seed);
  INFIMUM_RETURN_IF_ERROR(run->Prepare(offer));
  return std::unique_ptr<PreparedRun>(std::move(run));
}

}  // namespace infimum::cpu
