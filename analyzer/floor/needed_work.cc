#include "analyzer/floor/needed_work.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/floor/needed_shares.h"
#include "infimum/base/text.h"
#include "src/core/graph/captured_values.h"

namespace infimum {
namespace {

// What makes each row of its result of one row, of a product's first operand, so that rows which nobody reads need no
// work.
bool KeepsRowsApart(const ModelGraph& graph, const Layer& layer) {
  if (ConfigOf<PointwiseConfig>(layer) != nullptr || ConfigOf<NormalizationConfig>(layer) != nullptr ||
      ConfigOf<ReductionConfig>(layer) != nullptr)
    return true;
  if (ConfigOf<SoftmaxConfig>(layer) != nullptr || ConfigOf<SortConfig>(layer) != nullptr) {
    const auto axis = layer.attributes.find("axis");
    const auto* along = axis == layer.attributes.end() ? nullptr : std::get_if<std::int64_t>(&axis->second);
    const std::optional<Shape>& shape = graph.value(*layer.inputs[0]).shape;
    return along == nullptr || *along == -1 || (shape && *along + 1 == static_cast<std::int64_t>(shape->rank()));
  }
  return ConfigOf<MatMulConfig>(layer) != nullptr;
}

double ElementsOf(const Value& value) { return value.shape ? static_cast<double>(ElementCount(*value.shape)) : 0; }

// Of an attention, or of a region that joins caches, attends and hands them on.
const AttentionConfig* AttentionOf(const Layer& layer) {
  if (const auto* attention = ConfigOf<AttentionConfig>(layer)) return attention;
  const auto* region = layer.workload ? std::get_if<Region>(&*layer.workload) : nullptr;
  if (region == nullptr) return nullptr;
  for (const RegionMember& member : region->members)
    if (const auto* attention = std::get_if<AttentionConfig>(&member.config)) return attention;
  return nullptr;
}

// Layers that compute again what one before them did: for each the first, else itself.
std::vector<std::size_t> FindEqualLayers(const ModelGraph& graph) {
  std::vector<std::size_t> first(graph.layers.size());
  std::vector<std::size_t> values(graph.values.size());
  std::iota(values.begin(), values.end(), 0);
  const auto value_of = [&](const Layer& layer, std::size_t input) {
    return layer.inputs[input] ? std::optional(values[layer.inputs[input]->index()]) : std::nullopt;
  };
  std::map<std::pair<std::string_view, std::optional<std::size_t>>, std::vector<std::size_t>> known;  // by first input
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    first[i] = i;
    constexpr std::string_view kDrawn[] = {"Bernoulli", "Dropout", "Multinomial"};
    if (!layer.bodies.empty() || layer.inputs.empty() || layer.op.starts_with("Random") || IsOneOf(layer.op, kDrawn))
      continue;
    std::vector<std::size_t>& alike = known[{layer.op, value_of(layer, 0)}];
    const auto same = std::ranges::find_if(alike, [&](std::size_t place) {
      const Layer& other = graph.layers[place];
      if (other.inputs.size() != layer.inputs.size() || other.outputs.size() != layer.outputs.size()) return false;
      for (std::size_t input = 0; input < layer.inputs.size(); ++input)
        if (value_of(layer, input) != value_of(other, input)) return false;
      return other.attributes == layer.attributes && other.workload == layer.workload;
    });
    if (same == alike.end()) {
      alike.push_back(i);
      continue;
    }
    first[i] = *same;
    for (std::size_t output = 0; output < layer.outputs.size(); ++output)
      if (const std::optional<ValueId>& of_first = graph.layers[*same].outputs[output];
          layer.outputs[output] && of_first)
        values[layer.outputs[output]->index()] = of_first->index();
  }
  return first;
}

// Of an element-wise layer, a movement or a view: what a mask goes through unchanged in meaning.
bool KeepsPositions(const Layer& layer) {
  if (!layer.bodies.empty()) return false;
  if (layer.status == LayerStatus::kFree || ConfigOf<PointwiseConfig>(layer) != nullptr) return true;
  const auto* movement = ConfigOf<MovementConfig>(layer);
  constexpr MovementKind kKinds[] = {MovementKind::kConcat, MovementKind::kCopy, MovementKind::kExpand,
                                     MovementKind::kSlice, MovementKind::kTranspose};
  return movement != nullptr && std::ranges::find(kKinds, movement->kind) != std::end(kKinds);
}

class Masks {
 public:
  Masks(const ModelGraph& graph, bool is_body) : graph_(graph), is_body_(is_body), producers_(graph.values.size()) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i)
      for (const std::optional<ValueId>& output : graph.layers[i].outputs)
        if (output) producers_[output->index()] = i;
  }

  // The least share of `queries` x `keys` scores that is left of what `from` is made of.
  double SeenThrough(ValueId from, std::int64_t queries, std::int64_t keys) const {
    double seen = 1;
    std::set<std::int64_t> widths = {keys};  // before a sink joined the scores
    WalkBack(from, [&](ValueId id, const Layer* producer) {
      const Value& value = graph_.value(id);
      const auto* movement = producer != nullptr ? ConfigOf<MovementConfig>(*producer) : nullptr;
      if (movement != nullptr && movement->kind == MovementKind::kConcat)
        for (const std::optional<ValueId>& part : producer->inputs)
          if (const std::optional<Shape> shape = part ? graph_.value(*part).shape : std::nullopt;
              shape && shape->rank() > 0 && 2 * shape->dims.back() >= keys)
            widths.insert(shape->dims.back());
      // What a body sees of its surroundings may be a mask that is the same in every execution.
      const bool is_outside = is_body_ && producer == nullptr;
      if (value.kind != ValueKind::kWeight && !is_outside)
        return producer != nullptr && KeepsPositions(*producer) ? kAllInputs : 0;
      if (value.shape && value.shape->rank() > 0 && keys > 1 && widths.contains(value.shape->dims.back())) {
        const std::int64_t width = value.shape->dims.back();
        const double beside = is_outside ? 1.0 / static_cast<double>(width) : SeenBeside(id, queries, width);
        seen = std::min(seen, 1 - (1 - beside) * static_cast<double>(width) / static_cast<double>(keys));
      }
      return std::size_t{0};
    });
    return seen;
  }

  std::optional<std::size_t> ProducerOf(ValueId value) const { return producers_[value.index()]; }

 private:
  static constexpr std::size_t kMostVisited = 4096;
  static constexpr std::string_view kComparisons[] = {"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Trilu"};
  // That say whether, and not where.
  static constexpr std::string_view kOtherTests[] = {"Equal", "Mod", "BitShift", "BitwiseAnd", "Xor", "IsInf", "IsNaN"};

  static constexpr std::size_t kAllInputs = -1;

  // From a value to what it is made of, each once: `inputs_of(value, its producer)` says how many of the producer's
  // inputs are followed.
  void WalkBack(ValueId from, const std::function<std::size_t(ValueId, const Layer*)>& inputs_of) const {
    std::vector<ValueId> open{from};
    std::set<std::size_t> visited;
    while (!open.empty() && visited.size() < kMostVisited) {
      const ValueId id = open.back();
      open.pop_back();
      if (!visited.insert(id.index()).second) continue;
      const std::optional<std::size_t> producer = producers_[id.index()];
      const Layer* const layer = producer ? &graph_.layers[*producer] : nullptr;
      const std::size_t followed = inputs_of(id, layer);
      for (std::size_t input = 0; layer != nullptr && input < std::min(followed, layer->inputs.size()); ++input)
        if (layer->inputs[input]) open.push_back(*layer->inputs[input]);
    }
  }

  // How an unchanging mask was made.
  struct Making {
    int comparisons = 0;
    bool is_other = false;  // by tests of another kind, or stored as it is
    std::vector<double>
        numbers;  // that are compared with, or added to positions: a window's length, or where it begins
  };

  Making MakingOf(ValueId mask) const {
    Making making;
    WalkBack(mask, [&](ValueId id, const Layer* producer) {
      const Value& value = graph_.value(id);
      // A stored row or matrix of Booleans; numbers may be positions.
      if (producer == nullptr)
        making.is_other |= value.type == DataType::kBool && value.shape && ElementCount(*value.shape) != 1;
      if (producer == nullptr) return std::size_t{0};
      making.is_other |= IsOneOf(producer->op, kOtherTests);
      if (!IsOneOf(producer->op, kComparisons)) return kAllInputs;
      ++making.comparisons;
      TakeNumbers(*producer, making);
      for (const std::optional<ValueId>& input : producer->inputs)
        if (input && producer->op != "Trilu") FollowPositions(*input, making);
      return kAllInputs;
    });
    return making;
  }

  // Numbers among the inputs of a comparison, a sum or a Range.
  void TakeNumbers(const Layer& layer, Making& making) const {
    for (const std::optional<ValueId>& input : layer.inputs) {
      if (!input || !graph_.value(*input).constant) continue;
      const std::optional<std::vector<double>> number = NumbersOf(&*graph_.value(*input).constant);
      if (number && number->size() == 1 && std::abs(number->front()) > 1 && std::abs(number->front()) < kMostWindow)
        making.numbers.push_back(std::abs(number->front()));
    }
  }

  // What is compared has to be positions, shifted at most: of all else it is not known what a comparison leaves.
  void FollowPositions(ValueId from, Making& making) const {
    WalkBack(from, [&](ValueId id, const Layer* producer) {
      const Value& value = graph_.value(id);
      if (producer == nullptr) {
        const auto numbers = value.constant ? NumbersOf(&*value.constant) : std::nullopt;
        const auto is_gap = [](double a, double b) { return b != a + 1; };
        making.is_other |= !numbers || std::ranges::adjacent_find(*numbers, is_gap) != numbers->end() ||
                           (numbers->size() > 1 && numbers->front() != 0);
        return std::size_t{0};
      }
      constexpr std::string_view kOfShapes[] = {"ConstantOfShape", "Shape", "Size"};
      if (IsOneOf(producer->op, kOfShapes)) return std::size_t{0};
      constexpr std::string_view kShifts[] = {"Abs", "Add", "Neg", "Range", "Sub"};
      constexpr std::string_view kSame[] = {"Cast",    "CumSum",  "Expand", "Flatten", "Gather",    "Identity",
                                            "NonZero", "Reshape", "Slice",  "Squeeze", "Transpose", "Unsqueeze"};
      if (IsOneOf(producer->op, kSame)) return std::size_t{1};  // and no axes or shapes
      if (!IsOneOf(producer->op, kShifts)) {
        making.is_other = true;
        return std::size_t{0};
      }
      TakeNumbers(*producer, making);
      return kAllInputs;
    });
  }

  // Of one mask that is the same in every execution; 1 of a bias, which hides nothing.
  double SeenBeside(ValueId mask, std::int64_t queries, std::int64_t keys) const {
    constexpr double kHidden = -1e4;
    const Value& value = graph_.value(mask);
    const double one_key = 1.0 / static_cast<double>(keys);
    if (const auto numbers = value.constant ? NumbersOf(&*value.constant) : std::nullopt) {
      const bool is_bool = value.type == DataType::kBool;
      if (!IsFloatingPoint(value.type) && !is_bool) return 1;
      const auto seen = std::ranges::count_if(*numbers, [&](double n) { return is_bool ? n != 0 : !(n <= kHidden); });
      const auto hidden = static_cast<std::int64_t>(numbers->size()) - seen;
      // Whether a Boolean says what is seen or what is hidden is not followed.
      const auto least = is_bool ? std::min<std::int64_t>(seen, hidden) : seen;
      return hidden == 0 || (is_bool && seen == 0)
                 ? 1
                 : std::max(static_cast<double>(least) / static_cast<double>(numbers->size()), one_key);
    }
    const Making making = MakingOf(mask);
    if (making.is_other) return one_key;
    if (making.comparisons == 0) {
      // Numbers that were stored as they are, one row or matrix for all heads: a mask as likely as not.
      const bool is_stored = !producers_[mask.index()] && IsFloatingPoint(value.type);
      return is_stored && ElementCount(*value.shape) <= queries * keys ? one_key : 1;
    }
    const auto all = static_cast<double>(keys), before = static_cast<double>(keys - queries);
    double window = all;
    bool is_known = making.comparisons == 1;
    for (const double number : making.numbers) {
      if (number == before) continue;  // where the queries begin
      is_known = true;
      window = std::min({window, number, number < all ? all - number : all});
    }
    if (!is_known) window = 1;
    double seen = 0;
    for (std::int64_t query = 0; query < queries; ++query)
      seen += std::clamp(static_cast<double>(keys - queries + query + 1), 1.0, window);
    return seen / (static_cast<double>(queries) * static_cast<double>(keys));
  }

  static constexpr double kMostWindow = 1e9;
  const ModelGraph& graph_;
  const bool is_body_;
  std::vector<std::optional<std::size_t>> producers_;
};

}  // namespace

