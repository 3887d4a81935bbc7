// Regions member by member with row-major buffers in between: what a framework without fusion does. Each
// member runs as what was fastest when the program was made, changes of layout included.
#include <algorithm>

#include "microbench/cpu/offers.h"
#include "microbench/cpu/row_major.h"
#include "microbench/libraries/onednn/program/region_problem.h"

namespace infimum::cpu {
namespace {

class ComposedProgram : public Program {
 public:
  void Add(std::unique_ptr<Program> program, bool has_constants) {
    footprint_ += program->footprint();
    const std::vector<ConstantBlock> blocks = program->Constants();
    constants_.insert(constants_.end(), blocks.begin(), blocks.end());
    all_can_move_ = all_can_move_ && (!has_constants || !blocks.empty());
    programs_.push_back(std::move(program));
  }

  Status Run() override {
    for (const std::unique_ptr<Program>& program : programs_) INFIMUM_RETURN_IF_ERROR(RunRowMajor(*program));
    return {};
  }
  Bytes footprint() const override { return footprint_; }
  std::vector<ConstantBlock> Constants() override { return all_can_move_ ? constants_ : std::vector<ConstantBlock>(); }

 private:
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<ConstantBlock> constants_;
  bool all_can_move_ = true;
  Bytes footprint_;
};

}  // namespace

std::vector<RegionOffer> ComposedOffers(const Region& region, const RegionValues& values) {
  for (std::size_t i = 0; i < region.members.size(); ++i) {
    const RegionMember& member = region.members[i];
    if (OffersFor(member.config, CandidateTier::kEngine, ValuesOfMember(values, i)).empty()) return {};
    // What the configuration calls constant is packed once, so it must not be another member's output.
    const std::vector<Operand> operands = OperandsOf(member.config);
    for (std::size_t j = 0; j < operands.size() && j < member.operands.size(); ++j) {
      if (operands[j].constant && member.operands[j].source == RegionOperand::Source::kMember) return {};
    }
  }
  const auto make = [](const RegionProblem& problem) -> MadeProgram {
    auto composed = std::make_unique<ComposedProgram>();
    for (std::size_t i = 0; i < problem.region.members.size(); ++i) {
      const RegionMember& member = problem.region.members[i];
      Problem own{member.config, {}, problem.members[i]};
      for (const RegionOperand& operand : member.operands) own.operands.push_back(problem.Find(operand));
      INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Program> program,
                               FastestRowMajor(own, ValuesOfMember(problem.values, i)));
      INFIMUM_RETURN_IF_ERROR(RunRowMajor(*program));
      const bool has_constants = std::ranges::any_of(member.operands, [](const RegionOperand& operand) {
        return operand.source == RegionOperand::Source::kWeight;
      });
      composed->Add(std::move(program), has_constants);
    }
    return std::unique_ptr<Program>(std::move(composed));
  };
  return {{{"infimum", "composed", "plain", "plain", false}, make}};
}

}  // namespace infimum::cpu
