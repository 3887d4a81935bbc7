#include "analyzer/order_alignment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <utility>

namespace infimum {
namespace {

struct Word {
  std::string_view part;  // of the operator's name in lower case
  OperatorKind kind;
};

// The first that is found decides: "avgpool" before "pool", "softmax" before "max".
constexpr std::array kWords = {
    Word{"dequantize", OperatorKind::kDequantization},
    Word{"quantizelinear", OperatorKind::kQuantization},
    Word{"attention", OperatorKind::kAttention},
    Word{"softmax", OperatorKind::kSoftmax},
    Word{"conv", OperatorKind::kConvolution},
    Word{"normaliz", OperatorKind::kNormalization},
    Word{"layernorm", OperatorKind::kNormalization},
    Word{"batchnorm", OperatorKind::kNormalization},
    Word{"layer_norm", OperatorKind::kNormalization},
    Word{"batch_norm", OperatorKind::kNormalization},
    Word{"lrn", OperatorKind::kNormalization},
    Word{"pool", OperatorKind::kPooling},
    Word{"gemm", OperatorKind::kProduct},
    Word{"matmul", OperatorKind::kProduct},
    Word{"matrixmultiply", OperatorKind::kProduct},
    Word{"linear", OperatorKind::kProduct},
    Word{"addmm", OperatorKind::kProduct},
    Word{"lstm", OperatorKind::kRecurrent},
    Word{"gru", OperatorKind::kRecurrent},
    Word{"rnn", OperatorKind::kRecurrent},
    Word{"reduce", OperatorKind::kReduction},
    Word{"argmax", OperatorKind::kReduction},
    Word{"resize", OperatorKind::kResample},
    Word{"upsample", OperatorKind::kResample},
    Word{"concat", OperatorKind::kConcatenation},
    Word{"relu", OperatorKind::kElementwise},
    Word{"sigmoid", OperatorKind::kElementwise},
    Word{"swish", OperatorKind::kElementwise},
    Word{"silu", OperatorKind::kElementwise},
    Word{"gelu", OperatorKind::kElementwise},
    Word{"tanh", OperatorKind::kElementwise},
    Word{"clip", OperatorKind::kElementwise},
    Word{"pointwise", OperatorKind::kElementwise},
    Word{"elementwise", OperatorKind::kElementwise},
};
// Too short to be looked for within a name.
constexpr std::array kNames = {
    Word{"add", OperatorKind::kElementwise}, Word{"sub", OperatorKind::kElementwise},
    Word{"mul", OperatorKind::kElementwise}, Word{"div", OperatorKind::kElementwise},
    Word{"sum", OperatorKind::kElementwise}, Word{"sqrt", OperatorKind::kElementwise},
    Word{"pow", OperatorKind::kElementwise}, Word{"erf", OperatorKind::kElementwise},
    Word{"exp", OperatorKind::kElementwise}, Word{"max", OperatorKind::kElementwise},
    Word{"pad", OperatorKind::kPadding},     Word{"padding", OperatorKind::kPadding},
};

using Dims = std::vector<std::int64_t>;

// What is known of a layer's shapes; empty where nothing is.
struct Shapes {
  std::vector<Dims> inputs;
  Dims output;
};

Shapes ShapesOf(const ProfiledLayer& layer) {
  Shapes shapes;
  for (const ProfiledTensor& tensor : layer.input_tensors) shapes.inputs.push_back(tensor.dims);
  if (!layer.output_tensors.empty()) shapes.output = layer.output_tensors.front().dims;
  return shapes;
}

Shapes ShapesOf(const ModelGraph& graph, const Layer& layer) {
  Shapes shapes;
  for (const std::optional<ValueId>& input : layer.inputs) {
    if (!input) continue;
    const std::optional<Shape>& shape = graph.value(*input).shape;
    shapes.inputs.push_back(shape ? shape->dims : Dims{});
  }
  if (!layer.outputs.empty() && layer.outputs.front())
    if (const std::optional<Shape>& shape = graph.value(*layer.outputs.front()).shape) shapes.output = shape->dims;
  return shapes;
}

std::int64_t ElementsOf(const Dims& dims) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims) elements *= std::max<std::int64_t>(dim, 1);
  return elements;
}

// Whether one of its pixels is all that a tensor of images has.
bool IsOnePixel(const Dims& dims) {
  return dims.size() > 2 && std::all_of(dims.begin() + 2, dims.end(), [](std::int64_t dim) { return dim == 1; });
}

// Engines and exporters call one thing by several names: a convolution of a single pixel is a product, a pooling over
// everything is a mean.
OperatorKind PlainKind(OperatorKind kind, const Shapes& shapes) {
  if (kind == OperatorKind::kConvolution && !shapes.inputs.empty() && IsOnePixel(shapes.inputs.front()))
    return OperatorKind::kProduct;
  return kind == OperatorKind::kReduction ? OperatorKind::kPooling : kind;
}

bool HasEightBits(std::string_view dtype) { return dtype == "s8" || dtype == "u8" || dtype.starts_with("f8"); }

// TensorRT quantizes by a reformat.
OperatorKind KindOfLayer(const ProfiledLayer& layer, const Shapes& shapes) {
  if (layer.op == "Reformat" && layer.input_tensors.size() == 1 && layer.output_tensors.size() == 1) {
    const bool from_8_bits = HasEightBits(layer.input_tensors.front().dtype);
    const bool to_8_bits = HasEightBits(layer.output_tensors.front().dtype);
    if (from_8_bits != to_8_bits) return to_8_bits ? OperatorKind::kQuantization : OperatorKind::kDequantization;
  }
  return PlainKind(KindOf(layer.op), shapes);
}

