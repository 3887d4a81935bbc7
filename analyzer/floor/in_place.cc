#include "analyzer/floor/in_place.h"

#include <algorithm>

#include "analyzer/floor/needed_shares.h"
#include "src/core/graph/views.h"

namespace infimum {
namespace {

bool IsPointwise(const Layer& layer, PointwiseKind kind) {
  const auto* config = ConfigOf<PointwiseConfig>(layer);
  return config != nullptr && config->kind == kind;
}

double ElementsIn(const Value& value) { return BytesOf(value) * 8 / BitsPerElement(value.type); }

// Caches that differ at most in how many positions they have.
bool MayShareABuffer(const Value& a, const Value& b) {
  if (a.type != b.type || !a.shape || !b.shape || a.shape->rank() != b.shape->rank()) return false;
  std::size_t differing = 0;
  for (std::size_t d = 0; d < a.shape->rank(); ++d) differing += a.shape->dims[d] != b.shape->dims[d] ? 1 : 0;
  return differing <= 1;
}

// A graph with what makes each of its values, and what surrounds it where it is a branch: what a branch does not make
// it finds around it by name.
struct Scope {
  Scope(const ModelGraph& of, const Scope* around)
      : graph(of), outer(around), makers(of.values.size()), captured(of.values.size()) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i)
      for (const std::optional<ValueId>& output : graph.layers[i].outputs)
        if (output) makers[output->index()] = i;
    if (outer == nullptr) return;
    const ValueNames names = NamesOf(outer->graph);
    for (std::size_t i = 0; i < graph.values.size(); ++i)
      if (const auto found = names.find(graph.values[i].name); found != names.end() && !makers[i])
        captured[i] = found->second;
  }

  const ModelGraph& graph;
  const Scope* outer;
  std::vector<std::optional<std::size_t>> makers;
  std::vector<std::optional<ValueId>> captured;
};

using Bodies = std::map<const ModelGraph*, Scope>;

// From a graph output back to the graph input that it may be written over.
class Walk {
 public:
  Walk(const Value& output, Bodies& bodies) : output_(output), bodies_(bodies) {}

  struct Kept {
    double elements = 0;                         // of the output that lie in a graph input already
    std::map<std::size_t, std::size_t> operand;  // by layer of the main graph that updates: what it leaves as it is
    bool is_computed = false;                    // by a loop
  };

  // `updated`: a layer on the way changes a part. `transposed`: the elements are in another order than the output's.
  Kept From(const Scope& scope, ValueId id, bool updated, bool transposed) {
    const Value& value = scope.graph.value(id);
    // Between two casts elements may be wider, but nothing of the input may be lost.
    if (++visited_ > kMostVisited || BitsPerElement(value.type) < BitsPerElement(output_.type)) return {};
    if (scope.outer == nullptr && value.kind == ValueKind::kGraphInput)
      return {updated && !transposed && value.type == output_.type ? ElementsIn(value) : 0, {}, false};
    if (scope.outer != nullptr && value.kind == ValueKind::kWeight) return {ElementsIn(value), {}, false};
    if (const std::optional<std::size_t> maker = scope.makers[id.index()])
      return Through(scope, *maker, id, updated, transposed);
    if (scope.outer != nullptr && scope.captured[id.index()])
      return From(*scope.outer, *scope.captured[id.index()], updated, transposed);
    return {};
  }

 private:
  static constexpr int kMostVisited = 4096;  // of graphs whose paths branch again and again

