#include "microbench/onednn/step_offer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "microbench/onednn/dequantized_offers.h"
#include "microbench/onednn/offers.h"
#include "microbench/onednn/region_problem.h"
#include "microbench/onednn/region_run.h"
#include "microbench/onednn/row_major.h"
#include "microbench/reference/reference.h"

namespace infimum::cpu {
namespace {

// Pack, run and unpack as one: for programs that keep copies of their own.
class PackedProgram : public Program {
 public:
  explicit PackedProgram(std::unique_ptr<Program> inner) : inner_(std::move(inner)) {}
  Status Run() override { return RunRowMajor(*inner_); }
  Bytes footprint() const override { return inner_->footprint(); }
  std::vector<ConstantBlock> Constants() override { return inner_->Constants(); }

 private:
  std::unique_ptr<Program> inner_;
};

std::unique_ptr<Program> InPlace(std::unique_ptr<Program> program) {
  if (program->in_place()) return program;
  return std::make_unique<PackedProgram>(std::move(program));
}

// A region's program with the tensors between its members.
class RegionProgram : public Program {
 public:
  explicit RegionProgram(RegionValues values) { problem_.values = std::move(values); }

  Status Prepare(const Region& region, const RegionOffer& offer, const Operands& operands, const Outputs& outputs) {
    INFIMUM_RETURN_IF_ERROR(MakeProblem(region, operands, outputs));
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, offer.make(problem_));
    program_ = InPlace(std::move(program));
    return {};
  }
  Status MakeProblem(const Region& region, const Operands& operands, const Outputs& outputs) {
    problem_.region = region;
    std::int64_t inputs = 0;
    for (const RegionMember& member : region.members) {
      for (const RegionOperand& operand : member.operands) {
        if (operand.source == RegionOperand::Source::kInput) inputs = std::max(inputs, operand.index + 1);
      }
    }
    problem_.inputs.assign(operands.begin(), operands.begin() + inputs);
    problem_.weights.assign(operands.begin() + inputs, operands.end());
    for (std::size_t i = 0; i < region.members.size(); ++i) {
      std::vector<HostTensor*> results;
      for (const Operand& output : OutputsOf(region.members[i].config)) {
        const auto found = std::find(region.outputs.begin(), region.outputs.end(), static_cast<std::int64_t>(i));
        if (found != region.outputs.end() && results.empty()) {
          results.push_back(outputs[static_cast<std::size_t>(found - region.outputs.begin())]);
          continue;
        }
        INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(output.shape, output.type));
        inner_.push_back(std::move(tensor));
        results.push_back(&inner_.back());
      }
      problem_.members.push_back(std::move(results));
    }
    return {};
  }
  Status Run() override { return program_->Run(); }
  Bytes footprint() const override { return program_->footprint(); }
  std::vector<ConstantBlock> Constants() override { return program_->Constants(); }
  const RegionProblem& problem() const { return problem_; }

 private:
  std::deque<HostTensor> inner_;  // stable addresses
  RegionProblem problem_;
  std::unique_ptr<Program> program_;
};

// Every element as the reference says.
class ReferenceProgram : public Program {
 public:
  ReferenceProgram(LayerConfig config, LayerValues values, Operands operands, Outputs outputs)
      : config_(std::move(config)), values_(std::move(values)), outputs_(std::move(outputs)) {
    for (const HostTensor* operand : operands) {
      sources_.push_back(&tensors_.emplace_back(*operand));
      footprint_ += Bytes{static_cast<std::int64_t>(operand->bytes())};
    }
  }
  Status Run() override {
    // Made anew: a reference may remember what it found out about operands that have changed since.
    const std::unique_ptr<Reference> reference = MakeReference(config_, values_);
    for (std::size_t output = 0; output < outputs_.size(); ++output) {
      HostTensor& tensor = *outputs_[output];
      for (std::int64_t i = 0; i < tensor.count(); ++i) tensor.Set(i, reference->At(output, i, sources_).value);
    }
    return {};
  }
  Bytes footprint() const override { return footprint_; }

 private:
  LayerConfig config_;
  LayerValues values_;
  Outputs outputs_;
  std::deque<TensorSource> tensors_;
  Sources sources_;
  Bytes footprint_;
};

Result<std::vector<Placement>> AllRowMajor(const Operands&, const Outputs&) { return std::vector<Placement>(); }

StepOffer FromLayer(const LayerConfig& config, const Offer& offer) {
  StepOffer result{offer.candidate.name(), AllRowMajor, nullptr, IsElementwise(config)};
  if (offer.place && !result.any_order) {
    result.place = [config, place = offer.place](const Operands& operands, const Outputs& outputs) {
      return place(Problem{config, operands, outputs});
    };
  }
  result.make = [config, make = offer.make](const Operands& operands,
                                            const Outputs& outputs) -> Result<std::unique_ptr<Program>> {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, make(Problem{config, operands, outputs}));
    return InPlace(std::move(program));
  };
  return result;
}

