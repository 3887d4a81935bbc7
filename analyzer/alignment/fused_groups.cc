#include "analyzer/alignment/fused_groups.h"

#include <algorithm>
#include <optional>
#include <set>

namespace infimum {
namespace {

constexpr int kMostSteps = 8;  // from a Softmax to its matmuls, or back from the heart of an activation

class GroupFinder {
 public:
  GroupFinder(const ModelGraph& graph, const std::vector<std::vector<std::size_t>>& readers)
      : graph_(graph), readers_(readers), makers_(graph.values.size()) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      kinds_.push_back(KindOf(graph.layers[i].op));
      for (const std::optional<ValueId>& output : graph.layers[i].outputs)
        if (output) makers_[output->index()] = i;
    }
  }

  std::optional<LayerGroup> Attention(std::size_t softmax) const {
    std::set<std::size_t> members{softmax};
    const std::optional<std::size_t> scores = ProductBefore(softmax, kMostSteps, members);
    if (!scores) return std::nullopt;
    std::optional<std::size_t> context;
    for (std::size_t at = softmax, steps = 0; !context && steps < kMostSteps; ++steps) {
      if (readers_[at].size() != 1) return std::nullopt;
      at = readers_[at].front();
      members.insert(at);
      if (kinds_[at] == OperatorKind::kProduct)
        context = at;
      else if (!IsPassedThrough(at))
        return std::nullopt;
    }
    if (!context) return std::nullopt;
    LayerGroup group{OperatorKind::kAttention, "", {}, {}, ValueId(0)};
    group.inputs = Activations(*scores);
    for (const ValueId value : Activations(*context))
      if (!makers_[value.index()] || !members.contains(*makers_[value.index()])) group.inputs.push_back(value);
    if (group.inputs.size() != 3 || graph_.layers[*context].outputs.empty()) return std::nullopt;
    for (const ValueId value : group.inputs) AddFeeders(value, members);
    AddTurns(*context, members);
    return Finished(std::move(group), members, *context);
  }

  // From Erf, Tanh or Sigmoid back to a value x, and on to the layer that multiplies with x again.
  std::optional<LayerGroup> Activation(std::size_t heart, std::string_view function) const {
    std::set<std::size_t> before{heart};
    std::vector<ValueId> open = Activations(heart);
    std::optional<LayerGroup> found;
    for (int step = 0; step < kMostSteps; ++step) {
      if (std::ranges::all_of(open, [&](ValueId value) { return value == open.front(); }) && !open.empty()) {
        std::set<std::size_t> members = before;
        if (const std::optional<std::size_t> last = CloseForwards(open.front(), members))
          found = Finished({OperatorKind::kElementwise, function, {}, {open.front()}, ValueId(0)}, members, *last);
      }
      const auto next = std::ranges::find_if(open, [&](ValueId value) {
        const std::optional<std::size_t> maker = makers_[value.index()];
        return maker && IsElementwise(*maker) &&
               std::ranges::all_of(readers_[*maker], [&](std::size_t reader) { return before.contains(reader); });
      });
      if (next == open.end()) break;
      const std::size_t maker = *makers_[next->index()];
      before.insert(maker);
      open.erase(next);
      for (const ValueId value : Activations(maker)) open.push_back(value);
    }
    return found;
  }

  OperatorKind kind(std::size_t layer) const { return kinds_[layer]; }

 private:
  bool IsFree(std::size_t layer) const { return graph_.layers[layer].status == LayerStatus::kFree; }
  bool IsElementwise(std::size_t layer) const { return !IsFree(layer) && kinds_[layer] == OperatorKind::kElementwise; }
  bool IsPassedThrough(std::size_t layer) const { return IsFree(layer) || IsElementwise(layer); }

  // Inputs that are computed, or the model's.
  std::vector<ValueId> Activations(std::size_t layer) const {
    std::vector<ValueId> values;
    for (const std::optional<ValueId>& input : graph_.layers[layer].inputs)
      if (input && graph_.value(*input).kind != ValueKind::kWeight) values.push_back(*input);
    return values;
  }

  std::optional<std::size_t> ProductBefore(std::size_t layer, int steps, std::set<std::size_t>& members) const {
    if (steps == 0) return std::nullopt;
    for (const ValueId value : Activations(layer)) {
      const std::optional<std::size_t> maker = makers_[value.index()];
      if (!maker || readers_[*maker].size() != 1) continue;
      std::optional<std::size_t> found;
      if (kinds_[*maker] == OperatorKind::kProduct && Activations(*maker).size() == 2)
        found = *maker;
      else if (IsPassedThrough(*maker))
        found = ProductBefore(*maker, steps - 1, members);
      if (!found) continue;
      members.insert(*maker);
      return found;
    }
    return std::nullopt;
  }

