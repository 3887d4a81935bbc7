#include "analyzer/floor/compulsory_traffic.h"

#include <algorithm>
#include <map>
#include <utility>

#include "infimum/base/text.h"

namespace infimum {
namespace {

// A tensor by the graph that declares it.
using Root = std::pair<const ModelGraph*, std::size_t>;

// What reading a value means: bytes of a root, at most `least` of them.
struct Backing {
  Root root{nullptr, 0};
  bool must_be_read = false;  // a weight or a graph input; not an intermediate
  bool constant = false;
  double least = 0;
  bool filled = false;  // with one value, seen differently or converted since: a stored weight's stand-in, or nothing
};

using Reads = std::map<Root, double>;

void Raise(Reads& reads, const Root& root, double bytes) {
  if (bytes <= 0) return;
  double& entry = reads[root];
  entry = std::max(entry, bytes);
}

double Total(const Reads& reads) {
  double total = 0;
  for (const auto& [root, bytes] : reads) total += bytes;
  return total;
}

struct GraphReads {
  Reads reads;
  std::vector<Backing> backing;  // by value
};

// Splits what a layer with bodies reads: what it shares with its surroundings stays in `shared`, what
// nobody else can read becomes one amount.
struct BodyReads {
  Reads shared;
  double own = 0;
};

BodyReads CombineBranches(const std::vector<Reads>& branches, const std::map<Root, int>& users, const ModelGraph* graph,
                          const std::vector<const ModelGraph*>& bodies) {
  BodyReads combined;
  const auto is_own = [&](const Root& root) {
    if (std::find(bodies.begin(), bodies.end(), root.first) != bodies.end()) return true;
    const auto use = users.find(root);
    return root.first == graph && use != users.end() && use->second == 1;
  };
  bool first = true;
  for (const Reads& branch : branches) {
    double own = 0;
    Reads shared;
    for (const auto& [root, bytes] : branch) {
      if (is_own(root)) {
        own += bytes;
      } else {
        shared[root] = bytes;
      }
    }
    if (first) {
      combined = {std::move(shared), own};
      first = false;
      continue;
    }
    combined.own = std::min(combined.own, own);
    for (auto entry = combined.shared.begin(); entry != combined.shared.end();) {
      const auto other = shared.find(entry->first);
      if (other == shared.end()) {
        entry = combined.shared.erase(entry);
      } else {
        entry->second = std::min(entry->second, other->second);
        ++entry;
      }
    }
  }
  return combined;
}

// Of what only constants go into: the largest of them, and how much of it the result needs at least.
struct Source {
  const Backing* backing = nullptr;
  const Value* value = nullptr;

  double LeastFor(const ModelGraph& graph, const Layer& layer, const Value& result) const {
    const double bytes = BytesOf(result);
    if (!value->shape || !result.shape) return std::min(bytes, backing->least);
    const double all = static_cast<double>(ElementCount(*value->shape));
    double part = all > 0 ? static_cast<double>(ElementCount(*result.shape)) / all : 1;
    // The same rows may be picked again and again.
    if (layer.op.starts_with("Gather") && layer.inputs.size() > 1 && layer.inputs[1])
      part *= ShareOfDistinct(graph.value(*layer.inputs[1]));
    return std::min(bytes, backing->least * std::min(part, 1.0));
  }
};

// What the values that `layer` makes are backed by.
void BackOutputs(const ModelGraph& graph, const Layer& layer, std::vector<Backing>& backing) {
  // What a fill is converted to is filled still; what is computed from it is made of nothing.
  const bool is_conversion = layer.status == LayerStatus::kFree &&
                             IsOneOf(layer.op, {"Cast", "DequantizeLinear", "Flatten", "Identity", "QuantizeLinear",
                                                "Reshape", "Squeeze", "Transpose", "Unsqueeze"});
  Source largest;
  bool only_constants = layer.bodies.empty();
  bool any_input = false;
  for (const std::optional<ValueId>& input : layer.inputs) {
    if (!input) continue;
    any_input = true;
    const Backing& from = backing[input->index()];
    only_constants &= from.constant;
    const auto counts = [&](const Backing& one) { return one.filled && !is_conversion ? 0 : one.least; };
    if (from.constant && (largest.backing == nullptr || counts(from) > counts(*largest.backing)))
      largest = {&from, &graph.value(*input)};
  }
  for (const std::optional<ValueId>& output : layer.outputs) {
    if (!output) continue;
    const Value& value = graph.value(*output);
    const double bytes = BytesOf(value);
    Backing& made = backing[output->index()];
    made = {{&graph, output->index()}, false, false, bytes, false};
    const bool is_weight = value.kind == ValueKind::kWeight;
    if (is_weight && layer.op == "ConstantOfShape") {
      made.must_be_read = made.constant = made.filled = true;
    } else if (is_weight && IsOneOf(layer.op, {"EyeLike", "Range", "Trilu"})) {
      made = {made.root, true, true, 0, false};
    } else if (any_input && only_constants && largest.backing != nullptr) {
      // What is computed once from a smaller constant need not be read in full.
      const bool is_nothing = largest.backing->filled && !is_conversion;
      made = {largest.backing->root, true, true, is_nothing ? 0 : largest.LeastFor(graph, layer, value),
              largest.backing->filled && is_conversion};
    } else if (is_weight) {
      made.must_be_read = made.constant = true;
    } else if (layer.status == LayerStatus::kFree && layer.bodies.empty() && !layer.inputs.empty() && layer.inputs[0]) {
      const Backing& from = backing[layer.inputs[0]->index()];
      made = {from.root, from.must_be_read, from.constant, std::min(bytes, from.least), from.filled};
    }
  }
}

// The condition decides which of the other two operands is read, element by element.
bool IsWhere(const Layer& layer) {
  const auto* pointwise = ConfigOf<PointwiseConfig>(layer);
  return pointwise != nullptr && pointwise->kind == PointwiseKind::kWhere;
}

bool IsGather(const Layer& layer) {
  const auto* movement = ConfigOf<MovementConfig>(layer);
  return movement != nullptr && movement->kind == MovementKind::kGather;
}

// `kept`: operands that the result is written over; the others are needed whole.
Reads ReadsOfLayer(const ModelGraph& graph, std::size_t index, const NeededShares& needs,
                   const std::set<std::size_t>* kept, const std::vector<Backing>& backing) {
  const Layer& layer = graph.layers[index];
  const double needed = needs.of(graph, index);
  Reads reads;
  if (!layer.workload && !layer.least) return reads;
  bool only_constants = true;
  for (const std::optional<ValueId>& input : layer.inputs)
    if (input) only_constants &= backing[input->index()].constant;
  if (only_constants) return reads;  // runs once, before the first inference
  for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand) {
    const std::size_t input = layer.operand_inputs[operand];
    if (operand >= layer.work.operand_reads.size() || input >= layer.inputs.size() || !layer.inputs[input]) continue;
    const Backing& from = backing[layer.inputs[input]->index()];
    if (!from.must_be_read || (operand > 0 && IsWhere(layer))) continue;
    if (from.filled && KeepsElementsApart(layer) && !IsGather(layer)) continue;  // one value, no stored weight
    // A matmul's rows need all of its weights.
    const bool is_whole = from.constant && !KeepsElementsApart(layer);
    const bool is_new = kept != nullptr && !kept->contains(operand);
    const double share = is_whole || is_new ? 1 : ShareOfOperand(graph, layer, operand, needed);
    const double bytes = LeastRead(graph, layer, operand) * share * needs.of_operand(graph, index, operand);
    // What is stored in fewer bytes than it is read as, in part too.
    const double stored = from.least / std::max(BytesOf(graph.value(*layer.inputs[input])), from.least);
    Raise(reads, from.root, std::min(bytes * stored, from.least));
  }
  return reads;
}

GraphReads FindReads(const ModelGraph& graph, const NeededShares& needs, const ModelGraph* outer,
                     const std::vector<Backing>* outer_backing) {
  GraphReads result;
  result.backing.resize(graph.values.size());
  std::vector<std::optional<ValueId>> captured(graph.values.size());
  if (outer != nullptr) captured = CapturedValues(graph, NamesOf(*outer));
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    Backing& backing = result.backing[i];
    if (outer != nullptr && captured[i]) {
      backing = (*outer_backing)[captured[i]->index()];
      continue;
    }
    backing = {{&graph, i}, false, false, BytesOf(value), false};
    if (value.kind == ValueKind::kWeight) backing.must_be_read = backing.constant = true;
    // What a body is handed is an intermediate: where it comes from is not followed.
    if (value.kind == ValueKind::kGraphInput && outer == nullptr) backing.must_be_read = true;
  }

