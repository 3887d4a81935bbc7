#include "src/planner/replay_planner.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "infimum/base/text.h"
#include "src/core/graph/views.h"
#include "src/planner/replay_weights.h"
#include "src/planner/value_tensors.h"

namespace infimum {
namespace {

std::string NameOf(const Layer& layer) { return "layer " + Quoted(layer.name) + " (" + layer.op + ")"; }

std::int64_t CountOf(const Value& value) { return value.shape ? ElementCount(*value.shape) : -1; }

// From the order of first use to that of a region's numbers.
Status SortOperands(ReplayUnit& unit) {
  const auto* region = std::get_if<Region>(&unit.workload);
  if (region == nullptr) return {};
  const std::vector<std::size_t> places = PlacesByFirstUse(*region);
  if (places.size() != unit.operands.size()) return Error{"its operands are ambiguous"};
  std::vector<ValueId> sorted(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) sorted[places[i]] = unit.operands[i];
  unit.operands = std::move(sorted);
  return {};
}

// Units behind those whose values they read, else in the order of their first layers. Regions that wait for each other
// are an error.
Result<std::vector<ReplayUnit>> InOrder(const ModelGraph& graph, std::vector<ReplayUnit> units) {
  std::vector<std::size_t> unit_of(graph.layers.size(), units.size());
  for (std::size_t i = 0; i < units.size(); ++i)
    for (LayerId layer : units[i].layers) unit_of[layer.index()] = i;
  // Layers of no unit are views, and hand on what they wait for.
  const std::vector<std::vector<LayerId>> predecessors = Predecessors(graph);
  std::vector<std::set<std::size_t>> behind(graph.layers.size());
  std::vector<std::set<std::size_t>> waits_for(units.size());
  for (std::size_t layer = 0; layer < graph.layers.size(); ++layer) {
    for (LayerId before : predecessors[layer]) {
      const std::size_t unit = unit_of[before.index()];
      if (unit < units.size()) {
        behind[layer].insert(unit);
      } else {
        behind[layer].insert(behind[before.index()].begin(), behind[before.index()].end());
      }
    }
    if (unit_of[layer] == units.size()) continue;
    for (std::size_t unit : behind[layer])
      if (unit != unit_of[layer]) waits_for[unit_of[layer]].insert(unit);
  }
  std::vector<std::vector<std::size_t>> successors(units.size());
  std::set<std::pair<LayerId, std::size_t>> ready;
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (std::size_t before : waits_for[i]) successors[before].push_back(i);
    if (waits_for[i].empty()) ready.emplace(units[i].layers.front(), i);
  }
  std::vector<ReplayUnit> ordered;
  while (!ready.empty()) {
    const std::size_t i = ready.begin()->second;
    ready.erase(ready.begin());
    for (std::size_t next : successors[i]) {
      waits_for[next].erase(i);
      if (waits_for[next].empty()) ready.emplace(units[next].layers.front(), next);
    }
    ordered.push_back(std::move(units[i]));
  }
  if (ordered.size() != units.size()) return Error{"regions that depend on each other cannot be replayed"};
  return ordered;
}

bool IsRead(const ModelGraph& graph, ValueId value) {
  if (graph.value(value).is_graph_output) return true;
  return std::ranges::any_of(
      graph.layers, [&](const Layer& layer) { return std::ranges::find(layer.inputs, value) != layer.inputs.end(); });
}

Result<ReplayUnit> UnitOf(const ModelGraph& graph, LayerId id, const ReplayCandidate& candidate) {
  const Layer& layer = graph.layer(id);
  ReplayUnit unit{{id}, {}, *layer.workload, candidate, {}, {}};
  for (const std::size_t input : layer.operand_inputs) {
    if (input >= layer.inputs.size() || !layer.inputs[input]) return Error{"an operand is missing"};
    unit.operands.push_back(*layer.inputs[input]);
  }
  INFIMUM_RETURN_IF_ERROR(SortOperands(unit));
  const std::size_t wanted = OutputsOf(unit.workload).size();
  for (const std::optional<ValueId>& output : layer.outputs) {
    if (!output || CountOf(graph.value(*output)) == 0) continue;
    // Last states of a recurrent layer that are not read.
    if (unit.outputs.size() >= wanted && !IsRead(graph, *output)) continue;
    unit.outputs.push_back(*output);
  }
  return unit;
}

class ScheduleBuilder {
 public:
  ScheduleBuilder(const ModelGraph& graph, const std::vector<ReplayUnit>& units)
      : graph_(graph),
        units_(units),
        roots_(RootsOfViews(graph)),
        tensors_(graph.values.size()),
        weights_(graph, schedule_, [this](ValueId value) { return TensorOf(value); }) {}

