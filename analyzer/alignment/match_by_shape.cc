#include "analyzer/alignment/match_by_shape.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/alignment/fused_groups.h"

namespace infimum {
namespace {

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

// Engines and exporters call one thing by several names: a convolution of a single pixel is a matmul, a pooling over
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

constexpr std::size_t kMostOperatorSteps = 32;  // from a recurrent layer to the next

// Something of the model that an engine layer may be: a layer, or several that engines run as one.
struct Item {
  OperatorKind kind = OperatorKind::kOther;
  std::string_view function;
  Shapes shapes;
  std::vector<std::size_t> layers;  // ascending
};

struct EngineItem {
  OperatorKind kind = OperatorKind::kOther;
  std::string_view function;
  Shapes shapes;
  std::int64_t bias = 0;  // elements; 0: none is known
};

// aten::addmm has what it adds in front of its factors.
void TakeOutBias(const ProfiledLayer& layer, EngineItem& item) {
  if (item.kind != OperatorKind::kProduct && item.kind != OperatorKind::kConvolution) return;
  if (!layer.op.starts_with("aten::") || item.shapes.inputs.size() < 3) return;
  const bool is_first = layer.op.starts_with("aten::addmm") || layer.op.starts_with("aten::baddbmm");
  const auto bias = item.shapes.inputs.begin() + (is_first ? 0 : 2);
  if (bias->size() == 1) item.bias = ElementsOf(*bias);
  item.shapes.inputs.erase(bias);
}

EngineItem EngineItemOf(const ProfiledLayer& layer) {
  EngineItem item;
  item.shapes = ShapesOf(layer);
  item.kind = KindOfLayer(layer, item.shapes);
  item.function = FunctionOf(layer.op);
  TakeOutBias(layer, item);
  return item;
}

// The size of the second operand where it distinguishes layers of a kind; -1 otherwise.
std::int64_t SecondOf(OperatorKind kind, const Shapes& shapes) {
  switch (kind) {
    case OperatorKind::kConvolution:
    case OperatorKind::kProduct:
    case OperatorKind::kGather:
    case OperatorKind::kElementwise:
    case OperatorKind::kAttention:
      return shapes.inputs.size() < 2 ? -1 : ElementsOf(shapes.inputs[1]);
    default:
      return -1;
  }
}

// What is the same of an engine's and the model's operands where nothing is laid out anew: of convolutions the extents;
// of matmuls the sizes and what they sum over, since weights are stored as (in, out) or (out, in); of element-wise
// layers the sizes in no order, and without numbers, which are no operand everywhere; of others sizes.
Dims OperandsOf(OperatorKind kind, const Shapes& shapes) {
  const Dims& first = shapes.inputs.front();
  if (kind == OperatorKind::kConvolution) {
    Dims operands = first;
    if (shapes.inputs.size() > 1) operands.insert(operands.end(), shapes.inputs[1].begin(), shapes.inputs[1].end());
    return operands;
  }
  Dims operands{ElementsOf(first), SecondOf(kind, shapes)};
  if (kind == OperatorKind::kProduct && !first.empty()) operands.push_back(IsOnePixel(first) ? first[1] : first.back());
  if (kind == OperatorKind::kElementwise) {
    if (operands[1] > operands[0]) std::swap(operands[0], operands[1]);
    if (operands[1] <= 1) operands[1] = -1;
  }
  return operands;
}

// What a layer is known by. Engines that fuse and lay out anew keep the first input and the output; weights are not
// always known. Those that report operands alone run one operator after the other.
enum class Signature { kWithWeights, kWithOutput, kOperands };

std::string SignatureOf(Signature signature, OperatorKind kind, std::string_view function, const Shapes& shapes) {
  std::string text = std::to_string(static_cast<int>(kind)) + std::string(function);
  const auto add = [&text](std::int64_t number) { text += ' ' + std::to_string(number); };
  if (signature == Signature::kOperands) {
    for (const std::int64_t number : OperandsOf(kind, shapes)) add(number);
    return text;
  }
  add(shapes.inputs.empty() ? -1 : ElementsOf(shapes.inputs.front()));
  if (signature == Signature::kWithWeights) add(SecondOf(kind, shapes));
  add(ElementsOf(shapes.output));
  return text;
}

class Matcher {
 public:
  Matcher(const ModelGraph& graph, const RunProfile& run, const std::vector<std::optional<std::size_t>>& known,
          const std::vector<bool>& taken, const std::vector<bool>& open)
      : graph_(graph), run_(run), known_(known), taken_(taken), open_(open), found_(run.layers.size()) {
    readers_.resize(graph.layers.size());
    const std::vector<std::vector<LayerId>> predecessors = Predecessors(graph);
    for (std::size_t i = 0; i < predecessors.size(); ++i)
      for (const LayerId before : predecessors[i]) readers_[before.index()].push_back(i);
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      const Layer& layer = graph.layers[i];
      Item item{OperatorKind::kOther, FunctionOf(layer.op), ShapesOf(graph, layer), {i}};
      if (layer.status != LayerStatus::kFree) item.kind = PlainKind(KindOf(layer.op), item.shapes);
      items_.push_back(std::move(item));
    }
    for (const LayerGroup& group : LayerGroupsOf(graph, readers_)) {
      Item item{group.kind, group.function, {}, group.layers};
      const auto dims_of = [&graph](ValueId value) {
        const std::optional<Shape>& shape = graph.value(value).shape;
        return shape ? shape->dims : Dims{};
      };
      for (const ValueId input : group.inputs) item.shapes.inputs.push_back(dims_of(input));
      item.shapes.output = dims_of(group.output);
      items_.push_back(std::move(item));
    }
    for (const ProfiledLayer& layer : run.layers) engine_.push_back(EngineItemOf(layer));
    // In the order of the model: a group stands where its first layer does.
    for (std::size_t i = 0; i < items_.size(); ++i) in_order_.push_back(i);
    std::stable_sort(in_order_.begin(), in_order_.end(),
                     [this](std::size_t a, std::size_t b) { return FirstOf(items_[a]) < FirstOf(items_[b]); });
  }

