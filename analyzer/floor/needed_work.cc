#include "analyzer/floor/needed_work.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/floor/needed_shares.h"
#include "infimum/base/text.h"
#include "src/core/graph/captured_values.h"

namespace infimum {
namespace {

// What makes each row of its result of one row, so that rows which nobody reads need no work.
bool KeepsRowsApart(const ModelGraph& graph, const Layer& layer) {
  if (layer.status == LayerStatus::kFree) return layer.bodies.empty();
  if (ConfigOf<PointwiseConfig>(layer) != nullptr || ConfigOf<NormalizationConfig>(layer) != nullptr) return true;
  return ConfigOf<MatMulConfig>(layer) != nullptr && layer.operand_inputs.size() > 1 &&
         layer.inputs[layer.operand_inputs[1]] &&
         graph.value(*layer.inputs[layer.operand_inputs[1]]).kind == ValueKind::kWeight;
}

// Of an element-wise layer, a movement or a view: what a mask goes through unchanged in meaning.
bool KeepsPositions(const Layer& layer) {
  if (!layer.bodies.empty()) return false;
  if (layer.status == LayerStatus::kFree || ConfigOf<PointwiseConfig>(layer) != nullptr) return true;
  const auto* movement = ConfigOf<MovementConfig>(layer);
  return movement != nullptr && (movement->kind == MovementKind::kExpand || movement->kind == MovementKind::kCopy ||
                                 movement->kind == MovementKind::kTranspose);
}

class Masks {
 public:
  explicit Masks(const ModelGraph& graph) : graph_(graph), producers_(graph.values.size()) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i)
      for (const std::optional<ValueId>& output : graph.layers[i].outputs)
        if (output) producers_[output->index()] = i;
  }

  // The least share of `queries` x `keys` scores that is left of what `from` is made of.
  double SeenThrough(ValueId from, std::int64_t queries, std::int64_t keys) const {
    double seen = 1;
    WalkBack(from, [&](ValueId id, const Layer* producer) {
      const Value& value = graph_.value(id);
      if (value.kind != ValueKind::kWeight) return producer != nullptr && KeepsPositions(*producer);
      if (value.shape && value.shape->rank() > 0 && value.shape->dims.back() == keys && keys > 1)
        seen = std::min(seen, SeenBeside(id, queries, keys));
      return false;
    });
    return seen;
  }

  std::optional<std::size_t> ProducerOf(ValueId value) const { return producers_[value.index()]; }

 private:
  static constexpr std::size_t kMostVisited = 4096;
  static constexpr std::string_view kComparisons[] = {"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Trilu"};
  // That say whether, and not where.
  static constexpr std::string_view kOtherTests[] = {"Equal", "Mod", "BitShift", "BitwiseAnd", "Xor", "IsInf", "IsNaN"};

  // From a value to all that it is made of, as far as `goes_on(value, its producer)` holds.
  void WalkBack(ValueId from, const std::function<bool(ValueId, const Layer*)>& goes_on) const {
    std::vector<ValueId> open{from};
    std::set<std::size_t> visited;
    while (!open.empty() && visited.size() < kMostVisited) {
      const ValueId id = open.back();
      open.pop_back();
      if (!visited.insert(id.index()).second) continue;
      const std::optional<std::size_t> producer = producers_[id.index()];
      const Layer* const layer = producer ? &graph_.layers[*producer] : nullptr;
      if (!goes_on(id, layer) || layer == nullptr) continue;
      for (const std::optional<ValueId>& input : layer->inputs)
        if (input) open.push_back(*input);
    }
  }

  // How an unchanging mask was made.
  struct Making {
    int comparisons = 0;
    bool is_other = false;         // by tests of another kind, or stored as it is
    std::optional<double> window;  // the least number that may be a window's length
  };

  Making MakingOf(ValueId mask) const {
    Making making;
    WalkBack(mask, [&](ValueId id, const Layer* producer) {
      const Value& value = graph_.value(id);
      const bool is_one = value.shape && ElementCount(*value.shape) == 1;
      if (is_one && value.constant) {
        const std::optional<std::vector<double>> number = NumbersOf(&*value.constant);
        if (number && std::abs(number->front()) > 1 && std::abs(number->front()) < kMostWindow)
          making.window = std::min(making.window.value_or(kMostWindow), std::abs(number->front()));
      }
      // A stored row or matrix of Booleans; numbers may be positions.
      if (producer == nullptr) making.is_other |= !is_one && value.type == DataType::kBool;
      if (producer == nullptr) return false;
      making.comparisons += IsOneOf(producer->op, kComparisons) ? 1 : 0;
      making.is_other |= IsOneOf(producer->op, kOtherTests);
      return true;
    });
    return making;
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
    double window = static_cast<double>(keys);
    if (making.comparisons > 1) window = making.window.value_or(1);
    double seen = 0;
    for (std::int64_t query = 0; query < queries; ++query)
      seen += std::clamp(static_cast<double>(keys - queries + query + 1), 1.0, window);
    return seen / (static_cast<double>(queries) * static_cast<double>(keys));
  }

