#include "microbench/reference/region_tensors.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "microbench/reference/random_fill.h"

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

}  // namespace

Result<std::unique_ptr<RegionTensors>> RegionTensors::Random(const Region& region, std::uint64_t seed) {
  auto tensors = std::make_unique<RegionTensors>();
  tensors->problem_.region = region;
  for (const RegionMember& member : region.members) {
    INFIMUM_RETURN_IF_ERROR(tensors->AddOperands(member, seed));
    std::vector<HostTensor*> outputs;
    for (const Operand& output : OutputsOf(member.config)) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(output.shape, output.type));
      tensors->tensors_.push_back(std::move(tensor));
      outputs.push_back(&tensors->tensors_.back());
    }
    tensors->problem_.members.push_back(std::move(outputs));
  }
  return tensors;
}

void RegionTensors::PoisonResults() {
  for (const auto& outputs : problem_.members)
    for (HostTensor* output : outputs) std::memset(output->data(), 0xcb, output->bytes());
}

// Tensors of inputs and weights that appear for the first time.
Status RegionTensors::AddOperands(const RegionMember& member, std::uint64_t seed) {
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
    FillOperand(member.config, i, HashOf(seed, tensors_.size()), tensor);
    tensors_.push_back(std::move(tensor));
    list.push_back(&tensors_.back());
  }
  return {};
}

Result<std::optional<double>> RegionError(const RegionProblem& problem, std::uint64_t seed, KnownValues* known) {
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
    largest = std::max(
        largest, LargestError(reference, measure, members[index].operands(), problem.members[index], seed, known));
  }
  return std::optional<double>(largest);
}

Region RegionOf(const Workload& workload) {
  if (const auto* region = std::get_if<Region>(&workload)) return *region;
  RegionMember member{std::get<LayerConfig>(workload), {}};
  for (std::size_t i = 0; i < OperandsOf(member.config).size(); ++i)
    member.operands.push_back({RegionOperand::Source::kInput, static_cast<std::int64_t>(i)});
  return {{std::move(member)}, {0}};
}

}  // namespace infimum::cpu