  std::vector<std::vector<std::size_t>> Match() {
    // What is taken leaves fewer: counts that differed may be equal then.
    for (std::size_t open = Open() + 1; Open() < open;) {
      open = Open();
      MatchEqualCounts(Signature::kWithWeights);
      MatchEqualCounts(Signature::kWithOutput);
      MatchEqualCounts(Signature::kOperands);
    }
    MatchDirections();
    MatchBetweenNeighbours();
    AddFoldedNormalizations();
    AddBiases();
    AddStackedRecurrences();
    return std::move(found_);
  }

 private:
  static std::size_t FirstOf(const Item& item) { return item.layers.front(); }

  bool IsOpen(std::size_t e) const { return open_[e] && found_[e].empty() && engine_[e].kind != OperatorKind::kOther; }
  bool IsOpen(const Item& item) const {
    return item.kind != OperatorKind::kOther &&
           std::none_of(item.layers.begin(), item.layers.end(), [this](std::size_t layer) { return taken_[layer]; });
  }
  bool HasShapes(std::size_t e, Signature signature) const {
    const Shapes& shapes = engine_[e].shapes;
    return !shapes.inputs.empty() && shapes.output.empty() == (signature == Signature::kOperands);
  }

  std::size_t Open() const {
    std::size_t count = 0;
    for (std::size_t e = 0; e < run_.layers.size(); ++e) count += IsOpen(e) ? 1 : 0;
    return count;
  }

  void Take(std::size_t e, const std::vector<std::size_t>& layers) {
    found_[e] = layers;
    for (const std::size_t layer : layers) taken_[layer] = true;
  }

  void MatchEqualCounts(Signature signature) {
    std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> groups;
    for (std::size_t e = 0; e < run_.layers.size(); ++e) {
      if (!IsOpen(e) || !HasShapes(e, signature)) continue;
      groups[SignatureOf(signature, engine_[e].kind, engine_[e].function, engine_[e].shapes)].first.push_back(e);
    }
    for (const std::size_t i : in_order_) {
      const Item& item = items_[i];
      if (!IsOpen(item) || (signature == Signature::kOperands && item.shapes.inputs.empty())) continue;
      groups[SignatureOf(signature, item.kind, item.function, item.shapes)].second.push_back(i);
    }
    for (const auto& [text, group] : groups) {
      const auto& [engine, model] = group;
      if (engine.size() != model.size()) continue;
      for (std::size_t k = 0; k < engine.size(); ++k)
        if (IsOpen(items_[model[k]])) Take(engine[k], items_[model[k]].layers);
    }
  }

