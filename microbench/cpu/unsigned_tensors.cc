#include "microbench/cpu/unsigned_tensors.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "infimum/layer/pointwise.h"
#include "microbench/cpu/offers.h"
#include "microbench/cpu/step_offer.h"

namespace infimum::cpu {
namespace {

// A tensor where a member of a step's workload touches it. A layer is its own one member.
struct Touch {
  std::size_t tensor = 0;
  std::size_t member = 0;
  std::size_t operand = 0;
  bool writes = false;
};

std::vector<Touch> TouchesOf(const ReplayStep& step) {
  std::vector<Touch> touches;
  const auto* region = std::get_if<Region>(&step.workload);
  if (region == nullptr) {
    for (std::size_t i = 0; i < step.operands.size(); ++i) touches.push_back({step.operands[i], 0, i, false});
    for (const std::size_t output : step.outputs) touches.push_back({output, 0, 0, true});
    return touches;
  }
  for (std::size_t m = 0; m < region->members.size(); ++m) {
    const std::vector<RegionOperand>& operands = region->members[m].operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].source == RegionOperand::Source::kInput)
        touches.push_back({step.operands[static_cast<std::size_t>(operands[i].index)], m, i, false});
    }
  }
  for (std::size_t i = 0; i < step.outputs.size(); ++i)
    touches.push_back({step.outputs[i], static_cast<std::size_t>(region->outputs[i]), 0, true});
  return touches;
}

LayerConfig& ConfigOf(ReplayStep& step, std::size_t member) {
  if (auto* config = std::get_if<LayerConfig>(&step.workload)) return *config;
  return std::get<Region>(step.workload).members[member].config;
}

// Layers that hand elements on as they are, in order of size or of place: nobody asks them for a zero point.
bool Carries(const LayerConfig& config) {
  if (const auto* pooling = std::get_if<PoolingConfig>(&config)) return pooling->kind == PoolingKind::kMax;
  const auto* movement = std::get_if<MovementConfig>(&config);
  return movement != nullptr && (movement->kind == MovementKind::kTranspose || movement->kind == MovementKind::kSlice ||
                                 movement->kind == MovementKind::kSplit);
}

// Of a region's results what its last member writes may have another type: nothing within it reads that.
bool StaysWithin(const ReplayStep& step, const Touch& touch) {
  const auto* region = std::get_if<Region>(&step.workload);
  return region != nullptr && touch.writes && touch.member + 1 != region->members.size();
}

// Layers all of whose tensors have one type: all are unsigned or none.
bool HasOneType(const LayerConfig& config) {
  const auto* movement = std::get_if<MovementConfig>(&config);
  return Carries(config) || (movement != nullptr && movement->kind == MovementKind::kConcat);
}

// The type of what a touch is of; null where another operand has the same one.
DataType* TypeOf(LayerConfig& config, const Touch& touch) {
  OperandTypes& types = std::visit([](auto& own) -> OperandTypes& { return own.types; }, config);
  if (touch.writes) return &types.output;
  if (HasOneType(config)) return &types.input;
  const auto* pointwise = std::get_if<PointwiseConfig>(&config);
  const std::size_t inputs = pointwise != nullptr ? pointwise->inputs.size() : 1;
  const bool has_second = pointwise != nullptr && inputs == 2 && types.weights != DataType::kNone;
  if (touch.operand == 0) return inputs == 1 || has_second ? &types.input : nullptr;
  return touch.operand == 1 && has_second ? &types.weights : nullptr;
}

std::string ZeroName(const Touch& touch) {
  return touch.writes ? "out_zero" : "in" + std::to_string(touch.operand) + "_zero";
}

constexpr std::string_view kPrefix = "onednn/as-u8/";
bool WantsUnsigned(const ReplayStep& step) { return step.candidate.name.starts_with(kPrefix); }

// The step with those of its tensors unsigned.
ReplayStep Changed(ReplayStep step, const std::vector<bool>& is_unsigned) {
  const bool wants = WantsUnsigned(step) && is_unsigned[step.operands[0]];
  for (const Touch& touch : TouchesOf(step)) {
    if (!is_unsigned[touch.tensor]) continue;
    LayerConfig& config = ConfigOf(step, touch.member);
    *TypeOf(config, touch) = DataType::kU8;
    if (Carries(config)) continue;
    for (double& zero : step.values[touch.member].at(ZeroName(touch))) zero += 128;
  }
  if (wants) step.candidate.name.replace(0, kPrefix.size(), "onednn/");
  return step;
}

