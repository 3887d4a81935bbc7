#include "analyzer/floor/in_place.h"

#include <algorithm>

#include "analyzer/floor/needed_shares.h"

namespace infimum {
namespace {

// The layer that makes each value.
using Makers = std::vector<std::optional<std::size_t>>;

Makers MakersOf(const ModelGraph& graph) {
  Makers makers(graph.values.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (const std::optional<ValueId>& output : graph.layers[i].outputs)
      if (output) makers[output->index()] = i;
  return makers;
}

// What a value is a view of, views walked through.
ValueId BehindViews(const ModelGraph& graph, const Makers& makers, ValueId value) {
  while (const std::optional<std::size_t> maker = makers[value.index()]) {
    const Layer& layer = graph.layers[*maker];
    if (layer.status != LayerStatus::kFree || layer.inputs.empty() || !layer.inputs[0]) break;
    value = *layer.inputs[0];
  }
  return value;
}

// What a Concat or a scatter leaves of one of its operands.
std::vector<InPlaceResult> KeptOperands(const ModelGraph& graph, const Layer& layer) {
  const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  const auto* movement = config != nullptr ? std::get_if<MovementConfig>(config) : nullptr;
  if (movement == nullptr || layer.outputs.empty() || !layer.outputs[0]) return layer.in_place;
  const bool is_concat = movement->kind == MovementKind::kConcat;
  if (!is_concat && movement->kind != MovementKind::kScatter) return layer.in_place;
  const double all = BytesOf(graph.value(*layer.outputs[0]));
  std::vector<InPlaceResult> kept;
  for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand) {
    const std::size_t input = layer.operand_inputs[operand];
    if (input >= layer.inputs.size() || !layer.inputs[input]) continue;
    // A scatter keeps its data but for as many elements as it is given.
    if (!is_concat && operand > 0) break;
    const double bits = BitsPerElement(movement->types.output);
    const double given = is_concat ? BytesOf(graph.value(*layer.inputs[input]))
                                   : all - static_cast<double>(ElementCount(movement->inputs[1])) * bits / 8;
    kept.push_back({0, input, Bytes{static_cast<std::int64_t>(std::max(0.0, all - std::max(given, 0.0)))}});
  }
  return kept;
}

}  // namespace

InPlaceUpdates::InPlaceUpdates(const ModelGraph& graph) : of_outputs_(graph.outputs.size()) {
  const Makers makers = MakersOf(graph);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId made = BehindViews(graph, makers, graph.outputs[i]);
    const std::optional<std::size_t> maker = makers[made.index()];
    if (!maker) continue;
    const Layer& layer = graph.layers[*maker];
    const double all = BytesOf(graph.value(graph.outputs[i]));
    double least = all;
    for (const InPlaceResult& result : KeptOperands(graph, layer)) {
      if (result.output >= layer.outputs.size() || result.input >= layer.inputs.size() || !layer.inputs[result.input])
        continue;
      const ValueId kept = BehindViews(graph, makers, *layer.inputs[result.input]);
      const double written = static_cast<double>(result.written.value);
      if (layer.outputs[result.output] != made || graph.value(kept).kind != ValueKind::kGraphInput || written >= least)
        continue;
      least = written;
      of_outputs_[i] = written;
      const auto operand = std::ranges::find(layer.operand_inputs, result.input);
      if (layer.outputs.size() == 1) kept_[*maker] = static_cast<std::size_t>(operand - layer.operand_inputs.begin());
    }
    unwritten_[*maker] += all - least;
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