  // OpenVINO runs the two directions of a recurrent layer one after the other.
  void MatchDirections() {
    std::vector<std::size_t> engine, model;
    for (std::size_t e = 0; e < run_.layers.size(); ++e)
      if (IsOpen(e) && engine_[e].kind == OperatorKind::kRecurrent) engine.push_back(e);
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      if (IsOpen(items_[i]) && items_[i].kind == OperatorKind::kRecurrent) model.push_back(i);
    if (engine.size() != 2 * model.size()) return;
    for (std::size_t k = 0; k < engine.size(); ++k) {
      const Dims& half = engine_[engine[k]].shapes.output;
      if (2 * ElementsOf(half) != ElementsOf(items_[model[k / 2]].shapes.output) || half.empty()) return;
    }
    for (std::size_t k = 0; k < engine.size(); ++k) Take(engine[k], {model[k / 2]});
  }

  bool MayBe(std::size_t e, const Item& item) const {
    const EngineItem& engine = engine_[e];
    if (engine.kind != item.kind) return false;
    if (!engine.function.empty() && !item.function.empty() && engine.function != item.function) return false;
    // An element-wise layer of the engine may be a chain of the model's, whose last one it then is; it has the shape.
    if (!engine.shapes.output.empty())
      return item.shapes.output.empty() || ElementsOf(item.shapes.output) == ElementsOf(engine.shapes.output);
    if (engine.shapes.inputs.empty() || item.shapes.inputs.empty()) return true;
    return OperandsOf(engine.kind, engine.shapes) == OperandsOf(item.kind, item.shapes);
  }

  // The layer of the model that engine layer e is, by whichever way it was found.
  std::optional<std::size_t> LayerOf(std::size_t e) const {
    if (known_[e]) return known_[e];
    return found_[e].empty() ? std::nullopt : std::optional(found_[e].back());
  }

  void MatchBetweenNeighbours() {
    // The first layer that a later engine layer is known to be.
    std::vector<std::size_t> before(run_.layers.size() + 1, graph_.layers.size());
    for (std::size_t e = run_.layers.size(); e-- > 0;) {
      const std::optional<std::size_t> layer = LayerOf(e);
      const std::size_t first = layer && !found_[e].empty() ? found_[e].front() : layer.value_or(before[e + 1]);
      before[e] = std::min(before[e + 1], first);
    }
    std::size_t from = 0;  // behind the last one that is known
    for (std::size_t e = 0; e < run_.layers.size(); ++e) {
      if (IsOpen(e)) {
        const auto begin = std::lower_bound(in_order_.begin(), in_order_.end(), from,
                                            [this](std::size_t i, std::size_t at) { return FirstOf(items_[i]) < at; });
        const auto item = std::find_if(begin, in_order_.end(), [&](std::size_t i) {
          return FirstOf(items_[i]) >= before[e] || (IsOpen(items_[i]) && MayBe(e, items_[i]));
        });
        if (item != in_order_.end() && FirstOf(items_[*item]) < before[e]) Take(e, items_[*item].layers);
      }
      if (const auto layer = LayerOf(e)) from = std::max(from, *layer + 1);
    }
  }

  // A batch normalization that the model's file has within its convolution: a step of the convolution before it.
  void AddFoldedNormalizations() {
    std::optional<std::size_t> convolution;  // the last engine layer that is one
    for (std::size_t e = 0; e < run_.layers.size(); ++e) {
      if (engine_[e].kind == OperatorKind::kConvolution) convolution = e;
      const bool is_open = IsOpen(e) && engine_[e].kind == OperatorKind::kNormalization && convolution;
      if (!is_open || engine_[e].shapes.inputs.empty() || run_.layers[e].op.find("batch_norm") == std::string::npos)
        continue;
      const std::optional<std::size_t> layer = LayerOf(*convolution);
      if (!layer) continue;
      const Dims& output = items_[*layer].shapes.output;
      if (!output.empty() && ElementsOf(output) == ElementsOf(engine_[e].shapes.inputs.front())) found_[e] = {*layer};
    }
  }

