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

std::optional<InPlaceUpdate> UpdateBy(const ModelGraph& graph, const Makers& makers, const Layer& layer) {
  const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  const auto* movement = config != nullptr ? std::get_if<MovementConfig>(config) : nullptr;
  if (movement == nullptr || layer.outputs.empty() || !layer.outputs[0]) return std::nullopt;
  const bool is_concat = movement->kind == MovementKind::kConcat;
  if (!is_concat && movement->kind != MovementKind::kScatter) return std::nullopt;
  const double all = BytesOf(graph.value(*layer.outputs[0]));
  std::optional<InPlaceUpdate> update;
  for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand) {
    const std::size_t input = layer.operand_inputs[operand];
    if (input >= layer.inputs.size() || !layer.inputs[input]) continue;
    if (graph.value(BehindViews(graph, makers, *layer.inputs[input])).kind != ValueKind::kGraphInput) continue;
    // A scatter keeps its data but for as many elements as it is given.
    if (!is_concat && operand > 0) break;
    const double bits = BitsPerElement(movement->types.output);
    const double given = is_concat ? BytesOf(graph.value(*layer.inputs[input]))
                                   : all - static_cast<double>(ElementCount(movement->inputs[1])) * bits / 8;
    const double written = std::max(0.0, all - std::max(given, 0.0));
    if (written < (update ? update->written : all)) update = {operand, written};
  }
  return update;
}

}  // namespace

InPlaceUpdates::InPlaceUpdates(const ModelGraph& graph) : of_outputs_(graph.outputs.size()) {
  const Makers makers = MakersOf(graph);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::optional<std::size_t> maker = makers[BehindViews(graph, makers, graph.outputs[i]).index()];
    if (!maker) continue;
    if (const std::optional<InPlaceUpdate> update = UpdateBy(graph, makers, graph.layers[*maker])) {
      by_layer_[*maker] = *update;
      of_outputs_[i] = *maker;
    }
  }
}

const InPlaceUpdate* InPlaceUpdates::Of(std::size_t layer) const {
  const auto found = by_layer_.find(layer);
  return found == by_layer_.end() ? nullptr : &found->second;
}

}  // namespace infimum
