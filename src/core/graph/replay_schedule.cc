#include "infimum/graph/replay_schedule.h"

#include <algorithm>
#include <set>

#include "infimum/base/enum_names.h"
#include "infimum/base/text.h"

namespace infimum {
namespace {

std::string Numbered(const char* what, std::size_t index, const std::string& name) {
  return std::string(what) + " " + std::to_string(index) + " (" + Quoted(name) + ")";
}

// The operands that region members take from outside, by the region's own numbers.
void CollectOutside(const Region& region, std::vector<Operand>& inputs, std::vector<Operand>& weights) {
  for (const RegionMember& member : region.members) {
    const std::vector<Operand> operands = OperandsOf(member.config);
    for (std::size_t i = 0; i < member.operands.size() && i < operands.size(); ++i) {
      const RegionOperand& operand = member.operands[i];
      if (operand.source == RegionOperand::Source::kMember) continue;
      std::vector<Operand>& list = operand.source == RegionOperand::Source::kInput ? inputs : weights;
      if (static_cast<std::size_t>(operand.index) == list.size()) list.push_back(operands[i]);
    }
  }
}

class Checker {
 public:
  explicit Checker(const ReplaySchedule& schedule)
      : schedule_(schedule), known_(schedule.tensors.size(), false), made_at_one_(schedule.tensors.size(), false) {}

  Status Run() {
    INFIMUM_RETURN_IF_ERROR(CheckTensors());
    std::vector<bool> made(schedule_.tensors.size(), false);
    for (const ReplayStep& step : schedule_.steps) {
      for (const std::size_t output : step.outputs) {
        if (output >= made.size()) continue;
        if (schedule_.tensors[output].fill) {
          return Error{Numbered("tensor", output, schedule_.tensors[output].name) + " is filled and made by a step"};
        }
        made[output] = true;
      }
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
      known_[i] = !made[i] && schedule_.tensors[i].kind != ReplayTensorKind::kIntermediate;
    }
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      Status status = Enter(schedule_.steps[i]);
      if (status.ok()) status = CheckStep(schedule_.steps[i]);
      if (!status.ok()) return Within(Numbered("step", i, schedule_.steps[i].name), status.error());
    }
    INFIMUM_RETURN_IF_ERROR(Leave());
    if (has_steps_.size() != schedule_.factors.size()) {
      for (std::size_t i = 0; i < schedule_.factors.size(); ++i)
        if (!has_steps_.contains(i)) return Error{Numbered("factor", i, schedule_.factors[i]) + " has no steps"};
    }
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const std::string which = Numbered("tensor", i, schedule_.tensors[i].name);
      if (!known_[i] && !made_at_one_[i]) return Error{which + " is made by no step"};
      if (!known_[i] && schedule_.tensors[i].is_output)
        return Error{which + " is an output and made at one level alone"};
    }
    return CheckDesign();
  }

 private:
  // Goes over to the level that a step belongs to. Steps that run once stand anywhere.
  Status Enter(const ReplayStep& step) {
    if (!step.level) return RunsOnceSafely(step) ? Status() : Leave();
    const auto [factor, level] = *step.level;
    if (factor >= schedule_.factors.size()) {
      return Error{"it is of factor " + std::to_string(factor) + " of " + std::to_string(schedule_.factors.size())};
    }
    if (level > 1) return Error{"it is of level " + std::to_string(level) + ", not of 0 or 1"};
    if (level_ && level_->factor != factor) INFIMUM_RETURN_IF_ERROR(Leave());
    const std::string which = Numbered("factor", factor, schedule_.factors[factor]);
    if (!level_) {
      if (!has_steps_.insert(factor).second) return Error{"the steps of " + which + " do not follow one another"};
      if (level != 0) return Error{"the steps of " + which + " do not begin with level 0"};
      before_ = known_;
    } else if (level < level_->level) {
      return Error{"the steps of " + which + " at level 0 do not come first"};
    } else if (level > level_->level) {
      std::swap(known_, before_);  // before_: what is known behind level 0
    }
    level_ = step.level;
    return {};
  }

