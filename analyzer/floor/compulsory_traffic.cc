#include "analyzer/floor/compulsory_traffic.h"

#include <algorithm>
#include <map>
#include <utility>

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

// What the values that `layer` makes are backed by.
void BackOutputs(const ModelGraph& graph, const Layer& layer, std::vector<Backing>& backing) {
  const Backing* largest_constant = nullptr;
  bool only_constants = layer.bodies.empty();
  bool any_input = false;
  for (const std::optional<ValueId>& input : layer.inputs) {
    if (!input) continue;
    any_input = true;
    const Backing& from = backing[input->index()];
    only_constants &= from.constant;
    if (from.constant && (largest_constant == nullptr || from.least > largest_constant->least))
      largest_constant = &from;
  }
  for (const std::optional<ValueId>& output : layer.outputs) {
    if (!output) continue;
    const Value& value = graph.value(*output);
    const double bytes = BytesOf(value);
    Backing& made = backing[output->index()];
    made = {{&graph, output->index()}, false, false, bytes};
    if (value.kind == ValueKind::kWeight) {
      made.must_be_read = made.constant = true;
      // What is computed once from a smaller constant need not be read in full. A filled tensor stands for
      // itself: models without weights have them so.
      if (layer.op != "ConstantOfShape" && only_constants && largest_constant != nullptr)
        made = {largest_constant->root, true, true, std::min(bytes, largest_constant->least)};
    } else if (any_input && only_constants && largest_constant != nullptr) {
      made = {largest_constant->root, true, true, std::min(bytes, largest_constant->least)};
    } else if (layer.status == LayerStatus::kFree && layer.bodies.empty() && !layer.inputs.empty() && layer.inputs[0]) {
      const Backing& from = backing[layer.inputs[0]->index()];
      made = {from.root, from.must_be_read, from.constant, std::min(bytes, from.least)};
    }
  }
}

// The condition decides which of the other two operands is read, element by element.
bool IsWhere(const Layer& layer) {
  const auto* pointwise = ConfigOf<PointwiseConfig>(layer);
  return pointwise != nullptr && pointwise->kind == PointwiseKind::kWhere;
}

// `kept`: operands that the result is written over; the others are needed whole.
Reads ReadsOfLayer(const ModelGraph& graph, const Layer& layer, double needed, const std::set<std::size_t>* kept,
                   const std::vector<Backing>& backing) {
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
    // A matmul's rows need all of its weights.
    const bool is_whole = from.constant && !KeepsElementsApart(layer);
    const bool is_new = kept != nullptr && !kept->contains(operand);
    const double share = is_whole || is_new ? 1 : ShareOfOperand(graph, layer, operand, needed);
    const double bytes = LeastRead(graph, layer, operand) * share;
    Raise(reads, from.root, std::min(bytes, from.least));
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
    backing = {{&graph, i}, false, false, BytesOf(value)};
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
      by_layer[i].push_back(ReadsOfLayer(graph, layer, needed, kept, result.backing));
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
