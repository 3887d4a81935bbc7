#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"

namespace infimum {
namespace {

// Dropout drops nothing at inference; where training is asked for, or the mask is read, it stays.
bool PassesItsInputOn(const Layer& layer, std::int64_t opset, GraphEdit& edit) {
  if (layer.op == "Identity") return true;
  if (layer.op != "Dropout") return false;
  if (const std::optional<ValueId> mask = OutputOf(layer, 1); mask && !edit.IsUnread(*mask)) return false;
  if (opset < 7) return IntegerOf(layer, "is_test", 0) != 0;
  return !InputOf(layer, 2) || edit.NumberOf(InputOf(layer, 2)) == 0.0;
}

}  // namespace

RewritePass DropIdentity(ModelGraph& graph) {
  RewritePass pass{"drop-identity", "readers of Identity and of Dropout at inference read what those read", {}};
  if (!HasOperator(graph, {"Identity", "Dropout"})) return pass;
  GraphEdit edit(graph);
  for (Layer& layer : graph.layers) {
    if (!layer.reason.empty() || !PassesItsInputOn(layer, graph.opset, edit)) continue;
    const std::optional<ValueId> from = InputOf(layer, 0);
    const std::optional<ValueId> to = OutputOf(layer, 0);
    if (!from || !to) continue;
    if (!edit.RedirectReaders(*to, *from)) continue;
    layer.status = LayerStatus::kFree;
    layer.reason = "returns its input";
    pass.rewrites.push_back(layer.name);
  }
  return pass;
}

}  // namespace infimum
