#include "analyzer/floor/in_place.h"

#include <algorithm>
#include <limits>

#include "analyzer/floor/needed_shares.h"
#include "src/core/graph/views.h"

namespace infimum {
namespace {

bool IsPointwise(const Layer& layer, PointwiseKind kind) {
  const auto* config = ConfigOf<PointwiseConfig>(layer);
  return config != nullptr && config->kind == kind;
}

double ElementsIn(const Value& value) { return BytesOf(value) * 8 / BitsPerElement(value.type); }

bool IsKnownBefore(const ModelGraph& graph, const Layer& layer, std::size_t input) {
  return input < layer.inputs.size() && layer.inputs[input] &&
         graph.value(*layer.inputs[input]).kind == ValueKind::kWeight;
}

// A graph with what makes each of its values, and what surrounds it where it is a branch: what a branch does not make
// it finds around it by name.
struct Scope {
  Scope(const ModelGraph& of, const Scope* around)
      : graph(of), outer(around), makers(of.values.size()), captured(of.values.size()) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i)
      for (const std::optional<ValueId>& output : graph.layers[i].outputs)
        if (output) makers[output->index()] = i;
    const auto branches = [](const Layer& layer) { return layer.bodies.size() > 1; };
    if (std::ranges::any_of(graph.layers, branches)) names = NamesOf(graph);
    if (outer == nullptr) return;
    for (std::size_t i = 0; i < graph.values.size(); ++i)
      if (const auto found = outer->names.find(graph.values[i].name); found != outer->names.end() && !makers[i])
        captured[i] = found->second;
  }

  const ModelGraph& graph;
  const Scope* outer;
  std::vector<std::optional<std::size_t>> makers;
  std::vector<std::optional<ValueId>> captured;
  ValueNames names;  // once for all branches in it
};

using Bodies = std::map<const ModelGraph*, Scope>;

// From a graph output back to the graph input that it may be written over.
class Walk {
 public:
  Walk(const Value& output, Bodies& bodies) : output_(output), bodies_(bodies) {}

  struct Kept {
    double elements = 0;                                    // of the output that lie in a graph input already
    std::optional<ValueId> source;                          // that input; of what is not followed any
    std::map<std::size_t, std::set<std::size_t>> operands;  // by layer of the main graph that updates: what it leaves
    bool is_computed = false;                               // by a loop, or nobody knows how

    void Add(const Kept& other) {
      elements += other.elements;
      for (const auto& [layer, kept] : other.operands) operands[layer].insert(kept.begin(), kept.end());
      is_computed |= other.is_computed;
    }
  };

  // `updated`: a layer on the way changes a part. `turns`: so many transpositions are on it, of which one alone leaves
  // the elements in another order than the output's.
  Kept From(const Scope& scope, ValueId id, bool updated, int turns) {
    const Value& value = scope.graph.value(id);
    const bool is_whole = scope.outer != nullptr && value.kind == ValueKind::kWeight;
    if (++visited_ > kMostVisited || is_whole) return {ElementsIn(value), {}, {}, false};
    // Between two casts elements may be wider, but nothing of the input may be lost. A sequence has no elements.
    if (value.type != DataType::kNone && BitsPerElement(value.type) < BitsPerElement(output_.type)) return {};
    if (scope.outer == nullptr && value.kind == ValueKind::kGraphInput)
      return {updated && turns != 1 && value.type == output_.type ? ElementsIn(value) : 0, id, {}, false};
    if (const std::optional<std::size_t> maker = scope.makers[id.index()])
      return Through(scope, *maker, id, updated, turns);
    if (scope.outer != nullptr && scope.captured[id.index()])
      return From(*scope.outer, *scope.captured[id.index()], updated, turns);
    return {};
  }

 private:
  static constexpr int kMostVisited = 4096;  // of graphs whose paths branch again and again

