#include <algorithm>
#include <map>
#include <set>
#include <span>
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
std::optional<FoldedConstants> ConstantsOfNormalization(const Layer& layer, const GraphEdit& edit) {
  if (layer.op != "BatchNormalization" || IntegerOf(layer, "training_mode", 0) != 0) return std::nullopt;
  for (std::size_t i = 1; i < 5; ++i)
    if (!edit.IsConstant(InputOf(layer, i))) return std::nullopt;
  for (std::size_t i = 1; i < layer.outputs.size(); ++i)
    if (layer.outputs[i]) return std::nullopt;
  return FoldedConstants{layer.inputs[1], layer.inputs[2], layer.inputs[3], layer.inputs[4],
                         NumberOf(layer, "epsilon", 1e-5)};
}

// Whether the constant has one element for each of several channels, the second dimension of `whole`, by the rules of
// ONNX since opset 7. A single number for all of them may be a part of an activation, which is one layer then.
bool IsByChannel(const ModelGraph& graph, ValueId constant, const Shape& whole) {
  const std::optional<Shape>& shape = graph.value(constant).shape;
  if (!shape || whole.rank() < 2 || whole.dims[1] < 2 || shape->rank() > whole.rank()) return false;
  const std::size_t left_out = whole.rank() - shape->rank();
  for (std::size_t i = 0; i < shape->rank(); ++i)
    if (shape->dims[i] != (i + left_out == 1 ? whole.dims[1] : 1)) return false;
  return left_out < 2;
}

// A Mul by, or an Add of, a constant for each channel, without a change of shape or type; `input` is then the other
// operand's position.
std::optional<FoldedConstants> ConstantsOfArithmetic(const ModelGraph& graph, const Layer& layer, const GraphEdit& edit,
                                                     std::size_t& input) {
  if ((layer.op != "Mul" && layer.op != "Add") || layer.inputs.size() != 2 || graph.opset < 7) return std::nullopt;
  input = edit.IsConstant(InputOf(layer, 0)) ? 1 : 0;
  const std::optional<ValueId> constant = InputOf(layer, 1 - input), from = InputOf(layer, input),
                               to = OutputOf(layer, 0);
  if (!constant || !edit.IsConstant(constant) || !from || !to) return std::nullopt;
  const Value &before = graph.value(*from), &after = graph.value(*to);
  if (!IsFloatingPoint(after.type) || !before.shape || before.shape != after.shape) return std::nullopt;
  if (!IsByChannel(graph, *constant, *after.shape)) return std::nullopt;
  FoldedConstants folded;
  (layer.op == "Mul" ? folded.scale : folded.bias) = constant;
  return folded;
}

// Whether the layer's weights and bias can become what they are with those constants.
bool TakesConstants(const ModelGraph& graph, const Layer& layer, const FoldedConstants& folded, GraphEdit& edit) {
  const bool is_product = layer.op == "Conv" || layer.op == "ConvTranspose" || layer.op == "Gemm";
  if (!is_product && (layer.op != "BatchNormalization" || !ConstantsOfNormalization(layer, edit))) return false;
  const std::optional<ValueId> weights = InputOf(layer, 1), bias = InputOf(layer, 2), result = OutputOf(layer, 0);
  if (!result || !edit.IsConstant(weights) || (bias && !edit.IsConstant(bias))) return false;
  // What becomes of weights and bias must become of no other operand.
  if (std::ranges::count(layer.inputs, weights) != 1 || (bias && std::ranges::count(layer.inputs, bias) != 1))
    return false;
  // Its bias is scaled when it is used, and what would be added to it too.
  if (layer.op == "Gemm" && NumberOf(layer, "beta", 1) != 1) return false;
  if (folded.variance) return true;
  // Weights that are stored as integers keep the scale that a later rewrite takes in with them. Channels of groups are
  // apart in the weights, where a replay cannot multiply them.
  const Layer* const made_by = edit.ProducerOf(weights);
  const bool is_stored = made_by == nullptr || (made_by->op != "DequantizeLinear" && made_by->op != "Cast");
  if (!is_stored || (layer.op == "ConvTranspose" && IntegerOf(layer, "group", 1) != 1)) return false;
  // A Gemm's bias may be one number for all channels, or for each row.
  const std::optional<Shape>& shape = graph.value(*result).shape;
  const std::optional<Shape>* const of_bias = bias ? &graph.value(*bias).shape : nullptr;
  return shape && shape->rank() > 1 &&
         (of_bias == nullptr || (*of_bias && (*of_bias)->rank() > 0 && (*of_bias)->dims.back() == shape->dims[1] &&
                                 ElementCount(**of_bias) == shape->dims[1]));
}

}  // namespace