NeededWork::NeededWork(const ModelGraph& graph, bool is_body)
    : rows_(graph.layers.size(), 1), keys_(graph.layers.size(), 1) {
  FindRows(graph);
  FindKeys(graph, is_body);
}

void NeededWork::FindRows(const ModelGraph& graph) {
  std::vector<double> needed(graph.values.size(), 0);
  const auto raise = [&](ValueId id, double share) {
    needed[id.index()] = std::max(needed[id.index()], std::min(share, 1.0));
  };
  for (const ValueId output : graph.outputs) raise(output, 1);
  for (const ValueId captured : CapturedValues(graph)) raise(captured, 1);  // bodies see them by name
  const std::vector<std::size_t> first = FindEqualLayers(graph);
  Cuts cuts;
  for (std::size_t i = graph.layers.size(); i-- > 0;) {
    const Layer& layer = graph.layers[i];
    std::vector<double> of_outputs(layer.outputs.size(), 0);
    double elements = 0;
    for (std::size_t output = 0; output < layer.outputs.size(); ++output) {
      if (!layer.outputs[output]) continue;
      of_outputs[output] = needed[layer.outputs[output]->index()];
      elements = std::max(elements, of_outputs[output] * ElementsOf(graph.value(*layer.outputs[output])));
      if (const std::optional<ValueId>& same = graph.layers[first[i]].outputs[output]; first[i] != i && same)
        raise(*same, of_outputs[output]);
    }
    if (first[i] != i) {
      rows_[i] = 0;
      continue;
    }
    const double most = ShareOfResult(graph, layer, of_outputs);
    // Caches that an attention returns are no part of its arithmetic.
    const bool attends = AttentionOf(layer) != nullptr;
    rows_[i] = attends ? of_outputs[0] : most;
    if (most <= 0 || layer.op == "Shape" || layer.op == "Size") continue;
    const bool is_apart = KeepsRowsApart(graph, layer);
    const bool is_in_parts = ConfigOf<MovementConfig>(layer) != nullptr ||
                             ConfigOf<ConvolutionConfig>(layer) != nullptr || ConfigOf<PoolingConfig>(layer) != nullptr;
    for (std::size_t input = 0; input < layer.inputs.size(); ++input) {
      if (!layer.inputs[input]) continue;
      const Value& value = graph.value(*layer.inputs[input]);
      const auto operand = std::ranges::find(layer.operand_inputs, input);
      const bool is_second = ConfigOf<MatMulConfig>(layer) != nullptr && operand != layer.operand_inputs.begin();
      double share = is_apart && !is_second ? most : 1;
      if (layer.status == LayerStatus::kFree && layer.bodies.empty())
        share = input == 0 && ElementsOf(value) > 0 ? elements / ElementsOf(value) : most;
      else if (is_in_parts && operand != layer.operand_inputs.end()) {
        const auto place = static_cast<std::size_t>(operand - layer.operand_inputs.begin());
        share = ShareOfOperand(graph, layer, place, most) *
                std::min(LeastRead(graph, layer, place) / std::max(BytesOf(value), 1.0), 1.0);
      } else if (attends && input == 0 && layer.inputs.size() > 2 && layer.inputs[1] && layer.inputs[2]) {
        share = of_outputs[0];  // queries by themselves
      }
      raise(*layer.inputs[input], input == 0 ? cuts.Add(graph, layer, share) : share);
    }
  }
}