  Kept Through(const Scope& scope, std::size_t index, ValueId made, bool updated, bool transposed) {
    const Layer& layer = scope.graph.layers[index];
    Kept best;
    const auto consider = [&](const Kept& other) {
      if (other.elements > best.elements) best = other;
    };
    const auto input = [&](std::size_t i, double most, bool changed, bool turned) {
      if (i >= layer.inputs.size() || !layer.inputs[i]) return Kept{};
      Kept kept = From(scope, *layer.inputs[i], updated || changed, transposed != turned);
      kept.elements = std::min(kept.elements, most);
      return kept;
    };
    const double all = ElementsIn(scope.graph.value(made));
    const MovementConfig* movement = ConfigOf<MovementConfig>(layer);
    const auto is = [&](MovementKind kind) { return movement != nullptr && movement->kind == kind; };
    if (!layer.bodies.empty()) {
      consider(ThroughBodies(scope, layer, made, transposed));
    } else if (layer.status == LayerStatus::kFree || IsPointwise(layer, PointwiseKind::kCast)) {
      consider(input(0, all, false, false));
    } else if (is(MovementKind::kTranspose)) {
      consider(input(0, all, false, true));
    } else if (is(MovementKind::kSlice) || is(MovementKind::kSplit)) {
      Kept kept = input(0, all, false, false);
      if (!updated) kept.operand.clear();  // a part that is left out need not be computed
      consider(kept);
    } else if (is(MovementKind::kPad)) {
      consider(input(0, all, true, false));
    } else if (is(MovementKind::kConcat) || IsPointwise(layer, PointwiseKind::kWhere)) {
      for (std::size_t operand = is(MovementKind::kConcat) ? 0 : 1; operand < layer.operand_inputs.size(); ++operand)
        consider(Updating(scope, index, operand, input(layer.operand_inputs[operand], all, true, false)));
    } else if (is(MovementKind::kScatter) && !layer.operand_inputs.empty()) {
      const double given = all - static_cast<double>(ElementCount(movement->inputs[1]));
      consider(Updating(scope, index, 0, input(layer.operand_inputs[0], std::max(given, 0.0), true, false)));
    } else if (layer.status == LayerStatus::kUnknown && layer.in_place.empty() && !layer.least) {
      // Nobody knows which of its inputs it updates.
      for (std::size_t i = 0; i < layer.inputs.size(); ++i)
        if (layer.inputs[i] && MayShareABuffer(scope.graph.value(*layer.inputs[i]), scope.graph.value(made)))
          consider(input(i, all, true, false));
    }
    for (const InPlaceResult& result : layer.in_place)
      if (result.output < layer.outputs.size() && layer.outputs[result.output] == made)
        consider(input(result.input, Left(all, scope.graph.value(made), result.written), true, false));
    return best;
  }

  static double Left(double all, const Value& value, Bytes written) {
    return std::max(all - static_cast<double>(written.value) * 8 / BitsPerElement(value.type), 0.0);
  }

  static Kept Updating(const Scope& scope, std::size_t layer, std::size_t operand, Kept kept) {
    if (scope.outer == nullptr && kept.elements > 0) kept.operand[layer] = operand;
    return kept;
  }

  // Of branches the one that leaves more: which of them runs is not known. What a loop makes of its state is not
  // followed: it may leave all of it.
  Kept ThroughBodies(const Scope& scope, const Layer& layer, ValueId made, bool transposed) {
    Kept best;
    const auto consider = [&](const Kept& other) {
      if (other.elements > best.elements) best = other;
    };
    if (layer.bodies.size() == 1) {
      for (const std::optional<ValueId>& input : layer.inputs)
        if (input && MayShareABuffer(scope.graph.value(*input), scope.graph.value(made)))
          consider(From(scope, *input, true, transposed));
      best.is_computed = true;
      return best;
    }
    const auto output = static_cast<std::size_t>(std::ranges::find(layer.outputs, made) - layer.outputs.begin());
    for (const SubGraph& body : layer.bodies) {
      if (body.graph == nullptr || output >= body.graph->outputs.size()) continue;
      const Scope& inside = bodies_.try_emplace(body.graph.get(), *body.graph, &scope).first->second;
      consider(From(inside, body.graph->outputs[output], true, transposed));
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
    const Walk::Kept kept = Walk(output, bodies).From(scope, graph.outputs[i], false, false);
    if (!(kept.elements > 0)) continue;
    const double all = BytesOf(output);
    const double written = std::max(all - kept.elements * BitsPerElement(output.type) / 8, 0.0);
    of_outputs_[i] = Update{written, kept.is_computed};
    if (const auto maker = scope.makers[roots[graph.outputs[i].index()].index()]) unwritten_[*maker] += all - written;
    for (const auto& [layer, operand] : kept.operand)
      if (graph.layers[layer].outputs.size() == 1) kept_[layer] = operand;
  }
}

double InPlaceUpdates::UnwrittenBy(std::size_t layer) const {
  const auto found = unwritten_.find(layer);
  return found == unwritten_.end() ? 0 : found->second;
}

std::optional<std::size_t> InPlaceUpdates::KeptBy(std::size_t layer) const {
  const auto found = kept_.find(layer);
  return found == kept_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace infimum