RewritePass FoldChannelConstants(ModelGraph& graph) {
  RewritePass pass{"fold-channel-constants",
                   "BatchNormalization, Mul and Add with constants for each channel become weights and bias of the "
                   "layer before them",
                   {}};
  if (!HasOperator(graph, {"BatchNormalization", "Mul", "Add"})) return pass;
  GraphEdit edit(graph);
  for (Layer& layer : graph.layers) {
    std::size_t input = 0;
    std::optional<FoldedConstants> folded = ConstantsOfNormalization(layer, edit);
    if (!folded) folded = ConstantsOfArithmetic(graph, layer, edit, input);
    if (!folded) continue;
    Layer* product = edit.ProducerOf(InputOf(layer, input));
    if (product == nullptr || !TakesConstants(graph, *product, *folded, edit) ||
        edit.OnlyReaderOf(product->outputs[0]) == nullptr)
      continue;
    if (folded->bias && !InputOf(*product, 2)) {
      const std::optional<Shape>& result = graph.value(*product->outputs[0]).shape;
      const std::optional<Shape>& bias = graph.value(*folded->bias).shape;
      if (!bias) continue;
      const Shape shape = folded->variance ? *bias : Shape{{result->dims[1]}};
      edit.SetInput(*product, 2,
                    edit.AddWeight(product->name + "_folded_bias", graph.value(*product->inputs[1]).type, shape));
      product->bias_is_folded = true;
    }
    product->folded.push_back(*folded);
    pass.rewrites.push_back(layer.name + " into " + product->name);
    GraphEdit::AppendOrigins(*product, layer);
    const ValueId result = *layer.outputs[0];
    edit.Remove(layer);
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

namespace {

// Whether one of the operands is made of what `maker` writes.
bool DependsOn(GraphEdit& edit, std::span<const std::optional<ValueId>> operands, const Layer& maker) {
  std::vector<const Layer*> left;
  std::set<const Layer*> seen;
  const auto add = [&](const std::optional<ValueId>& operand) {
    const Layer* const producer = edit.ProducerOf(operand);
    // Layers are in order: what stands before the maker does not read it.
    if (producer != nullptr && producer >= &maker && seen.insert(producer).second) left.push_back(producer);
  };
  std::ranges::for_each(operands, add);
  while (!left.empty()) {
    const Layer* const layer = left.back();
    left.pop_back();
    if (layer == &maker) return true;
    std::ranges::for_each(layer->inputs, add);
  }
  return false;
}

}  // namespace

// Features that layer after layer concatenates anew (DenseNet, as PyTorch exports it): each result begins with the one
// before it, which is there already where a further part was made of it.
RewritePass NestConcatenations(ModelGraph& graph) {
  RewritePass pass{
      "nest-concatenations",
      "Concat that begins with all operands of another one, and ends in what was made of it, reads its result",
      {}};
  if (!HasOperator(graph, {"Concat"})) return pass;
  GraphEdit edit(graph);
  struct Known {
    std::int64_t axis = 0;
    std::vector<std::optional<ValueId>> inputs;  // as they were
    const Layer* layer = nullptr;
  };
  std::map<ValueId, std::vector<Known>> by_first;
  for (Layer& layer : graph.layers) {
    const std::optional<ValueId> first = InputOf(layer, 0), result = OutputOf(layer, 0);
    if (layer.op != "Concat" || layer.inputs.size() < 2 || !first || !result || !graph.value(*result).shape) continue;
    const auto rank = static_cast<std::int64_t>(graph.value(*result).shape->rank());
    const std::int64_t axis = IntegerOf(layer, "axis", 0);
    Known known{axis < 0 ? axis + rank : axis, layer.inputs, &layer};
    const Known* inner = nullptr;
    for (const Known& other : by_first[*first]) {
      const bool is_prefix = other.inputs.size() < known.inputs.size() &&
                             std::equal(other.inputs.begin(), other.inputs.end(), known.inputs.begin());
      if (other.axis == known.axis && is_prefix && (inner == nullptr || other.inputs.size() > inner->inputs.size()) &&
          DependsOn(edit, std::span(known.inputs).subspan(other.inputs.size()), *other.layer))
        inner = &other;
    }
    if (inner != nullptr) {
      std::vector<std::optional<ValueId>> inputs{inner->layer->outputs[0]};
      inputs.insert(inputs.end(), known.inputs.begin() + static_cast<std::ptrdiff_t>(inner->inputs.size()),
                    known.inputs.end());
      edit.SetInputs(layer, std::move(inputs));
      pass.rewrites.push_back(layer.name + " on " + inner->layer->name);
    }
    by_first[*first].push_back(std::move(known));
  }
  return pass;
}

void ApplyRewrites(ModelGraph& graph) {
  for (const auto rewrite : {DropIdentity, FoldConstantPadding, FoldChannelConstants, FuseQuantized, KeepStoredWeights,
                             RemoveDeadLayers, NestConcatenations}) {
    RewritePass pass = rewrite(graph);
    if (!pass.rewrites.empty()) graph.passes.push_back(std::move(pass));
  }
  DropUnusedValues(graph);
}

}  // namespace infimum