void NeededWork::FindKeys(const ModelGraph& graph, bool is_body) {
  const Masks masks(graph, is_body);
  std::map<std::size_t, double> weights;  // by the value of an attention's probabilities
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const auto input = [&](std::size_t operand) -> std::optional<ValueId> {
      return operand < layer.operand_inputs.size() ? layer.inputs[layer.operand_inputs[operand]] : std::nullopt;
    };
    if (const auto* attention = AttentionOf(layer)) {
      double seen = 1;
      for (std::size_t mask = 3; mask < layer.inputs.size(); ++mask)
        if (layer.inputs[mask])
          seen = std::min(seen, masks.SeenThrough(*layer.inputs[mask], attention->q, attention->kv));
      keys_[i] = seen;
      // Keys and values, new and past, of ONNX's Attention; of others those that are new.
      for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand) {
        const std::size_t place = layer.operand_inputs[operand];
        if (place == 1 || place == 2 || (layer.op == "Attention" && (place == 4 || place == 5)))
          operands_[{i, operand}] = seen;
      }
    } else if (ConfigOf<SoftmaxConfig>(layer) != nullptr && input(0) && layer.outputs[0]) {
      const std::optional<Shape>& shape = graph.value(*input(0)).shape;
      if (!shape || shape->rank() < 2) continue;
      const double seen = masks.SeenThrough(*input(0), shape->dims[shape->rank() - 2], shape->dims.back());
      if (seen >= 1) continue;
      keys_[i] = weights[layer.outputs[0]->index()] = seen;
      // Backwards to the product that makes the scores.
      for (std::optional<ValueId> scores = input(0); scores;) {
        const std::optional<std::size_t> producer = masks.ProducerOf(*scores);
        if (!producer) break;
        const Layer& writer = graph.layers[*producer];
        if (ConfigOf<MatMulConfig>(writer) != nullptr) {
          keys_[*producer] = operands_[{*producer, 1}] = seen;
          break;
        }
        scores.reset();
        if (!KeepsPositions(writer)) break;
        keys_[*producer] = seen;
        for (const std::optional<ValueId>& from : writer.inputs)
          if (from && !scores && graph.value(*from).kind == ValueKind::kIntermediate &&
              IsFloatingPoint(graph.value(*from).type) && graph.value(*from).shape &&
              2 * ElementCount(*graph.value(*from).shape) >= ElementCount(*shape))
            scores = from;
      }
    } else if (const auto found = input(0) ? weights.find(input(0)->index()) : weights.end(); found != weights.end()) {
      // Forwards to the product with the values.
      if (ConfigOf<MatMulConfig>(layer) != nullptr)
        keys_[i] = operands_[{i, 1}] = found->second;
      else if (KeepsPositions(layer) && layer.outputs[0])
        keys_[i] = weights[layer.outputs[0]->index()] = found->second;
    } else if (KeepsPositions(layer) && !layer.outputs.empty() && layer.outputs[0]) {
      // A guard against NaN has the probabilities behind its condition.
      for (const std::optional<ValueId>& from : layer.inputs)
        if (const auto behind = from ? weights.find(from->index()) : weights.end(); behind != weights.end())
          weights[layer.outputs[0]->index()] = behind->second;
    }
  }
}

}  // namespace infimum