  Kept Through(const Scope& scope, std::size_t index, ValueId made, bool updated, int turns) {
    const Layer& layer = scope.graph.layers[index];
    const Value& value = scope.graph.value(made);
    const double all = value.shape ? ElementsIn(value) : std::numeric_limits<double>::infinity();
    Kept best;
    const auto consider = [&](const Kept& other) {
      if (other.elements > best.elements) best = other;
    };
    const auto input = [&](std::size_t i, double most, bool changed, int turned = 0) {
      if (i >= layer.inputs.size() || !layer.inputs[i]) return Kept{};
      Kept kept = From(scope, *layer.inputs[i], updated || changed, turns + turned);
      kept.elements = std::min(kept.elements, most);
      return kept;
    };
    const auto operand = [&](std::size_t i, double most) {
      if (i >= layer.operand_inputs.size()) return Kept{};
      Kept kept = input(layer.operand_inputs[i], most, true);
      if (scope.outer == nullptr && kept.elements > 0) kept.operands[index].insert(i);
      return kept;
    };
    const MovementConfig* movement = ConfigOf<MovementConfig>(layer);
    const auto is = [&](MovementKind kind) { return movement != nullptr && movement->kind == kind; };
    if (layer.bodies.size() > 1) {
      consider(ThroughBranches(scope, layer, made, turns));
    } else if (!layer.bodies.empty() || (layer.status == LayerStatus::kUnknown && !layer.least)) {
      // Nobody knows what becomes of its inputs.
      for (std::size_t i = 0; i < layer.inputs.size(); ++i) consider(input(i, all, true));
      best.is_computed = true;
    } else if (layer.status == LayerStatus::kFree || IsPointwise(layer, PointwiseKind::kCast) ||
               layer.op.ends_with("uantizeLinear")) {
      consider(input(0, all, false));
    } else if (is(MovementKind::kTranspose)) {
      consider(input(0, all, false, 1));
    } else if (is(MovementKind::kSlice) || is(MovementKind::kSplit) ||
               (is(MovementKind::kGather) && IsKnownBefore(scope.graph, layer, 1))) {
      consider(input(0, all, false));
      best.operands.clear();  // a part that is left out need not be computed
    } else if (is(MovementKind::kPad) || is(MovementKind::kTile) || is(MovementKind::kExpand) ||
               is(MovementKind::kTriangle)) {
      consider(input(0, all, true));
      best.is_computed = true;
    } else if (is(MovementKind::kConcat)) {
      // Two inputs are two buffers: the result lies in one of them.
      std::map<std::optional<ValueId>, Kept> by_source;
      for (std::size_t i = 0; i < layer.operand_inputs.size(); ++i)
        if (const Kept kept = operand(i, all); kept.elements > 0) by_source[kept.source].Add(kept);
      const Kept anywhere = by_source[std::nullopt];
      for (auto& [source, kept] : by_source) {
        if (source) kept.Add(anywhere);
        kept.source = source;
        kept.elements = std::min(kept.elements, all);
        consider(kept);
      }
    } else if (IsPointwise(layer, PointwiseKind::kWhere)) {
      for (const std::size_t i : {1, 2}) consider(operand(i, all));
    } else if (is(MovementKind::kScatter)) {
      consider(operand(0, std::max(all - static_cast<double>(ElementCount(movement->inputs[1])), 0.0)));
    }
    for (const InPlaceResult& result : layer.in_place)
      if (result.output < layer.outputs.size() && layer.outputs[result.output] == made)
        consider(input(result.input, Left(all, value, result.written), true));
    return best;
  }

  static double Left(double all, const Value& value, Bytes written) {
    return std::max(all - static_cast<double>(written.value) * 8 / BitsPerElement(value.type), 0.0);
  }

  // Of branches the one that leaves more: which of them runs is not known.
  Kept ThroughBranches(const Scope& scope, const Layer& layer, ValueId made, int turns) {
    Kept best;
    const auto output = static_cast<std::size_t>(std::ranges::find(layer.outputs, made) - layer.outputs.begin());
    for (const SubGraph& body : layer.bodies) {
      if (body.graph == nullptr || output >= body.graph->outputs.size()) continue;
      const Scope& inside = bodies_.try_emplace(body.graph.get(), *body.graph, &scope).first->second;
      const Kept kept = From(inside, body.graph->outputs[output], true, turns);
      if (kept.elements > best.elements) best = kept;
    }
    return best;
  }

  const Value& output_;
  Bodies& bodies_;
  int visited_ = 0;
};

}  // namespace

InPlaceUpdates::InPlaceUpdates(const ModelGraph& graph) : of_outputs_(graph.outputs.size()) {
  const Scope scope(graph, nullptr);
  Bodies bodies;
  const std::vector<ValueId> roots = RootsOfViews(graph);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value& output = graph.value(graph.outputs[i]);
    const Walk::Kept kept = Walk(output, bodies).From(scope, graph.outputs[i], false, 0);
    if (!(kept.elements > 0)) continue;
    const double all = BytesOf(output);
    const double written = std::max(all - kept.elements * BitsPerElement(output.type) / 8, 0.0);
    of_outputs_[i] = Update{written, kept.is_computed};
    if (const auto maker = scope.makers[roots[graph.outputs[i].index()].index()]) unwritten_[*maker] += all - written;
    for (const auto& [layer, operands] : kept.operands)
      if (graph.layers[layer].outputs.size() == 1) kept_[layer].insert(operands.begin(), operands.end());
  }
}

double InPlaceUpdates::UnwrittenBy(std::size_t layer) const {
  const auto found = unwritten_.find(layer);
  return found == unwritten_.end() ? 0 : found->second;
}

const std::set<std::size_t>* InPlaceUpdates::KeptBy(std::size_t layer) const {
  const auto found = kept_.find(layer);
  return found == kept_.end() ? nullptr : &found->second;
}

}  // namespace infimum