  static constexpr double kMostWindow = 1e9;
  const ModelGraph& graph_;
  std::vector<std::optional<std::size_t>> producers_;
};

}  // namespace

NeededWork::NeededWork(const ModelGraph& graph) : rows_(graph.layers.size(), 1), keys_(graph.layers.size(), 1) {
  FindRows(graph);
  FindKeys(graph);
}

void NeededWork::FindRows(const ModelGraph& graph) {
  std::vector<double> needed(graph.values.size(), 0);
  const auto raise = [&](ValueId id, double share) {
    needed[id.index()] = std::max(needed[id.index()], std::min(share, 1.0));
  };
  for (const ValueId output : graph.outputs) raise(output, 1);
  for (const ValueId captured : CapturedValues(graph)) raise(captured, 1);  // bodies see them by name
  for (std::size_t i = graph.layers.size(); i-- > 0;) {
    const Layer& layer = graph.layers[i];
    double most = 0;
    for (const std::optional<ValueId>& output : layer.outputs)
      if (output) most = std::max(most, needed[output->index()]);
    rows_[i] = most;
    if (most <= 0 || layer.op == "Shape" || layer.op == "Size") continue;
    const bool is_apart = KeepsRowsApart(graph, layer);
    const auto* movement = ConfigOf<MovementConfig>(layer);
    const bool is_part =
        movement != nullptr && (movement->kind == MovementKind::kSlice || movement->kind == MovementKind::kGather);
    for (std::size_t input = 0; input < layer.inputs.size(); ++input) {
      if (!layer.inputs[input]) continue;
      double share = is_apart ? most : 1;
      if (is_part && input == 0)
        share = ShareOfOperand(graph, layer, 0, most) *
                std::min(LeastRead(graph, layer, 0) / std::max(BytesOf(graph.value(*layer.inputs[0])), 1.0), 1.0);
      raise(*layer.inputs[input], share);
    }
  }
}

void NeededWork::FindKeys(const ModelGraph& graph) {
  const Masks masks(graph);
  std::map<std::size_t, double> weights;  // by the value of an attention's probabilities
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const auto input = [&](std::size_t operand) -> std::optional<ValueId> {
      return operand < layer.operand_inputs.size() ? layer.inputs[layer.operand_inputs[operand]] : std::nullopt;
    };
    if (const auto* attention = ConfigOf<AttentionConfig>(layer)) {
      double seen = 1;
      for (std::size_t mask = 3; mask < layer.operand_inputs.size(); ++mask)
        if (input(mask)) seen = std::min(seen, masks.SeenThrough(*input(mask), attention->q, attention->kv));
      keys_[i] = operands_[{i, 1}] = operands_[{i, 2}] = seen;
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
        for (const std::optional<ValueId>& from : writer.inputs)
          if (from && !scores && graph.value(*from).kind == ValueKind::kIntermediate &&
              IsFloatingPoint(graph.value(*from).type) && graph.value(*from).shape &&
              ElementCount(*graph.value(*from).shape) >= ElementCount(*shape))
            scores = from;
      }
    } else if (const auto found = input(0) ? weights.find(input(0)->index()) : weights.end(); found != weights.end()) {
      // Forwards to the product with the values.
      if (ConfigOf<MatMulConfig>(layer) != nullptr)
        keys_[i] = operands_[{i, 1}] = found->second;
      else if (KeepsPositions(layer) && layer.outputs[0])
        weights[layer.outputs[0]->index()] = found->second;
    } else if (KeepsPositions(layer) && !layer.outputs.empty() && layer.outputs[0]) {
      // A guard against NaN has the probabilities behind its condition.
      for (const std::optional<ValueId>& from : layer.inputs)
        if (const auto behind = from ? weights.find(from->index()) : weights.end(); behind != weights.end())
          weights[layer.outputs[0]->index()] = behind->second;
    }
  }
}

}  // namespace infimum
