#include "microbench/cpu/workload_run.h"

#include <cstring>
#include <deque>
#include <utility>

#include "microbench/cpu/constant_copies.h"
#include "microbench/libraries/onednn_graph/graph_partition_offers.h"
#include "microbench/reference/random_fill.h"
#include "src/core/base/prepared.h"
#include "src/core/layer/small_float.h"

namespace infimum::cpu {
namespace {

// A candidate's program with its constants in turn, and the tensors that it works on, which live longer.
template <class Tensors>
class ProgramRun : public PreparedRun {
 public:
  ProgramRun(Tensors tensors, std::uint64_t seed, KnownValues& known)
      : seed_(seed), known_(known), tensors_(std::move(tensors)) {}

  Status Run() override {
    copies_.Next();
    return program_->Run();
  }
  Bytes footprint() const override { return program_->footprint(); }
  Bytes constants() const override { return copies_.bytes(); }
  Status RotateConstants(std::size_t copies) override { return copies_.Make(copies); }

 protected:
  Status Take(MadeProgram made) {
    INFIMUM_ASSIGN_OR_RETURN(program_, std::move(made));
    copies_ = ConstantCopies(*program_);
    return {};
  }

  std::uint64_t seed_;
  KnownValues& known_;
  Tensors tensors_;
  std::unique_ptr<Program> program_;

 private:
  ConstantCopies copies_;
};

struct LayerTensors {
  std::deque<HostTensor> all;  // stable addresses: programs keep them
  Problem problem;
};

class LayerRun : public ProgramRun<LayerTensors> {
 public:
  using ProgramRun::ProgramRun;

  Status Prepare(const LayerConfig& config, const Offer& offer) {
    tensors_.problem.config = config;
    for (const Operand& operand : OperandsOf(config)) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(operand.shape, operand.type));
      FillOperand(config, tensors_.all.size(), seed_, tensor);
      tensors_.problem.operands.push_back(&tensors_.all.emplace_back(std::move(tensor)));
    }
    for (const Operand& output : OutputsOf(config)) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(output.shape, output.type));
      tensors_.problem.outputs.push_back(&tensors_.all.emplace_back(std::move(tensor)));
    }
    return Take(offer.make(tensors_.problem));
  }

  Result<std::optional<double>> NumericError() override {
    // A result left over from before must not pass: every byte of the outputs is set to nonsense.
    for (HostTensor* output : tensors_.problem.outputs) std::memset(output->data(), 0xcb, output->bytes());
    INFIMUM_RETURN_IF_ERROR(Run());
    INFIMUM_RETURN_IF_ERROR(program_->Unpack());
    const std::unique_ptr<Reference> reference = MakeReference(tensors_.problem.config);
    if (reference == nullptr) return std::optional<double>();
    std::deque<TensorSource> sources;
    Sources operands;
    for (const HostTensor* tensor : tensors_.problem.operands) operands.push_back(&sources.emplace_back(*tensor));
    const Workload workload(tensors_.problem.config);
    known_.Begin(Format(workload));
    return std::optional<double>(
        LargestError(*reference, MeasureOf(workload), operands, tensors_.problem.outputs, seed_, &known_));
  }
};

class RegionRun : public ProgramRun<std::unique_ptr<RegionTensors>> {
 public:
  using ProgramRun::ProgramRun;

  Status Prepare(const RegionOffer& offer) { return Take(offer.make(tensors_->problem())); }

  Result<std::optional<double>> NumericError() override {
    tensors_->PoisonResults();
    INFIMUM_RETURN_IF_ERROR(Run());
    INFIMUM_RETURN_IF_ERROR(program_->Unpack());
    known_.Begin(Format(Workload(tensors_->problem().region)));
    return RegionError(tensors_->problem(), seed_, &known_);
  }
};

}  // namespace

Result<std::unique_ptr<PreparedRun>> PrepareLayer(const LayerConfig& config, const Offer& offer, std::uint64_t seed,
                                                  KnownValues& known) {
  return Prepared<PreparedRun>(std::make_unique<LayerRun>(LayerTensors(), seed, known), config, offer);
}

std::vector<RegionOffer> RegionOffersFor(const Region& region, CandidateTier tier, const RegionValues& values) {
  // No primitive or kernel here has 8-bit floats.
  for (const RegionMember& member : region.members) {
    const OperandTypes& types = TypesOf(member.config);
    if (IsSmallFloat(types.input) || IsSmallFloat(types.weights) || IsSmallFloat(types.output)) return {};
  }
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
  return Prepared<PreparedRun>(std::make_unique<RegionRun>(std::move(tensors), seed, known), offer);
}

}  // namespace infimum::cpu