  Result<ReplaySchedule> Build(const std::vector<std::string>& factors) {
    schedule_.model = graph_.name;
    schedule_.factors = factors;
    for (const ValueId output : graph_.outputs) {
      const ValueId root = RootOf(output);
      // Two outputs that are one tensor are compared once.
      if (graph_.value(root).kind == ValueKind::kIntermediate) output_names_.emplace(root, graph_.value(output).name);
    }
    for (const ReplayUnit& unit : units_) {
      const Status status = AddUnit(unit);
      if (!status.ok()) return Within(NameOf(graph_.layer(unit.layers.front())), status.error());
    }
    // A design comes later; one inference stands for it here.
    if (!factors.empty()) schedule_.design = {std::string(factors.size(), '0')};
    INFIMUM_RETURN_IF_ERROR(Validate(schedule_));
    schedule_.design.clear();
    return std::move(schedule_);
  }

 private:
  ValueId RootOf(ValueId value) const { return roots_[value.index()]; }

  Result<std::size_t> TensorOf(ValueId value) {
    const ValueId root = RootOf(value);
    std::optional<std::size_t>& known = tensors_[root.index()];
    if (known) return *known;
    const Value& described = graph_.value(root);
    if (!described.shape) return Error{"the shape of " + Quoted(described.name) + " is not known"};
    ReplayTensor tensor{described.name, ReplayTensorKind::kIntermediate, described.type, *described.shape, false};
    if (described.kind == ValueKind::kGraphInput) tensor.kind = ReplayTensorKind::kInput;
    if (described.kind == ValueKind::kWeight) tensor.kind = ReplayTensorKind::kWeight;
    if (const auto output = output_names_.find(root); output != output_names_.end()) {
      tensor.name = output->second;
      tensor.is_output = true;
    }
    known = Add(std::move(tensor));
    return *known;
  }

  std::size_t Add(ReplayTensor tensor) {
    schedule_.tensors.push_back(std::move(tensor));
    return schedule_.tensors.size() - 1;
  }

  Status AddUnit(const ReplayUnit& unit) {
    ReplayStep step;
    step.workload = unit.workload;
    step.candidate = unit.candidate;
    step.level = unit.level;
    for (const LayerId id : unit.layers)
      if (graph_.layer(id).status != LayerStatus::kFree) step.layers.push_back(graph_.layer(id).name);
    if (unit.members.empty()) {
      for (const LayerId id : unit.layers) INFIMUM_RETURN_IF_ERROR(AddValues({id}, step));
    }
    for (std::size_t i = 0; i < unit.members.size(); ++i) {
      // The values that the rule found are complete; its layers are not read again.
      if (i < unit.values.size() && !unit.values[i].empty()) {
        step.values.push_back(unit.values[i]);
        step.value_tensors.emplace_back();
        continue;
      }
      INFIMUM_RETURN_IF_ERROR(AddValues(unit.members[i], step));
    }
    step.name = step.layers.front();
    SeeStridedSliceWhole(unit, step);
    const bool has_none =
        std::ranges::all_of(step.value_tensors, [](const ReplayValueTensors& one) { return one.empty(); });
    if (has_none) step.value_tensors.clear();
    const auto* region = std::get_if<Region>(&unit.workload);
    if (region != nullptr && step.values.size() != region->members.size()) {
      return Error{"its region does not have one member for each layer"};
    }
    std::map<ValueId, std::size_t> changed;
    for (const LayerId id : unit.layers) {
      // Both levels of a factor read the weights that one of them had changed.
      auto known = changed_.find(id);
      if (known == changed_.end()) {
        INFIMUM_ASSIGN_OR_RETURN(auto more, weights_.Change(graph_.layer(id)));
        known = changed_.emplace(id, std::move(more)).first;
      }
      for (const auto& [value, tensor] : known->second) changed.emplace(RootOf(value), tensor);
    }
    for (const ValueId operand : unit.operands) {
      if (const auto found = changed.find(RootOf(operand)); found != changed.end()) {
        step.operands.push_back(found->second);
        continue;
      }
      INFIMUM_ASSIGN_OR_RETURN(const std::size_t tensor, TensorOf(operand));
      step.operands.push_back(tensor);
    }
    for (const ValueId output : unit.outputs) {
      INFIMUM_ASSIGN_OR_RETURN(const std::size_t tensor, TensorOf(output));
      step.outputs.push_back(tensor);
    }
    schedule_.steps.push_back(std::move(step));
    return {};
  }

