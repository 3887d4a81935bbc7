#include "analyzer/floor/compulsory_traffic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace infimum {
namespace {

double BytesOf(const Value& value) {
  if (!value.shape) return 0;
  double bits = BitsPerElement(value.type);
  for (std::int64_t extent : value.shape->dims) bits *= static_cast<double>(std::max<std::int64_t>(extent, 0));
  return bits / 8;
}

// Layers of which a part of the result needs only that part of the operands.
bool KeepsElementsApart(const Layer& layer) {
  if (layer.status == LayerStatus::kFree) return true;
  if (!layer.workload) return false;
  const auto* config = std::get_if<LayerConfig>(&*layer.workload);
  return config != nullptr &&
         (std::holds_alternative<PointwiseConfig>(*config) || std::holds_alternative<MovementConfig>(*config) ||
          std::holds_alternative<ReorderConfig>(*config));
}

// Of windows over an image: so much of its elements does a share of the outputs need at least. Each output sees a whole
// pixel, or its own channel of one, and no pixel is in more windows than every stride-th of those that its taps fit
// into: taps lie on the stride's grid in steps of their greatest common divisor. 0 where a window may see padding
// alone.
template <class Config>
double ShareUnderWindows(const Config& config, const Shape& output, double share) {
  const std::size_t spatial = config.kernel.rank();
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t taps = config.kernel.dims[d], step = std::max<std::int64_t>(config.stride.dims[d], 1);
    const std::int64_t apart = std::max<std::int64_t>(config.dilation.dims[d], 1);
    for (const std::size_t end : {d, d + spatial})
      if (end < config.padding.size() && config.padding[end] > (taps - 1) * apart) return 0;
    const auto every = static_cast<double>(step / std::gcd(step, apart));
    const double in = static_cast<double>(std::max<std::int64_t>(config.input.dims[d + 2], 1));
    const double out = static_cast<double>(std::max<std::int64_t>(output.dims[d + 2], 1));
    share *= out / (in * std::max(std::ceil(static_cast<double>(taps) / every), 1.0));
  }
  return share;
}

// What a share of a layer's result needs of an operand that is no constant, at least: as many rows of a matmul as it
// has, one element of a reduced axis is no use without the others, and so on. Where nothing is known, next to nothing.
double ShareOfOperand(const Layer& layer, const Value& operand, double share) {
  constexpr double kNextToNothing = 1e-12;  // more than what is not needed at all
  if (share >= 1 || KeepsElementsApart(layer)) return share;
  const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  if (config == nullptr) return kNextToNothing;
  if (const auto* convolution = std::get_if<ConvolutionConfig>(config)) {
    if (convolution->transposed || !operand.shape || operand.shape->rank() != convolution->input.rank())
      return kNextToNothing;
    return std::max(ShareUnderWindows(*convolution, OutputsOf(*config)[0].shape, share), kNextToNothing);
  }
  if (const auto* pooling = std::get_if<PoolingConfig>(config))
    return std::max(ShareUnderWindows(*pooling, pooling->output, share), kNextToNothing);
  const bool is_in_proportion =
      std::holds_alternative<MatMulConfig>(*config) || std::holds_alternative<ReductionConfig>(*config) ||
      std::holds_alternative<SoftmaxConfig>(*config) || std::holds_alternative<NormalizationConfig>(*config);
  return is_in_proportion ? share : kNextToNothing;
}

// The bytes that a layer must read of an operand for all of its result.
double LeastRead(const ModelGraph& graph, const Layer& layer, std::size_t operand) {
  const double read = static_cast<double>(layer.work.operand_reads[operand].value);
  const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  const auto* movement = config != nullptr ? std::get_if<MovementConfig>(config) : nullptr;
  if (operand != 0 || movement == nullptr || movement->kind != MovementKind::kGather || movement->indices <= 0)
    return read;
  // All indices may be one; of known ones the distinct count.
  double distinct = 1;
  if (layer.operand_inputs.size() > 1 && layer.inputs[layer.operand_inputs[1]]) {
    const std::optional<Tensor>& known = graph.value(*layer.inputs[layer.operand_inputs[1]]).constant;
    if (const auto indices = known ? IntegersOf(&*known) : std::nullopt)
      distinct = static_cast<double>(std::set(indices->begin(), indices->end()).size());
  }
  return std::min(read, read * distinct / static_cast<double>(movement->indices));
}