  std::vector<std::vector<Reads>> by_layer(graph.layers.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    BackOutputs(graph, layer, result.backing);
    const double needed = needs.of(graph, i);
    const std::set<std::size_t>* kept = outer == nullptr ? needs.updates().KeptBy(i) : nullptr;
    if (needed <= 0 && kept == nullptr) continue;
    if (layer.bodies.empty()) {
      by_layer[i].push_back(ReadsOfLayer(graph, i, needs, kept, result.backing));
      continue;
    }
    // If has two bodies of which one runs; every other operator has one.
    for (const SubGraph& body : layer.bodies) {
      const bool runs = body.graph != nullptr && (layer.bodies.size() > 1 || body.least_executions > 0);
      by_layer[i].push_back(runs ? FindReads(*body.graph, needs, &graph, &result.backing).reads : Reads{});
    }
  }

  std::map<Root, int> users;
  for (const std::vector<Reads>& branches : by_layer) {
    std::map<Root, bool> seen;
    for (const Reads& branch : branches)
      for (const auto& [root, bytes] : branch) seen[root] = true;
    for (const auto& [root, used] : seen) ++users[root];
  }
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    if (by_layer[i].size() == 1) {
      for (const auto& [root, bytes] : by_layer[i].front()) Raise(result.reads, root, bytes);
      continue;
    }
    std::vector<const ModelGraph*> bodies;
    for (const SubGraph& body : layer.bodies) bodies.push_back(body.graph.get());
    const BodyReads combined = CombineBranches(by_layer[i], users, &graph, bodies);
    for (const auto& [root, bytes] : combined.shared) Raise(result.reads, root, bytes);
    // One entry for all that only this layer reads, under an index that no value has.
    Raise(result.reads, {&graph, graph.values.size() + i}, combined.own);
  }
  return result;
}

}  // namespace

CompulsoryTraffic FindCompulsoryTraffic(const ModelGraph& graph, const NeededShares& needs) {
  const GraphReads reads = FindReads(graph, needs, nullptr, nullptr);
  Reads written;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId output = graph.outputs[i];
    const Backing& backing = reads.backing[output.index()];
    if (backing.must_be_read) continue;
    const auto& update = needs.updates().of_outputs()[i];
    Raise(written, backing.root, update ? update->written : BytesOf(graph.value(output)));
  }
  double inputs = 0;
  for (const ValueId input : graph.inputs)
    if (const auto found = reads.reads.find(Root{&graph, input.index()}); found != reads.reads.end())
      inputs += found->second;
  return {Total(reads.reads), Total(written), inputs};
}

CompulsoryTraffic FindCompulsoryTraffic(const ModelGraph& graph) {
  return FindCompulsoryTraffic(graph, NeededShares(graph, UnknownLayers::kReadNothing));
}

}  // namespace infimum