  // Dimensions that a canonical slice merges cannot be stepped over one by one.
  void SeeStridedSliceWhole(const ReplayUnit& unit, ReplayStep& step) const {
    const Layer& layer = graph_.layer(unit.layers.front());
    if (layer.op != "Slice" || !unit.members.empty() || !step.values[0].contains("steps")) return;
    auto& config = std::get<MovementConfig>(std::get<LayerConfig>(step.workload));
    config.inputs = {*graph_.value(*layer.inputs[0]).shape};
    config.outputs = {*graph_.value(*layer.outputs[0]).shape};
  }

  // A member that covers several layers is a GEMM, whose first layer has the values, or an activation that is
  // known by its usual ones.
  Status AddValues(const std::vector<LayerId>& member, ReplayStep& step) {
    const Layer& first = graph_.layer(member.front());
    const bool is_product = first.workload && std::holds_alternative<LayerConfig>(*first.workload) &&
                            !std::holds_alternative<PointwiseConfig>(std::get<LayerConfig>(*first.workload));
    step.values.emplace_back();
    step.value_tensors.emplace_back();
    if (member.size() > 1 && !is_product) return {};
    INFIMUM_ASSIGN_OR_RETURN(step.values.back(), ReplayValuesOf(graph_, first));
    if (const std::optional<ValueTensors> given = ValueTensorsOf(first)) {
      for (const auto& [name, value] : given->tensors) {
        INFIMUM_ASSIGN_OR_RETURN(const std::size_t tensor, TensorOf(value));
        if (schedule_.tensors[tensor].kind != ReplayTensorKind::kWeight)
          return Error{"its " + name + " is known only at run time"};
        step.value_tensors.back()[name] = tensor;
      }
    }
    return {};
  }

  const ModelGraph& graph_;
  const std::vector<ReplayUnit>& units_;
  std::vector<ValueId> roots_;  // of a view what it looks at, else itself
  std::vector<std::optional<std::size_t>> tensors_;
  std::map<ValueId, std::string> output_names_;
  ReplaySchedule schedule_;
  WeightChanger weights_;
  std::map<LayerId, std::map<ValueId, std::size_t>> changed_;  // of each layer, the tensors in place of its weights
};

}  // namespace

bool CanReplay(const FusableRegion& region) {
  // Their workloads have the cost of swapped halves, and of products by joined weights, not the places of the results.
  if (region.rule == "rotary" || region.rule == "joined-product") return false;
  const auto* config = std::get_if<LayerConfig>(&region.workload);
  const bool is_attention = config != nullptr && std::holds_alternative<AttentionConfig>(*config);
  return !is_attention || (!region.values.empty() && region.values[0].contains("scale"));
}

