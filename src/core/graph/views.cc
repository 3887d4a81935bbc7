#include "src/core/graph/views.h"

namespace infimum {
namespace {

bool HasElementsOf(const Value& view, const Value& viewed) {
  return view.shape && viewed.shape && view.type == viewed.type &&
         ElementCount(*view.shape) == ElementCount(*viewed.shape);
}

}  // namespace

std::vector<ValueId> RootsOfViews(const ModelGraph& graph) {
  std::vector<ValueId> roots;
  roots.reserve(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) roots.push_back(ValueId(i));
  // Producers come before consumers: what a view looks at has its root already.
  for (const Layer& layer : graph.layers) {
    if (layer.status != LayerStatus::kFree || !layer.bodies.empty()) continue;
    for (const std::optional<ValueId>& output : layer.outputs) {
      if (!output || graph.value(*output).kind != ValueKind::kIntermediate) continue;
      for (const std::optional<ValueId>& input : layer.inputs) {
        if (!input || !HasElementsOf(graph.value(*output), graph.value(*input))) continue;
        roots[output->index()] = roots[input->index()];
        break;
      }
    }
  }
  return roots;
}

}  // namespace infimum