  // Behind a factor's steps what both levels made is known.
  Status Leave() {
    if (!level_) return {};
    if (level_->level == 0) {
      return Error{Numbered("factor", level_->factor, schedule_.factors[level_->factor]) + " has no steps at level 1"};
    }
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i] != before_[i]) made_at_one_[i] = true;
      known_[i] = known_[i] && before_[i];
    }
    level_.reset();
    return {};
  }

  // Of a step whose indices may be out of range.
  bool RunsOnceSafely(const ReplayStep& step) const {
    return std::ranges::all_of(step.outputs, [&](std::size_t output) { return output < known_.size(); }) &&
           RunsOnce(schedule_, step);
  }

  Status CheckDesign() const {
    if (schedule_.factors.empty() != schedule_.design.empty()) return Error{"it has factors or a design, not both"};
    for (std::size_t i = 0; i < schedule_.design.size(); ++i) {
      const std::string& levels = schedule_.design[i];
      if (levels.size() != schedule_.factors.size() || levels.find_first_not_of("01") != std::string::npos) {
        return Error{"inference " + std::to_string(i) + " of its design is " + Quoted(levels) +
                     ", not a 0 or 1 for each of " + std::to_string(schedule_.factors.size()) + " factors"};
      }
    }
    return {};
  }

  Status CheckTensors() const {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < schedule_.tensors.size(); ++i) {
      const ReplayTensor& tensor = schedule_.tensors[i];
      const std::string which = Numbered("tensor", i, tensor.name);
      if (!names.insert(tensor.name).second) return Error{which + ": another has that name"};
      if (tensor.type == DataType::kNone) return Error{which + " has no type"};
      const Result<std::int64_t> count = CheckedElementCount(tensor.shape);
      if (!count.ok()) return Within(which, count.error());
      if (*count == 0) return Error{which + " has no elements"};
      if (tensor.fill && tensor.kind != ReplayTensorKind::kWeight) return Error{which + " is filled and no weight"};
    }
    return {};
  }

  Status CheckStep(const ReplayStep& step) {
    INFIMUM_RETURN_IF_ERROR(Validate(step.workload));
    const std::size_t configurations =
        std::holds_alternative<Region>(step.workload) ? std::get<Region>(step.workload).members.size() : 1;
    if (step.values.size() != configurations) {
      return Error{"it has values for " + std::to_string(step.values.size()) + " configurations, not for " +
                   std::to_string(configurations)};
    }
    INFIMUM_RETURN_IF_ERROR(CheckValueTensors(step));
    INFIMUM_RETURN_IF_ERROR(CheckList("operand", OperandsOf(step.workload), step.operands));
    INFIMUM_RETURN_IF_ERROR(CheckList("output", OutputsOf(step.workload), step.outputs));
    for (const std::size_t operand : step.operands) {
      if (!known_[operand]) {
        return Error{Numbered("tensor", operand, schedule_.tensors[operand].name) + " is read before it is made"};
      }
    }
    const bool once = RunsOnce(schedule_, step);
    if (once && step.level) return Error{"it makes a weight, which both levels of its factor may read"};
    for (const std::size_t output : step.outputs) {
      const ReplayTensor& tensor = schedule_.tensors[output];
      const std::string which = Numbered("tensor", output, tensor.name);
      if (tensor.kind == ReplayTensorKind::kInput) return Error{which + " is an input and is written"};
      if (known_[output] || made_at_one_[output]) return Error{which + " is made twice"};
      if (tensor.kind == ReplayTensorKind::kWeight && !once) {
        return Error{which + " is a weight, but another output of the step is none"};
      }
      known_[output] = true;
      if (once && level_) before_[output] = true;
    }
    for (const std::size_t operand : step.operands) {
      if (once && schedule_.tensors[operand].kind != ReplayTensorKind::kWeight) {
        return Error{"it makes a weight of " + Numbered("tensor", operand, schedule_.tensors[operand].name) +
                     ", which is none"};
      }
    }
    return {};
  }

  Status CheckValueTensors(const ReplayStep& step) const {
    if (!step.value_tensors.empty() && step.value_tensors.size() != step.values.size()) {
      return Error{"it has tensors of values for " + std::to_string(step.value_tensors.size()) +
                   " configurations, not for " + std::to_string(step.values.size())};
    }
    for (std::size_t i = 0; i < step.value_tensors.size(); ++i) {
      for (const auto& [name, tensor] : step.value_tensors[i]) {
        const std::string which = "value " + Quoted(name);
        if (step.values[i].contains(name)) return Error{which + " is given twice"};
        if (tensor >= schedule_.tensors.size()) {
          return Error{which + " is tensor " + std::to_string(tensor) + " of " +
                       std::to_string(schedule_.tensors.size())};
        }
        if (schedule_.tensors[tensor].kind != ReplayTensorKind::kWeight || !known_[tensor]) {
          return Error{which + " is in " + Quoted(schedule_.tensors[tensor].name) +
                       ", which is no weight that is there by then"};
        }
      }
    }
    return {};
  }

  Status CheckList(const char* what, const std::vector<Operand>& wanted, const std::vector<std::size_t>& given) const {
    if (given.size() != wanted.size()) {
      return Error{"it has " + std::to_string(given.size()) + " " + what + "s, its workload wants " +
                   std::to_string(wanted.size())};
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string which = std::string(what) + " " + std::to_string(i);
      if (given[i] >= schedule_.tensors.size()) {
        return Error{which + " is tensor " + std::to_string(given[i]) + " of " +
                     std::to_string(schedule_.tensors.size())};
      }
      const ReplayTensor& tensor = schedule_.tensors[given[i]];
      if (tensor.type != wanted[i].type) {
        return Error{which + " is of type " + std::string(Name(tensor.type)) + ", its workload wants " +
                     std::string(Name(wanted[i].type))};
      }
      if (ElementCount(tensor.shape) != ElementCount(wanted[i].shape)) {
        return Error{which + " is " + Format(tensor.shape) + ", its workload wants " + Format(wanted[i].shape)};
      }
      if (wanted[i].constant && tensor.kind != ReplayTensorKind::kWeight) {
        return Error{which + " is constant, but " + Quoted(tensor.name) + " is no weight"};
      }
    }
    return {};
  }

  const ReplaySchedule& schedule_;
  std::vector<bool> known_;        // made, or there from the start
  std::vector<bool> made_at_one_;  // level of a factor: nothing outside of it may read them
  // Of the factor whose steps are being gone through; `before_` is then what is known behind its other level, or before
  // its first step.
  std::optional<ReplayLevel> level_;
  std::vector<bool> before_;
  std::set<std::size_t> has_steps_;
};

}  // namespace

std::string_view Name(ReplayTensorKind kind) {
  constexpr EnumNames<ReplayTensorKind::kIntermediate> kNames = {"input", "weight", "intermediate"};
  return kNames[kind];
}

std::vector<Operand> OperandsOf(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return OperandsOf(*config);
  std::vector<Operand> inputs, weights;
  CollectOutside(std::get<Region>(workload), inputs, weights);
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  return inputs;
}

std::vector<Operand> OutputsOf(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return OutputsOf(*config);
  const Region& region = std::get<Region>(workload);
  std::vector<Operand> outputs;
  for (const std::int64_t output : region.outputs) {
    outputs.push_back(OutputsOf(region.members[static_cast<std::size_t>(output)].config)[0]);
  }
  return outputs;
}

bool RunsOnce(const ReplaySchedule& schedule, const ReplayStep& step) {
  return std::ranges::all_of(
      step.outputs, [&](std::size_t output) { return schedule.tensors[output].kind == ReplayTensorKind::kWeight; });
}

Status Validate(const ReplaySchedule& schedule) { return Checker(schedule).Run(); }

}  // namespace infimum
