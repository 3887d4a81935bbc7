#include "microbench/gpu/replay_step.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace infimum::cuda {
namespace {

using Role = StepProgram::Role;

bool IsCalled(const Candidate& candidate, const ReplayCandidate& asked) {
  return candidate.name() == asked.name &&
         (asked.input_layout.empty() || asked.input_layout == candidate.input_layout) &&
         (asked.output_layout.empty() || asked.output_layout == candidate.output_layout);
}

// What is asked for, where its layouts are known too: no library has to list what it has.
std::optional<Candidate> Asked(const ReplayCandidate& asked) {
  const std::size_t slash = asked.name.find('/');
  if (slash == std::string::npos || asked.input_layout.empty()) return std::nullopt;
  return Candidate{asked.name.substr(0, slash), asked.name.substr(slash + 1), asked.input_layout, asked.output_layout,
                   false};
}

std::vector<Role> RolesOf(const ReplayStep& step, const Region& region, const std::vector<GpuBinding>& bindings) {
  std::size_t inputs = 0;
  for (const RegionMember& member : region.members) {
    for (const RegionOperand& operand : member.operands) {
      if (operand.source == RegionOperand::Source::kInput)
        inputs = std::max(inputs, static_cast<std::size_t>(operand.index) + 1);
    }
  }
  const bool is_layer = std::holds_alternative<LayerConfig>(step.workload);
  std::vector<Role> roles;
  for (const GpuBinding& binding : bindings) {
    const auto index = static_cast<std::size_t>(binding.tensor.index);
    switch (binding.tensor.source) {
      case RegionOperand::Source::kInput:
        roles.push_back({Role::Kind::kOperand, index});
        break;
      case RegionOperand::Source::kWeight:
        roles.push_back({Role::Kind::kOperand, inputs + index});
        break;
      default: {
        if (is_layer) {
          // Results that nobody asks for (a mean that a normalization also gives) are the step's last ones.
          roles.push_back(
              {binding.output < step.outputs.size() ? Role::Kind::kOutput : Role::Kind::kInner, binding.output});
          break;
        }
        const auto found = std::ranges::find(region.outputs, binding.tensor.index);
        const bool is_output = found != region.outputs.end() && binding.output == 0;
        roles.push_back({is_output ? Role::Kind::kOutput : Role::Kind::kInner,
                         static_cast<std::size_t>(found - region.outputs.begin())});
      }
    }
  }
  return roles;
}

}  // namespace

Result<StepProgram> FindStepProgram(Gpu& gpu, GpuLibraries& libraries, const ReplayStep& step,
                                    NumericContract contract) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<cpu::LayerValues> values, cpu::ValuesOf(step));
  std::string why;
  const auto make = [&](const Candidate& candidate) -> std::unique_ptr<GpuProgram> {
    const auto note = [&](const Error& error) {
      if (why.empty()) why = error.message;
      return nullptr;
    };
    const Result<std::optional<GpuOffer>> offer = libraries.Find(step.workload, contract, candidate, values);
    if (!offer.ok()) return note(offer.error());
    if (!*offer) return nullptr;
    Result<std::unique_ptr<GpuProgram>> made = (*offer)->make(gpu);
    if (!made.ok()) return note(made.error());
    return *std::move(made);
  };
  StepProgram found;
  if (const std::optional<Candidate> asked = Asked(step.candidate)) {
    found.candidate = asked->name();
    found.program = make(*asked);
  }
  if (found.program == nullptr) {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<GpuOffer> offers,
                             libraries.Offers(step.workload, contract, CandidateTier::kEngine));
    std::ranges::stable_partition(offers,
                                  [&](const GpuOffer& offer) { return IsCalled(offer.candidate, step.candidate); });
    for (const GpuOffer& offer : offers) {
      found.candidate = offer.candidate.name();
      found.program = make(offer.candidate);
      if (found.program != nullptr) break;
    }
  }
  if (found.program == nullptr) {
    if (why.starts_with("unsupported: ")) why.erase(0, 13);
    return Error{"unsupported: nothing here runs it" + (why.empty() ? "" : ": " + why)};
  }
  const std::vector<GpuBinding>& bindings = found.program->bindings();
  found.roles = RolesOf(step, cpu::RegionOf(step.workload), bindings);
  found.any_order = IsElementwise(step.workload) && std::ranges::all_of(bindings, [](const GpuBinding& binding) {
                      return binding.placement.is_row_major();
                    });
  return found;
}

}  // namespace infimum::cuda
