#include <algorithm>

#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"

namespace infimum {
namespace {

using Integers = std::vector<std::int64_t>;

// For each dimension how much zero is added before, then after; nullopt for any other padding.
std::optional<Integers> ZeroPadding(const Layer& layer, const ModelGraph& graph, const GraphEdit& edit) {
  if (layer.op != "Pad" || TextOf(layer, "mode", "constant") != "constant" || InputOf(layer, 3)) return std::nullopt;
  const std::optional<ValueId> input = InputOf(layer, 0);
  if (!input || !graph.value(*input).shape) return std::nullopt;
  if (layer.attributes.contains("value")) {
    const auto* value = std::get_if<double>(&layer.attributes.at("value"));
    if (value == nullptr || *value != 0) return std::nullopt;
  }
  if (InputOf(layer, 2) && edit.NumberOf(InputOf(layer, 2)) != 0.0) return std::nullopt;
  std::optional<Integers> pads = edit.IntegersIn(InputOf(layer, 1));
  if (!pads) pads = IntegersOf(layer, "pads", {});
  const bool negative = std::any_of(pads->begin(), pads->end(), [](std::int64_t pad) { return pad < 0; });
  if (negative || pads->size() != 2 * graph.value(*input).shape->rank()) return std::nullopt;
  return pads;
}

// The padding of the layer itself with that of the spatial dimensions added; nullopt where they do not add.
std::optional<Integers> Sum(const Layer& layer, const Integers& pads) {
  const std::size_t rank = pads.size() / 2;
  if (rank < 3 || TextOf(layer, "auto_pad", "NOTSET") != "NOTSET") return std::nullopt;
  if (pads[0] != 0 || pads[1] != 0 || pads[rank] != 0 || pads[rank + 1] != 0) return std::nullopt;
  const std::size_t spatial = rank - 2;
  Integers sum = IntegersOf(layer, "pads", Integers(2 * spatial, 0));
  if (sum.size() != 2 * spatial) return std::nullopt;
  for (std::size_t i = 0; i < spatial; ++i) {
    if (__builtin_add_overflow(sum[i], pads[2 + i], &sum[i]) ||
        __builtin_add_overflow(sum[spatial + i], pads[rank + 2 + i], &sum[spatial + i]))
      return std::nullopt;
  }
  return sum;
}

// Zeros that a pool counts are zeros of its own only if it counts its own padding as well.
bool CountsPaddingAlike(const Layer& pool) {
  if (IntegerOf(pool, "ceil_mode", 0) != 0) return false;
  if (IntegerOf(pool, "count_include_pad", 0) != 0) return true;
  const Integers own = IntegersOf(pool, "pads", {});
  return std::all_of(own.begin(), own.end(), [](std::int64_t pad) { return pad == 0; });
}

}  // namespace

RewritePass FoldConstantPadding(ModelGraph& graph) {
  RewritePass pass{"fold-constant-padding", "Pad with zeros becomes the padding of the layer that reads it", {}};
  if (!HasOperator(graph, {"Pad"})) return pass;
  GraphEdit edit(graph);
  for (Layer& pad : graph.layers) {
    const std::optional<Integers> pads = ZeroPadding(pad, graph, edit);
    if (!pads) continue;
    Layer* reader = edit.OnlyReaderOf(OutputOf(pad, 0));
    if (reader == nullptr || InputOf(*reader, 0) != OutputOf(pad, 0)) continue;
    const bool pool = reader->op == "AveragePool";
    if (reader->op != "Conv" && !(pool && CountsPaddingAlike(*reader))) continue;
    const std::optional<Integers> sum = Sum(*reader, *pads);
    if (!sum) continue;
    reader->attributes["pads"] = *sum;
    if (pool) reader->attributes["count_include_pad"] = std::int64_t{1};
    GraphEdit::PrependOrigins(*reader, pad);
    pass.rewrites.push_back(pad.name + " into " + reader->name);
    edit.SetInput(*reader, 0, pad.inputs[0]);
    edit.Remove(pad);
  }
  edit.Apply();
  return pass;
}

}  // namespace infimum
