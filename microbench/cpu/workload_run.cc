#include "microbench/cpu/workload_run.h"

#include <cstring>
#include <deque>
#include <utility>

#include "microbench/cpu/constant_copies.h"
#include "microbench/libraries/onednn_graph/graph_partition_offers.h"
#include "microbench/reference/random_fill.h"

namespace infimum::cpu {
namespace {

class LayerRun : public PreparedRun {
 public:
  LayerRun(std::uint64_t seed, KnownValues& known) : seed_(seed), known_(known) {}

  Status Prepare(const LayerConfig& config, const Offer& offer) {
    problem_.config = config;
    for (const Operand& operand : OperandsOf(config)) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(operand.shape, operand.type));
      FillOperand(config, tensors_.size(), seed_, tensor);
      tensors_.push_back(std::move(tensor));
      problem_.operands.push_back(&tensors_.back());
    }
    for (const Operand& output : OutputsOf(config)) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(output.shape, output.type));
      tensors_.push_back(std::move(tensor));
      problem_.outputs.push_back(&tensors_.back());
    }
    INFIMUM_ASSIGN_OR_RETURN(program_, offer.make(problem_));
    copies_ = ConstantCopies(*program_);
    return {};
  }

  Status Run() override {
    copies_.Next();
    return program_->Run();
  }

  Result<std::optional<double>> NumericError() override {
    // A result left over from before must not pass: every byte of the outputs is set to nonsense.
    for (HostTensor* output : problem_.outputs) std::memset(output->data(), 0xcb, output->bytes());
    INFIMUM_RETURN_IF_ERROR(Run());
    INFIMUM_RETURN_IF_ERROR(program_->Unpack());
    const std::unique_ptr<Reference> reference = MakeReference(problem_.config);
    if (reference == nullptr) return std::optional<double>();
    std::deque<TensorSource> sources;
    Sources operands;
    for (const HostTensor* tensor : problem_.operands) operands.push_back(&sources.emplace_back(*tensor));
    const Workload workload(problem_.config);
    known_.Begin(Format(workload));
    return std::optional<double>(
        LargestError(*reference, MeasureOf(workload), operands, problem_.outputs, seed_, &known_));
  }

  Bytes footprint() const override { return program_->footprint(); }
  Bytes constants() const override { return copies_.bytes(); }
  Status RotateConstants(std::size_t copies) override { return copies_.Make(copies); }

 private:
  std::uint64_t seed_;
  KnownValues& known_;
  std::deque<HostTensor> tensors_;  // stable addresses: programs keep them
  Problem problem_;
  std::unique_ptr<Program> program_;
  ConstantCopies copies_;
};

class RegionRun : public PreparedRun {
 public:
  RegionRun(std::unique_ptr<RegionTensors> tensors, std::uint64_t seed, KnownValues& known)
      : seed_(seed), known_(known), tensors_(std::move(tensors)) {}

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
    known_.Begin(Format(Workload(tensors_->problem().region)));
    return RegionError(tensors_->problem(), seed_, &known_);
  }

  Bytes footprint() const override { return program_->footprint(); }
  Bytes constants() const override { return copies_.bytes(); }
  Status RotateConstants(std::size_t copies) override { return copies_.Make(copies); }

 private:
  std::uint64_t seed_;
  KnownValues& known_;
  std::unique_ptr<RegionTensors> tensors_;
  std::unique_ptr<Program> program_;
  ConstantCopies copies_;
};

}  // namespace

Result<std::unique_ptr<PreparedRun>> PrepareLayer(const LayerConfig& config, const Offer& offer, std::uint64_t seed,
                                                  KnownValues& known) {
  auto run = std::make_unique<LayerRun>(seed, known);
  INFIMUM_RETURN_IF_ERROR(run->Prepare(config, offer));
  return std::unique_ptr<PreparedRun>(std::move(run));
}

std::vector<RegionOffer> RegionOffersFor(const Region& region, CandidateTier tier, const RegionValues& values) {
  std::vector<RegionOffer> offers = PostOperationOffers(region, tier, values);
  for (auto more : {PointwiseChainOffers(region, values), RowChainOffers(region, values),
                    GraphPartitionOffers(region, values), ComposedOffers(region, values)}) {
    offers.insert(offers.end(), more.begin(), more.end());
  }
  return offers;
}

Result<std::unique_ptr<PreparedRun>> PrepareRegion(const Region& region, const RegionOffer& offer, std::uint64_t seed,
                                                   KnownValues& known) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<RegionTensors> tensors, RegionTensors::Random(region, seed));
  auto run = std::make_unique<RegionRun>(std::move(tensors), seed, known);
  INFIMUM_RETURN_IF_ERROR(run->Prepare(offer));
  return std::unique_ptr<PreparedRun>(std::move(run));
}

}  // namespace infimum::cpu
