#include "microbench/onednn/region_run.h"

#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <unordered_map>

#include "microbench/onednn/constant_copies.h"
#include "microbench/onednn/graph_partition_offers.h"
#include "microbench/onednn/random_fill.h"
#include "microbench/onednn/reference.h"

namespace infimum::cpu {
namespace {

// The elements of a member, computed by its reference when they are asked for and remembered.
class MemberSource : public Source {
 public:
  // `stored`: the type in which the member's result is handed on, which rounds it.
  MemberSource(std::unique_ptr<Reference> reference, Sources operands, DataType stored)
      : reference_(std::move(reference)), operands_(std::move(operands)), stored_(stored) {}

  Expected At(std::int64_t element) const override {
    const auto found = known_.find(element);
    if (found != known_.end()) return found->second;
    Expected result = reference_->At(0, element, operands_);
    HostTensor::SetElement(&storage_, stored_, 0, result.value);
    result.value = HostTensor::GetElement(&storage_, stored_, 0);
    return known_[element] = result;
  }
  const Reference& reference() const { return *reference_; }
  const Sources& operands() const { return operands_; }

 private:
  std::unique_ptr<Reference> reference_;
  Sources operands_;
  DataType stored_;
  mutable double storage_ = 0;  // room for one element of any type
  mutable std::unordered_map<std::int64_t, Expected> known_;
};

// Elements of the last member with the cost of the whole chain.
class ChainReference : public Reference {
 public:
  ChainReference(const MemberSource& member, double cost) : member_(member), cost_(cost) {}
  Expected At(std::size_t output, std::int64_t element, const Sources& operands) const override {
    return member_.reference().At(output, element, operands);
  }
  double cost() const override { return cost_; }

 private:
  const MemberSource& member_;
  double cost_;
};

class RegionRun : public PreparedRun {
 public:
  explicit RegionRun(std::uint64_t seed) : seed_(seed) {}

  Status Prepare(const Region& region, const RegionOffer& offer) {
    problem_.region = region;
    for (const RegionMember& member : region.members) {
      INFIMUM_RETURN_IF_ERROR(AddOperands(member));
      std::vector<HostTensor*> outputs;
      for (const Operand& output : OutputsOf(member.config)) {
        INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(output.shape, output.type));
        tensors_.push_back(std::move(tensor));
        outputs.push_back(&tensors_.back());
      }
      problem_.members.push_back(std::move(outputs));
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
    for (const auto& outputs : problem_.members) {
      for (HostTensor* output : outputs) std::memset(output->data(), 0xcb, output->bytes());
    }
    INFIMUM_RETURN_IF_ERROR(Run());
    INFIMUM_RETURN_IF_ERROR(program_->Unpack());
    return RegionError(problem_, seed_);
  }

  Bytes footprint() const override { return program_->footprint(); }
  Bytes constants() const override { return copies_.bytes(); }
  Status RotateConstants(std::size_t copies) override { return copies_.Make(copies); }

 private:
  // Tensors of inputs and weights that stand here for the first time.
  Status AddOperands(const RegionMember& member) {
    const std::vector<Operand> operands = OperandsOf(member.config);
    if (operands.size() != member.operands.size()) {
      return Error{"a region's member has " + std::to_string(member.operands.size()) + " operands, not " +
                   std::to_string(operands.size())};
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const RegionOperand& operand = member.operands[i];
      if (operand.source == RegionOperand::Source::kMember) continue;
      auto& list = operand.source == RegionOperand::Source::kInput ? problem_.inputs : problem_.weights;
      const auto index = static_cast<std::size_t>(operand.index);
      if (index < list.size()) {
        if (list[index]->count() != ElementCount(operands[i].shape) || list[index]->type() != operands[i].type) {
          return Error{"unsupported: an operand that two members see in different shapes or types"};
        }
        continue;
      }
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(operands[i].shape, operands[i].type));
      FillOperand(member.config, i, HashOf(seed_, tensors_.size()), tensor);
      tensors_.push_back(std::move(tensor));
      list.push_back(&tensors_.back());
    }
    return {};
  }

  std::uint64_t seed_;
  std::deque<HostTensor> tensors_;  // stable addresses: programs keep them
  RegionProblem problem_;
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

Result<std::optional<double>> RegionError(const RegionProblem& problem, std::uint64_t seed) {
  std::deque<TensorSource> tensors;
  std::deque<MemberSource> members;
  double cost = 1;
  for (const RegionMember& member : problem.region.members) {
    Sources operands;
    for (const RegionOperand& operand : member.operands) {
      if (operand.source == RegionOperand::Source::kMember) {
        operands.push_back(&members[static_cast<std::size_t>(operand.index)]);
      } else {
        operands.push_back(&tensors.emplace_back(*problem.Find(operand)));
      }
    }
    std::unique_ptr<Reference> reference = MakeReference(member.config, ValuesOfMember(problem.values, members.size()));
    if (reference == nullptr) return std::optional<double>();
    cost *= std::max(1.0, reference->cost() / 4);
    members.emplace_back(std::move(reference), std::move(operands), OutputsOf(member.config)[0].type);
  }
  const ErrorMeasure measure = MeasureOf(Workload(problem.region));
  double largest = 0;
  for (const std::int64_t output : problem.region.outputs) {
    const auto index = static_cast<std::size_t>(output);
    const ChainReference reference(members[index], cost);
    largest =
        std::max(largest, LargestError(reference, measure, members[index].operands(), problem.members[index], seed));
  }
  return std::optional<double>(largest);
}

Result<std::unique_ptr<PreparedRun>> PrepareRegion(const Region& region, const RegionOffer& offer, std::uint64_t seed) {
  auto run = std::make_unique<RegionRun>(seed);
  INFIMUM_RETURN_IF_ERROR(run->Prepare(region, offer));
  return std::unique_ptr<PreparedRun>(std::move(run));
}

}  // namespace infimum::cpu