class Choice {
 public:
  explicit Choice(const ReplaySchedule& schedule)
      : schedule_(schedule), is_unsigned_(schedule.tensors.size(), false), may_be_(schedule.tensors.size(), false) {
    for (std::size_t i = 0; i < may_be_.size(); ++i) {
      const ReplayTensor& tensor = schedule.tensors[i];
      may_be_[i] = tensor.kind == ReplayTensorKind::kIntermediate && tensor.type == DataType::kS8 && !tensor.is_output;
    }
    for (ReplayStep step : schedule.steps) {
      const bool is_layer = std::holds_alternative<LayerConfig>(step.workload);
      for (const Touch& touch : TouchesOf(step)) {
        LayerConfig& config = ConfigOf(step, touch.member);
        const DataType* type = TypeOf(config, touch);
        const bool has_zero = (is_layer && Carries(config)) || (touch.member < step.values.size() &&
                                                                step.values[touch.member].contains(ZeroName(touch)));
        if (type == nullptr || *type != DataType::kS8 || !has_zero || StaysWithin(step, touch))
          may_be_[touch.tensor] = false;
      }
    }
  }

  // Tensors that a reader wants unsigned and those that layers of one type tie to them, without the ones that cannot be
  // and what is tied to those.
  const std::vector<bool>& Make() {
    for (;;) {
      for (const ReplayStep& step : schedule_.steps)
        if (WantsUnsigned(step)) is_unsigned_[step.operands[0]] = true;
      Spread(
          is_unsigned_, [&](std::size_t tensor) { return is_unsigned_[tensor]; }, true);
      Spread(
          may_be_, [&](std::size_t tensor) { return is_unsigned_[tensor] && !may_be_[tensor]; }, false);
      for (std::size_t i = 0; i < may_be_.size(); ++i) is_unsigned_[i] = is_unsigned_[i] && may_be_[i];
      if (AllAreOffered()) return is_unsigned_;
    }
  }

 private:
  // To all that a layer of one type reads and writes beside a tensor of which `holds` says so.
  void Spread(std::vector<bool>& to, const auto& holds, bool value) {
    for (bool changed = true; changed;) {
      changed = false;
      for (ReplayStep step : schedule_.steps) {
        if (std::holds_alternative<Region>(step.workload) || !HasOneType(ConfigOf(step, 0))) continue;
        const std::vector<Touch> touches = TouchesOf(step);
        if (std::ranges::none_of(touches, [&](const Touch& touch) { return holds(touch.tensor); })) continue;
        for (const Touch& touch : touches) {
          changed = changed || to[touch.tensor] != value;
          to[touch.tensor] = value;
        }
      }
    }
  }

  // Takes back the tensors of steps whose candidate is offered on signed bytes alone.
  bool AllAreOffered() {
    bool all = true;
    for (const ReplayStep& step : schedule_.steps) {
      const std::vector<Touch> touches = TouchesOf(step);
      const auto is_changed = [&](const Touch& touch) { return is_unsigned_[touch.tensor]; };
      if (std::ranges::none_of(touches, is_changed)) continue;
      const ReplayStep changed = Changed(step, is_unsigned_);
      const bool is_valid = Validate(changed.workload).ok();
      const Result<StepOffer> offer = is_valid ? FindStepOffer(changed) : Result<StepOffer>(Error{""});
      if (offer && (changed.candidate.name.empty() || IsScheduled(*offer, changed.candidate.name))) continue;
      for (const Touch& touch : touches) {
        all = all && !is_unsigned_[touch.tensor];
        if (is_unsigned_[touch.tensor]) may_be_[touch.tensor] = false;
      }
    }
    return all;
  }

  const ReplaySchedule& schedule_;
  std::vector<bool> is_unsigned_, may_be_;
};

}  // namespace

void StoreUnsigned(ReplaySchedule& schedule) {
  if (std::ranges::none_of(schedule.steps, WantsUnsigned)) return;
  const std::vector<bool> is_unsigned = Choice(schedule).Make();
  for (ReplayStep& step : schedule.steps) step = Changed(std::move(step), is_unsigned);
  for (std::size_t i = 0; i < is_unsigned.size(); ++i)
    if (is_unsigned[i]) schedule.tensors[i].type = DataType::kU8;
}

}  // namespace infimum::cpu
