#include <algorithm>
#include <utility>
#include <vector>

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
  RewritePass pass{"drop-identity", "Identity, and Dropout at inference, are bypassed", {}};
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

namespace {

// Exporters name all parts of a Split, also those that nobody reads. Where one part is read, it is a Slice.
void SliceSplits(ModelGraph& graph, RewritePass& pass) {
  std::vector<bool> read(graph.values.size(), false);
  for (const ValueId id : graph.outputs) read[id.index()] = true;
  for (const Layer& layer : graph.layers)
    for (const std::optional<ValueId>& input : layer.inputs)
      if (input) read[input->index()] = true;
  for (Layer& layer : graph.layers) {
    const std::optional<ValueId> input = InputOf(layer, 0);
    if (layer.op != "Split" || !layer.reason.empty() || layer.outputs.size() < 2 || !input) continue;
    const std::optional<Shape>& whole = graph.value(*input).shape;
    if (!whole) continue;
    const auto rank = static_cast<std::int64_t>(whole->rank());
    std::int64_t axis = IntegerOf(layer, "axis", 0);
    if (axis < 0) axis += rank;
    std::int64_t start = 0, before = 0, parts_read = 0;
    std::optional<ValueId> part;
    bool known = axis >= 0 && axis < rank;
    for (const std::optional<ValueId>& output : layer.outputs) {
      const std::optional<Shape>* shape = output ? &graph.value(*output).shape : nullptr;
      known = known && shape != nullptr && *shape && (*shape)->rank() == whole->rank();
      if (!known) break;
      if (read[output->index()]) {
        ++parts_read;
        part = output;
        start = before;
      }
      before += (*shape)->dims[static_cast<std::size_t>(axis)];
    }
    if (!known || parts_read != 1) continue;
    layer.op = "Slice";
    layer.inputs.resize(1);
    layer.outputs = {part};
    layer.attributes = {{"axes", std::vector{axis}}, {"starts", std::vector{start}}};
    pass.rewrites.push_back(layer.name + " to the slice that is read");
  }
}

}  // namespace

RewritePass RemoveDeadLayers(ModelGraph& graph) {
  RewritePass pass{"remove-dead-layers", "layers and parts of a Split that are not read", {}};
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
  if (!removed.empty()) {
    GraphEdit edit(graph);
    for (Layer* layer : removed) edit.Remove(*layer);
    edit.Apply();
  }
  SliceSplits(graph, pass);
  return pass;
}

namespace {

// With constant parameters, y = a x + b for each channel: a goes into the weights, b into the bias.
bool IsConstantNormalization(const Layer& layer, const GraphEdit& edit) {
  if (layer.op != "BatchNormalization" || IntegerOf(layer, "training_mode", 0) != 0) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (!edit.IsConstant(InputOf(layer, i))) return false;
  for (std::size_t i = 1; i < layer.outputs.size(); ++i)
    if (layer.outputs[i]) return false;
  return true;
}

bool TakesScaleAndBias(const Layer& layer, const GraphEdit& edit) {
  if (layer.op != "Conv" && layer.op != "ConvTranspose" && layer.op != "Gemm") return false;
  return edit.IsConstant(InputOf(layer, 1)) && (!InputOf(layer, 2) || edit.IsConstant(InputOf(layer, 2)));
}

}  // namespace

RewritePass FoldBatchNormalization(ModelGraph& graph) {
  RewritePass pass{"fold-batch-normalization",
                   "BatchNormalization with constant parameters becomes weights and bias of the layer before it",
                   {}};
  if (!HasOperator(graph, {"BatchNormalization"})) return pass;
  GraphEdit edit(graph);
  for (Layer& normalization : graph.layers) {
    if (!IsConstantNormalization(normalization, edit)) continue;
    Layer* product = edit.ProducerOf(InputOf(normalization, 0));
    if (product == nullptr || !TakesScaleAndBias(*product, edit) || edit.OnlyReaderOf(product->outputs[0]) == nullptr)
      continue;
    if (!InputOf(*product, 2)) {
      const Value& scale = graph.value(*normalization.inputs[2]);
      const DataType type = graph.value(*product->inputs[1]).type;
      if (!scale.shape) continue;
      const Shape shape = *scale.shape;
      edit.SetInput(*product, 2, edit.AddWeight(product->name + "_folded_bias", type, shape));
      product->bias_is_folded = true;
    }
    product->folded.push_back({*normalization.inputs[1], *normalization.inputs[2], *normalization.inputs[3],
                               *normalization.inputs[4], NumberOf(normalization, "epsilon", 1e-5)});
    pass.rewrites.push_back(normalization.name + " into " + product->name);
    GraphEdit::AppendOrigins(*product, normalization);
    const ValueId result = *normalization.outputs[0];
    edit.Remove(normalization);
    edit.SetOutput(*product, 0, result);
  }
  edit.Apply();
  return pass;
}

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

void ApplyRewrites(ModelGraph& graph) {
  for (const auto rewrite : {DropIdentity, FoldConstantPadding, FoldBatchNormalization, FuseQuantized,
                             KeepStoredWeights, RemoveDeadLayers}) {
    RewritePass pass = rewrite(graph);
    if (!pass.rewrites.empty()) graph.passes.push_back(std::move(pass));
  }
  DropUnusedValues(graph);
}

}  // namespace infimum