  bool IsNumber(const std::optional<ValueId>& value) const {
    if (!value || graph_.value(*value).kind != ValueKind::kWeight) return false;
    const std::optional<Shape>& shape = graph_.value(*value).shape;
    return shape && std::ranges::all_of(shape->dims, [](std::int64_t dim) { return dim == 1; });
  }

  // What only turns or scales an operand of attention is part of it.
  void AddFeeders(ValueId value, std::set<std::size_t>& members) const {
    for (int step = 0; step < kMostSteps; ++step) {
      const std::optional<std::size_t> maker = makers_[value.index()];
      if (!maker) return;
      const Layer& layer = graph_.layers[*maker];
      const bool only_here =
          std::ranges::all_of(readers_[*maker], [&](std::size_t reader) { return members.contains(reader); });
      const bool scales = (layer.op == "Mul" || layer.op == "Div") &&
                          std::ranges::any_of(layer.inputs, [&](const auto& input) { return IsNumber(input); });
      const std::vector<ValueId> inputs = Activations(*maker);
      if (!only_here || inputs.size() != 1 || !(IsFree(*maker) || layer.op == "Transpose" || scales)) return;
      members.insert(*maker);
      value = inputs.front();
    }
  }

  // Nor does the turn of its result take a layer of its own.
  void AddTurns(std::size_t layer, std::set<std::size_t>& members) const {
    std::vector<std::size_t> views;
    for (int step = 0; step < kMostSteps && readers_[layer].size() == 1; ++step) {
      layer = readers_[layer].front();
      views.push_back(layer);
      if (graph_.layers[layer].op == "Transpose")
        members.insert(views.begin(), views.end());
      else if (!IsFree(layer))
        return;
    }
  }

  // Element-wise readers of the members that need nothing but them and x. The last of them, where x is among what they
  // need: without that it is no activation.
  std::optional<std::size_t> CloseForwards(ValueId x, std::set<std::size_t>& members) const {
    bool needs_x = false, grew = true;
    std::size_t last = *members.rbegin();
    while (grew) {
      grew = false;
      for (const std::size_t reader : readers_[last]) {
        if (members.contains(reader) || !IsElementwise(reader)) continue;
        const std::vector<ValueId> inputs = Activations(reader);
        const bool has_all = std::ranges::all_of(inputs, [&](ValueId value) {
          const std::optional<std::size_t> maker = makers_[value.index()];
          return value == x || (maker && members.contains(*maker));
        });
        const bool only_scales =
            inputs.size() == 1 &&
            std::ranges::any_of(graph_.layers[reader].inputs, [&](const auto& input) { return IsNumber(input); });
        if (!has_all || (inputs.size() < 2 && !only_scales)) continue;
        needs_x |= std::ranges::find(inputs, x) != inputs.end();
        members.insert(reader);
        last = reader;
        grew = true;
        break;
      }
    }
    return needs_x ? std::optional(last) : std::nullopt;
  }

  std::optional<LayerGroup> Finished(LayerGroup group, const std::set<std::size_t>& members, std::size_t last) const {
    const Layer& layer = graph_.layers[last];
    if (layer.outputs.empty() || !layer.outputs.front()) return std::nullopt;
    group.output = *layer.outputs.front();
    group.layers.assign(members.begin(), members.end());
    return group;
  }

  const ModelGraph& graph_;
  const std::vector<std::vector<std::size_t>>& readers_;
  std::vector<std::optional<std::size_t>> makers_;  // by value
  std::vector<OperatorKind> kinds_;
};

}  // namespace

std::vector<LayerGroup> LayerGroupsOf(const ModelGraph& graph, const std::vector<std::vector<std::size_t>>& readers) {
  const GroupFinder finder(graph, readers);
  std::vector<LayerGroup> groups;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const std::string& op = graph.layers[i].op;
    std::optional<LayerGroup> group;
    if (finder.kind(i) == OperatorKind::kSoftmax) group = finder.Attention(i);
    if (op == "Erf" || op == "Tanh") group = finder.Activation(i, "gelu");
    if (op == "Sigmoid") group = finder.Activation(i, "silu");
    if (op == "HardSigmoid") group = finder.Activation(i, "hardswish");
    if (group) groups.push_back(*std::move(group));
  }
  return groups;
}

}  // namespace infimum