struct CapturedValues {
  std::vector<std::optional<ValueId>> outer;  // for each value of the body, the outer value it stands for
};

// The values of a body that are neither its own nor handed to it: it sees its surroundings by name.
CapturedValues Capture(const ModelGraph& body, const std::unordered_map<std::string_view, ValueId>& outer) {
  CapturedValues captured;
  captured.outer.resize(body.values.size());
  std::vector<bool> own(body.values.size(), false);
  for (ValueId input : body.inputs) own[input.index()] = true;
  for (const Layer& layer : body.layers)
    for (const std::optional<ValueId>& output : layer.outputs)
      if (output) own[output->index()] = true;
  for (std::size_t i = 0; i < body.values.size(); ++i) {
    if (own[i]) continue;
    if (const auto found = outer.find(body.values[i].name); found != outer.end()) captured.outer[i] = found->second;
  }
  return captured;
}

std::unordered_map<std::string_view, ValueId> ByName(const ModelGraph& graph) {
  std::unordered_map<std::string_view, ValueId> names;
  names.reserve(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (!graph.values[i].name.empty()) names.emplace(graph.values[i].name, ValueId(i));
  return names;
}

// The outer values that the bodies of a layer see, at any depth.
void AddCaptured(const ModelGraph& body, const std::unordered_map<std::string_view, ValueId>& outer,
                 std::vector<ValueId>& captured) {
  const CapturedValues here = Capture(body, outer);
  for (const std::optional<ValueId>& value : here.outer)
    if (value) captured.push_back(*value);
  for (const Layer& layer : body.layers)
    for (const SubGraph& inner : layer.bodies)
      if (inner.graph != nullptr) AddCaptured(*inner.graph, outer, captured);
}

struct Needs {
  std::vector<double> layers;  // the share of each layer's result that is needed
};

Needs FindNeeds(const ModelGraph& graph) {
  std::vector<double> needed(graph.values.size(), 0);
  for (ValueId output : graph.outputs) needed[output.index()] = 1;
  const auto names = ByName(graph);
  Needs needs;
  needs.layers.resize(graph.layers.size(), 0);
  const auto raise = [&](ValueId id, double share) {
    needed[id.index()] = std::max(needed[id.index()], std::min(share, 1.0));
  };
  for (std::size_t i = graph.layers.size(); i-- > 0;) {
    const Layer& layer = graph.layers[i];
    double share = 0, bytes_needed = 0;
    for (const std::optional<ValueId>& output : layer.outputs) {
      if (!output) continue;
      share = std::max(share, needed[output->index()]);
      bytes_needed = std::max(bytes_needed, needed[output->index()] * BytesOf(graph.value(*output)));
    }
    needs.layers[i] = share;
    if (share <= 0) continue;
    if (layer.status != LayerStatus::kMeasurable) {
      for (std::size_t input = 0; input < layer.inputs.size(); ++input) {
        if (!layer.inputs[input]) continue;
        // A view of a part (a split along the outermost dimension) needs that part.
        const double whole = BytesOf(graph.value(*layer.inputs[input]));
        const bool is_view = layer.status == LayerStatus::kFree && input == 0 && whole > 0;
        raise(*layer.inputs[input], is_view ? bytes_needed / whole : 1);
      }
    } else {
      std::vector<bool> is_operand(layer.inputs.size(), false);
      for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand) {
        const std::size_t input = layer.operand_inputs[operand];
        if (input >= layer.inputs.size() || !layer.inputs[input]) continue;
        is_operand[input] = true;
        const Value& value = graph.value(*layer.inputs[input]);
        const double whole = BytesOf(value);
        const double read = operand < layer.work.operand_reads.size() ? LeastRead(graph, layer, operand) : whole;
        raise(*layer.inputs[input],
              (whole > 0 ? std::min(read / whole, 1.0) : 1.0) * ShareOfOperand(layer, value, share));
      }
      for (std::size_t input = 0; input < layer.inputs.size(); ++input)
        if (!is_operand[input] && layer.inputs[input]) raise(*layer.inputs[input], 1);
    }
    std::vector<ValueId> captured;
    for (const SubGraph& body : layer.bodies)
      if (body.graph != nullptr) AddCaptured(*body.graph, names, captured);
    for (ValueId id : captured) raise(id, 1);
  }
  return needs;
}

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