  // What an engine adds within a matmul or convolution, the model may add in a layer of its own.
  void AddBiases() {
    for (std::size_t e = 0; e < run_.layers.size(); ++e) {
      if (found_[e].size() != 1 || engine_[e].bias == 0 || readers_[found_[e].front()].size() != 1) continue;
      const std::size_t reader = readers_[found_[e].front()].front();
      if (taken_[reader] || items_[reader].function != "add" || items_[reader].kind != OperatorKind::kElementwise)
        continue;
      const bool adds_weights = std::any_of(graph_.layers[reader].inputs.begin(), graph_.layers[reader].inputs.end(),
                                            [&](const std::optional<ValueId>& input) {
                                              if (!input || graph_.value(*input).kind != ValueKind::kWeight)
                                                return false;
                                              const std::optional<Shape>& shape = graph_.value(*input).shape;
                                              return shape && ElementsOf(shape->dims) == engine_[e].bias;
                                            });
      if (!adds_weights) continue;
      found_[e].push_back(reader);
      taken_[reader] = true;
    }
  }

  // The recurrent layer that reads what this one makes, with nothing between that computes.
  std::optional<std::size_t> RecurrenceBehind(std::size_t layer) const {
    std::vector<std::size_t> open = readers_[layer];
    for (std::size_t steps = 0; !open.empty() && steps < kMostOperatorSteps; ++steps) {
      const std::size_t next = open.back();
      open.pop_back();
      if (items_[next].kind == OperatorKind::kRecurrent) return next;
      if (items_[next].kind == OperatorKind::kOther)
        open.insert(open.end(), readers_[next].begin(), readers_[next].end());
    }
    return std::nullopt;
  }

  // Frameworks run the stacked layers of a recurrence as one operator.
  void AddStackedRecurrences() {
    for (std::size_t e = 0; e < run_.layers.size(); ++e)
      if (IsOpen(e) && engine_[e].kind == OperatorKind::kRecurrent) return;  // which may be the next one
    for (std::size_t e = 0; e < run_.layers.size(); ++e) {
      if (found_[e].empty() || engine_[e].kind != OperatorKind::kRecurrent) continue;
      for (auto next = RecurrenceBehind(found_[e].back()); next && !taken_[*next]; next = RecurrenceBehind(*next)) {
        found_[e].push_back(*next);
        taken_[*next] = true;
      }
    }
  }

  const ModelGraph& graph_;
  const RunProfile& run_;
  const std::vector<std::optional<std::size_t>>& known_;
  std::vector<bool> taken_;
  const std::vector<bool>& open_;
  std::vector<std::vector<std::size_t>> found_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<Item> items_;  // layer i of the model is item i; groups follow
  std::vector<std::size_t> in_order_;
  std::vector<EngineItem> engine_;
};

// Of a convolution or matmul what does not change with the batch; empty where it is not known.
std::string WeightsOf(OperatorKind kind, const Shapes& shapes) {
  const bool has_weights = kind == OperatorKind::kConvolution || kind == OperatorKind::kProduct;
  if (!has_weights || shapes.inputs.size() < 2 || shapes.inputs[0].empty() || shapes.inputs[1].empty()) return "";
  const Dims& first = shapes.inputs[0];
  const std::int64_t depth = kind == OperatorKind::kConvolution && first.size() > 1 ? first[1] : first.back();
  return std::to_string(static_cast<int>(kind)) + ' ' + std::to_string(ElementsOf(shapes.inputs[1])) + ' ' +
         std::to_string(depth);
}

}  // namespace

std::optional<double> ScaleOf(const ModelGraph& graph, const RunProfile& run) {
  std::map<std::string, std::set<std::int64_t>> read;
  for (const Layer& layer : graph.layers) {
    const Shapes shapes = ShapesOf(graph, layer);
    const std::string weights = WeightsOf(PlainKind(KindOf(layer.op), shapes), shapes);
    if (!weights.empty()) read[weights].insert(ElementsOf(shapes.inputs.front()));
  }
  std::optional<double> scale;
  std::size_t known = 0;
  for (const ProfiledLayer& layer : run.layers) {
    const EngineItem item = EngineItemOf(layer);
    const auto found = read.find(WeightsOf(item.kind, item.shapes));
    if (found == read.end() || found->second.size() != 1) continue;
    const double here =
        static_cast<double>(ElementsOf(item.shapes.inputs.front())) / static_cast<double>(*found->second.begin());
    if (scale && *scale != here) return std::nullopt;
    scale = here;
    ++known;
  }
  return known > 1 ? scale : std::nullopt;
}

std::vector<std::vector<std::size_t>> MatchByOrder(const ModelGraph& graph, const RunProfile& run,
                                                   const std::vector<std::optional<std::size_t>>& known,
                                                   const std::vector<bool>& taken, const std::vector<bool>& open) {
  return Matcher(graph, run, known, taken, open).Match();
}

}  // namespace infimum