// A benchmark, which gives 8-bit layers no scales, knows the kernel by its plain name.
bool IsCandidate(const Offer& offer, const std::string& name) {
  std::string own = offer.candidate.name();
  if (own == name) return true;
  const std::size_t at = own.find(kDequantized);
  return at != std::string::npos && own.erase(at, kDequantized.size()) == name;
}

Result<StepOffer> FindLayerOffer(const ReplayStep& step, const LayerConfig& config, const LayerValues& values) {
  const std::vector<Offer> offers = OffersFor(config, CandidateTier::kExhaustive, values);
  for (const Offer& offer : offers) {
    if (IsCandidate(offer, step.candidate)) return FromLayer(config, offer);
  }
  if (!offers.empty()) {
    const auto fallback = [](const Offer& offer) { return offer.reference; };
    const auto first = std::find_if_not(offers.begin(), offers.end(), fallback);
    return FromLayer(config, first != offers.end() ? *first : offers.front());
  }
  if (MakeReference(config, values) == nullptr) return Error{"unsupported: nothing here runs this layer"};
  StepOffer result{"infimum/reference", AllRowMajor, nullptr, IsElementwise(config)};
  result.make = [config, values](const Operands& operands, const Outputs& outputs) -> Result<std::unique_ptr<Program>> {
    return std::unique_ptr<Program>(std::make_unique<ReferenceProgram>(config, values, operands, outputs));
  };
  return result;
}

Result<StepOffer> FindRegionOffer(const ReplayStep& step, const Region& region, const RegionValues& values) {
  std::vector<RegionOffer> offers = RegionOffersFor(region, CandidateTier::kExhaustive, values);
  if (offers.empty()) return Error{"unsupported: nothing here runs this region"};
  const auto named = std::find_if(offers.begin(), offers.end(),
                                  [&](const RegionOffer& offer) { return offer.candidate.name() == step.candidate; });
  const RegionOffer offer = named != offers.end() ? *named : offers.back();
  StepOffer result{offer.candidate.name(), AllRowMajor, nullptr, IsElementwise(region)};
  if (offer.place && !result.any_order) {
    result.place = [=](const Operands& operands, const Outputs& outputs) -> Result<std::vector<Placement>> {
      RegionProgram tensors(values);
      INFIMUM_RETURN_IF_ERROR(tensors.MakeProblem(region, operands, outputs));
      return offer.place(tensors.problem());
    };
  }
  result.make = [=](const Operands& operands, const Outputs& outputs) -> Result<std::unique_ptr<Program>> {
    auto program = std::make_unique<RegionProgram>(values);
    INFIMUM_RETURN_IF_ERROR(program->Prepare(region, offer, operands, outputs));
    return std::unique_ptr<Program>(std::move(program));
  };
  return result;
}

}  // namespace

Result<std::vector<LayerValues>> ValuesOf(const ReplayStep& step) {
  std::vector<LayerValues> all;
  for (const ReplayValues& values : step.values) {
    INFIMUM_ASSIGN_OR_RETURN(LayerValues one, LayerValuesFrom(values));
    all.push_back(std::move(one));
  }
  if (const auto* config = std::get_if<LayerConfig>(&step.workload)) {
    INFIMUM_RETURN_IF_ERROR(CheckValues(*config, all[0]));
    return all;
  }
  const Region& region = std::get<Region>(step.workload);
  for (std::size_t i = 0; i < region.members.size(); ++i) {
    INFIMUM_RETURN_IF_ERROR(CheckValues(region.members[i].config, all[i]));
  }
  return all;
}

Result<StepOffer> FindStepOffer(const ReplayStep& step) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<LayerValues> values, ValuesOf(step));
  if (const auto* config = std::get_if<LayerConfig>(&step.workload)) return FindLayerOffer(step, *config, values[0]);
  return FindRegionOffer(step, std::get<Region>(step.workload), values);
}

Result<std::optional<double>> StepError(const ReplayStep& step, const Operands& operands, const Outputs& outputs,
                                        std::uint64_t seed) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<LayerValues> values, ValuesOf(step));
  if (const auto* region = std::get_if<Region>(&step.workload)) {
    RegionProgram tensors(values);
    INFIMUM_RETURN_IF_ERROR(tensors.MakeProblem(*region, operands, outputs));
    return RegionError(tensors.problem(), seed);
  }
  const std::unique_ptr<Reference> reference = MakeReference(std::get<LayerConfig>(step.workload), values[0]);
  if (reference == nullptr) return std::optional<double>();
  std::deque<TensorSource> tensors;
  Sources sources;
  for (const HostTensor* operand : operands) sources.push_back(&tensors.emplace_back(*operand));
  return std::optional<double>(LargestError(*reference, MeasureOf(step.workload), sources, outputs, seed));
}

}  // namespace infimum::cpu