GraphReads FindReads(const ModelGraph& graph, const ModelGraph* outer, const std::vector<Backing>* outer_backing);

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
    } else if (layer.status == LayerStatus::kFree && !layer.inputs.empty() && layer.inputs[0]) {
      const Backing& from = backing[layer.inputs[0]->index()];
      made = {from.root, from.must_be_read, from.constant, std::min(bytes, from.least)};
    }
  }
}

// The condition decides which of the other two operands is read, element by element.
bool IsWhere(const Layer& layer) {
  const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  const auto* pointwise = config != nullptr ? std::get_if<PointwiseConfig>(config) : nullptr;
  return pointwise != nullptr && pointwise->kind == PointwiseKind::kWhere;
}

Reads ReadsOfLayer(const ModelGraph& graph, const Layer& layer, double needed, const std::vector<Backing>& backing) {
  Reads reads;
  if (layer.status != LayerStatus::kMeasurable) return reads;
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
    const double share = is_whole ? 1 : ShareOfOperand(layer, graph.value(*layer.inputs[input]), needed);
    const double bytes = LeastRead(graph, layer, operand) * share;
    Raise(reads, from.root, std::min(bytes, from.least));
  }
  return reads;
}

GraphReads FindReads(const ModelGraph& graph, const ModelGraph* outer, const std::vector<Backing>* outer_backing) {
  GraphReads result;
  result.backing.resize(graph.values.size());
  CapturedValues captured;
  if (outer != nullptr) captured = Capture(graph, ByName(*outer));
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    Backing& backing = result.backing[i];
    if (outer != nullptr && captured.outer[i]) {
      backing = (*outer_backing)[captured.outer[i]->index()];
      continue;
    }
    backing = {{&graph, i}, false, false, BytesOf(value)};
    if (value.kind == ValueKind::kWeight) backing.must_be_read = backing.constant = true;
    // What a body is handed is an intermediate: where it comes from is not followed.
    if (value.kind == ValueKind::kGraphInput && outer == nullptr) backing.must_be_read = true;
  }

  const std::vector<double> needs = FindNeeds(graph).layers;
  std::vector<std::vector<Reads>> by_layer(graph.layers.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    BackOutputs(graph, layer, result.backing);
    if (needs[i] <= 0) continue;
    if (layer.bodies.empty()) {
      by_layer[i].push_back(ReadsOfLayer(graph, layer, needs[i], result.backing));
      continue;
    }
    // If has two bodies of which one runs; every other operator has one.
    for (const SubGraph& body : layer.bodies) {
      const bool runs = body.graph != nullptr && (layer.bodies.size() > 1 || body.least_executions > 0);
      by_layer[i].push_back(runs ? FindReads(*body.graph, &graph, &result.backing).reads : Reads{});
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

CompulsoryTraffic FindCompulsoryTraffic(const ModelGraph& graph) {
  const GraphReads reads = FindReads(graph, nullptr, nullptr);
  Reads written;
  for (ValueId output : graph.outputs) {
    const Backing& backing = reads.backing[output.index()];
    if (!backing.must_be_read) Raise(written, backing.root, BytesOf(graph.value(output)));
  }
  return {Total(reads.reads), Total(written)};
}

std::vector<double> NeededShares(const ModelGraph& graph) { return FindNeeds(graph).layers; }

}  // namespace infimum
