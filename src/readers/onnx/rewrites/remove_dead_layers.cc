#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"

namespace infimum {

RewritePass RemoveDeadLayers(ModelGraph& graph) {
  RewritePass pass{"remove-dead-layers", "layers whose results nobody reads", {}};
  // Backwards from what the graph returns. A folded value needs no layer.
  std::vector<bool> needed(graph.values.size(), false);
  for (const ValueId id : graph.outputs) needed[id.index()] = true;
  std::vector<bool> live(graph.layers.size(), false);
  for (std::size_t i = graph.layers.size(); i-- > 0;) {
    const Layer& layer = graph.layers[i];
    for (const std::optional<ValueId>& output : layer.outputs)
      if (output && needed[output->index()] && graph.value(*output).kind != ValueKind::kWeight) live[i] = true;
    if (!live[i]) continue;
    for (const std::optional<ValueId>& input : layer.inputs)
      if (input) needed[input->index()] = true;
  }
  // Free layers stay to be listed, unless what they look at is gone.
  std::vector<bool> gone(graph.values.size(), false);
  std::vector<Layer*> removed;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    Layer& layer = graph.layers[i];
    if (live[i]) continue;
    bool remove = layer.reason.empty() || !layer.bodies.empty();
    for (const std::optional<ValueId>& input : layer.inputs)
      if (input && gone[input->index()]) remove = true;
    if (!remove) continue;
    for (const std::optional<ValueId>& output : layer.outputs)
      if (output && graph.value(*output).kind != ValueKind::kWeight) gone[output->index()] = true;
    pass.rewrites.push_back(layer.name);
    removed.push_back(&layer);
  }
  if (removed.empty()) return pass;
  GraphEdit edit(graph);
  for (Layer* layer : removed) edit.Remove(*layer);
  edit.Apply();
  return pass;
}

}  // namespace infimum