// What engines do not change when they fuse and lay out anew: the first input, for convolutions and products the
// weights' size, and the output's size.
std::string SignatureOf(OperatorKind kind, const Shapes& shapes, bool with_weights) {
  std::string text = std::to_string(static_cast<int>(kind));
  const auto add = [&text](std::int64_t number) { text += ' ' + std::to_string(number); };
  add(shapes.inputs.empty() ? -1 : ElementsOf(shapes.inputs.front()));
  if (with_weights) add(shapes.inputs.size() < 2 ? -1 : ElementsOf(shapes.inputs[1]));
  add(ElementsOf(shapes.output));
  return text;
}

class Matcher {
 public:
  Matcher(const ModelGraph& graph, const RunProfile& run, const std::vector<std::optional<std::size_t>>& known,
          const std::vector<bool>& taken, const std::vector<bool>& open)
      : graph_(graph), run_(run), known_(known), taken_(taken), open_(open), found_(run.layers.size()) {
    for (const Layer& layer : graph.layers) {
      layer_shapes_.push_back(ShapesOf(graph, layer));
      layer_kinds_.push_back(layer.status == LayerStatus::kFree ? OperatorKind::kOther
                                                                : PlainKind(KindOf(layer.op), layer_shapes_.back()));
    }
    for (const ProfiledLayer& layer : run.layers) {
      engine_shapes_.push_back(ShapesOf(layer));
      engine_kinds_.push_back(KindOfLayer(layer, engine_shapes_.back()));
    }
  }

  std::vector<std::optional<std::size_t>> Match() {
    MatchEqualCounts(true);
    MatchEqualCounts(false);
    MatchBetweenNeighbours();
    return std::move(found_);
  }

 private:
  bool IsOpen(std::size_t e) const { return open_[e] && !found_[e] && engine_kinds_[e] != OperatorKind::kOther; }
  bool HasShapes(std::size_t e) const { return !engine_shapes_[e].output.empty() && !engine_shapes_[e].inputs.empty(); }

  void Take(std::size_t e, std::size_t layer) {
    found_[e] = layer;
    taken_[layer] = true;
  }

  void MatchEqualCounts(bool with_weights) {
    std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> groups;
    for (std::size_t e = 0; e < run_.layers.size(); ++e)
      if (IsOpen(e) && HasShapes(e))
        groups[SignatureOf(engine_kinds_[e], engine_shapes_[e], with_weights)].first.push_back(e);
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      if (!taken_[i] && layer_kinds_[i] != OperatorKind::kOther)
        groups[SignatureOf(layer_kinds_[i], layer_shapes_[i], with_weights)].second.push_back(i);
    for (const auto& [signature, group] : groups) {
      const auto& [engine, model] = group;
      if (engine.size() != model.size()) continue;
      for (std::size_t k = 0; k < engine.size(); ++k) Take(engine[k], model[k]);
    }
  }

  bool MayBe(std::size_t e, std::size_t layer) const {
    if (engine_kinds_[e] != layer_kinds_[layer]) return false;
    const Dims& ours = layer_shapes_[layer].output;
    const Dims& theirs = engine_shapes_[e].output;
    // An element-wise layer of the engine may be a chain of the model's, whose last one it then is; it has the shape.
    return ours.empty() || theirs.empty() || ElementsOf(ours) == ElementsOf(theirs);
  }

  // The layer of the model that engine layer e is, by whichever way it was found.
  std::optional<std::size_t> LayerOf(std::size_t e) const { return known_[e] ? known_[e] : found_[e]; }

  void MatchBetweenNeighbours() {
    // The first layer that a later engine layer is known to be.
    std::vector<std::size_t> before(run_.layers.size() + 1, graph_.layers.size());
    for (std::size_t e = run_.layers.size(); e-- > 0;)
      before[e] = LayerOf(e) ? std::min(before[e + 1], *LayerOf(e)) : before[e + 1];
    std::size_t from = 0;  // behind the last one that is known
    for (std::size_t e = 0; e < run_.layers.size(); ++e) {
      if (IsOpen(e)) {
        for (std::size_t i = from; i < std::max(before[e], from); ++i) {
          if (taken_[i] || !MayBe(e, i)) continue;
          Take(e, i);
          break;
        }
      }
      if (const auto layer = LayerOf(e)) from = std::max(from, *layer + 1);
    }
  }

  const ModelGraph& graph_;
  const RunProfile& run_;
  const std::vector<std::optional<std::size_t>>& known_;
  std::vector<bool> taken_;
  const std::vector<bool>& open_;
  std::vector<std::optional<std::size_t>> found_;
  std::vector<OperatorKind> layer_kinds_, engine_kinds_;
  std::vector<Shapes> layer_shapes_, engine_shapes_;
};

}  // namespace

OperatorKind KindOf(std::string_view op) {
  if (const std::size_t dot = op.rfind('.'); dot != std::string_view::npos) op.remove_prefix(dot + 1);
  std::string name(op);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.starts_with("convert")) return OperatorKind::kOther;  // no convolution
  for (const Word& word : kNames)
    if (name == word.part) return word.kind;
  for (const Word& word : kWords)
    if (name.find(word.part) != std::string::npos) return word.kind;
  return OperatorKind::kOther;
}

std::vector<std::optional<std::size_t>> MatchByOrder(const ModelGraph& graph, const RunProfile& run,
                                                     const std::vector<std::optional<std::size_t>>& known,
                                                     const std::vector<bool>& taken, const std::vector<bool>& open) {
  return Matcher(graph, run, known, taken, open).Match();
}

}  // namespace infimum