Result<std::vector<ReplayUnit>> UnitsOf(const ModelGraph& graph, const std::vector<ReplayCandidate>& candidates,
                                        const std::vector<ReplayRegion>& regions) {
  std::vector<ReplayUnit> units;
  std::vector<bool> taken(graph.layers.size(), false);
  for (const auto& [region, candidate] : regions) {
    for (LayerId layer : region.layers) taken[layer.index()] = true;
    ReplayUnit unit{region.layers,   region.members, region.workload, candidate,
                    region.operands, region.outputs, region.values};
    const Status sorted = SortOperands(unit);
    if (!sorted.ok()) return Within(NameOf(graph.layer(region.layers.front())), sorted.error());
    units.push_back(std::move(unit));
  }
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    if (taken[i] || (layer.status == LayerStatus::kFree && layer.bodies.empty())) continue;
    if (layer.status == LayerStatus::kUnknown || !layer.bodies.empty()) {
      return Error{NameOf(layer) + " cannot be replayed: " +
                   (layer.reason.empty() ? std::string("it contains other layers") : layer.reason)};
    }
    Result<ReplayUnit> unit = UnitOf(graph, LayerId(i), i < candidates.size() ? candidates[i] : ReplayCandidate());
    if (!unit.ok()) return Within(NameOf(layer), unit.error());
    units.push_back(*std::move(unit));
  }
  return InOrder(graph, std::move(units));
}

Result<ReplayChoices> ChoicesBetween(const ModelGraph& graph, const std::vector<ReplayUnit>& plan,
                                     const std::vector<ReplayUnit>& other) {
  // Layers that a unit of either way runs together, by the first of them.
  std::vector<std::size_t> first(graph.layers.size());
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = i;
  const auto find = [&](std::size_t layer) {
    while (first[layer] != layer) layer = first[layer] = first[first[layer]];
    return layer;
  };
  for (const auto* units : {&plan, &other}) {
    for (const ReplayUnit& unit : *units) {
      for (const LayerId layer : unit.layers) {
        const std::size_t a = find(layer.index()), b = find(unit.layers.front().index());
        first[std::max(a, b)] = std::min(a, b);
      }
    }
  }
  std::map<std::size_t, std::array<std::vector<const ReplayUnit*>, 2>> levels;
  for (const ReplayUnit& unit : plan) levels[find(unit.layers.front().index())][0].push_back(&unit);
  for (const ReplayUnit& unit : other) levels[find(unit.layers.front().index())][1].push_back(&unit);
  std::vector<ReplayUnit> groups;
  for (const auto& [layer, of] : levels) {
    ReplayUnit group;
    for (const ReplayUnit* unit : of[0])
      group.layers.insert(group.layers.end(), unit->layers.begin(), unit->layers.end());
    if (of[0].empty() || of[1].empty()) return Error{NameOf(graph.layers[layer]) + " is run by one of two ways alone"};
    std::ranges::sort(group.layers);
    groups.push_back(std::move(group));
  }
  INFIMUM_ASSIGN_OR_RETURN(groups, InOrder(graph, std::move(groups)));
  ReplayChoices choices;
  for (const ReplayUnit& group : groups) {
    const auto& of = levels[find(group.layers.front().index())];
    // A transpose that moves nothing is no choice: a level without it would end in another layout.
    const bool is_same = std::ranges::equal(of[0], of[1], [](const ReplayUnit* a, const ReplayUnit* b) {
      const bool runs_alike = a->candidate == b->candidate || a->candidate.name == kViewCandidate;
      return a->layers == b->layers && a->workload == b->workload && runs_alike;
    });
    for (const std::size_t level : {0, 1}) {
      if (is_same && level == 1) break;
      for (const ReplayUnit* unit : of[level]) {
        choices.units.push_back(*unit);
        if (!is_same) choices.units.back().level = ReplayLevel{choices.factors.size(), level};
      }
    }
    if (!is_same) choices.factors.push_back(graph.layer(of[0].front()->layers.front()).name);
  }
  return choices;
}

Result<ReplaySchedule> BuildReplaySchedule(const ModelGraph& graph, const std::vector<ReplayUnit>& units) {
  return ScheduleBuilder(graph, units).Build({});
}

Result<ReplaySchedule> BuildReplaySchedule(const ModelGraph& graph, const ReplayChoices& choices) {
  return ScheduleBuilder(graph, choices.units).Build(choices.factors);
}

}  // namespace infimum
