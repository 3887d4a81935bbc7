#include "analyzer/bracket/not_tried.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "infimum/layer/layer_config.h"

namespace infimum {
namespace {

template <class Config>
const Config* ConfigOf(const Layer& layer) {
  const LayerConfig* config =
      layer.status == LayerStatus::kMeasurable ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  return config == nullptr ? nullptr : std::get_if<Config>(config);
}

bool IsAll(const Shape& shape, std::int64_t extent) {
  return std::ranges::all_of(shape.dims, [&](std::int64_t dim) { return dim == extent; });
}

// What products must have in common to be columns of one; empty where the layer is none, or its weights vary.
std::string ColumnsKey(const Layer& layer) {
  LayerConfig key;
  if (const auto* matmul = ConfigOf<MatMulConfig>(layer)) {
    // Gemm may read its operand transposed.
    const auto transposed = layer.attributes.find("transA");
    const bool is_transposed =
        transposed != layer.attributes.end() && transposed->second != AttributeValue(std::int64_t{0});
    if (matmul->weights != Constness::kConstant || matmul->b.dims.size() < 2 || is_transposed) return "";
    MatMulConfig common = *matmul;
    common.b.dims.back() = 1;
    common.bias = MatMulBias::kNone;
    key = common;
  } else if (const auto* convolution = ConfigOf<ConvolutionConfig>(layer)) {
    if (convolution->weights != Constness::kConstant || convolution->groups != 1 || convolution->transposed) return "";
    ConvolutionConfig common = *convolution;
    common.output_channels = 1;
    common.bias = false;
    key = common;
  } else {
    return "";
  }
  return Format(key);
}

class Search {
 public:
  Search(const ModelGraph& graph, std::span<const RegionLatency> regions)
      : graph_(graph), regions_(regions), readers_(graph.values.size()) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i)
      for (const std::optional<ValueId>& input : graph.layers[i].inputs)
        if (input) readers_[input->index()].push_back(i);
  }

  // Values of which several products with constants are made.
  std::size_t ProductsOfOneInput() const {
    std::map<std::pair<std::size_t, std::string>, std::size_t> products;
    for (const Layer& layer : graph_.layers) {
      const std::string key = ColumnsKey(layer);
      if (key.empty() || layer.operand_inputs.empty()) continue;
      const std::optional<ValueId>& input = layer.inputs[layer.operand_inputs[0]];
      if (input) ++products[{input->index(), key}];
    }
    return static_cast<std::size_t>(std::ranges::count_if(products, [](const auto& of) { return of.second > 1; }));
  }

  // A result may be written where its reader wants it, if it is read there alone and came from a layer.
  std::size_t Copies() const {
    return static_cast<std::size_t>(std::ranges::count_if(graph_.layers, [&](const Layer& layer) {
      const auto* movement = ConfigOf<MovementConfig>(layer);
      if (movement == nullptr) return false;
      if (movement->kind == MovementKind::kSplit || movement->kind == MovementKind::kSlice) return true;
      const auto is_placed = [&](const std::optional<ValueId>& input) {
        return input && graph_.value(*input).kind == ValueKind::kIntermediate &&
               !graph_.value(*input).is_graph_output && readers_[input->index()].size() == 1;
      };
      return movement->kind == MovementKind::kConcat && std::ranges::all_of(layer.inputs, is_placed);
    }));
  }

  // `first` with `second` behind it, element-wise layers between them, and nobody else reading.
  template <class First, class Second>
  std::size_t Pairs(First first, Second second) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      if (!first(graph_.layers[i])) continue;
      std::size_t end = i;  // of the element-wise layers behind it
      std::optional<std::size_t> behind = OnlyReader(i);
      while (behind && IsElementwise(*behind, end)) {
        end = *behind;
        behind = OnlyReader(end);
      }
      if (behind && second(graph_.layers[*behind]) && ReadsAsOperand(*behind, end) && !IsOneRegion(i, *behind)) ++count;
    }
    return count;
  }

 private:
  // Of its one output; none where that leaves the graph.
  std::span<const std::size_t> Readers(std::size_t layer) const {
    const Layer& of = graph_.layers[layer];
    if (of.outputs.size() != 1 || !of.outputs[0] || graph_.value(*of.outputs[0]).is_graph_output) return {};
    return readers_[of.outputs[0]->index()];
  }

  // x * sigmoid(x) reads its value twice: the last reader counts where it alone reads what the others make.
  std::optional<std::size_t> OnlyReader(std::size_t layer) const {
    const std::span<const std::size_t> readers = Readers(layer);
    if (readers.empty()) return std::nullopt;
    const auto is_read_by_last = [&](std::size_t reader) {
      return reader == readers.back() ||
             std::ranges::all_of(Readers(reader), [&](std::size_t behind) { return behind == readers.back(); });
    };
    return std::ranges::all_of(readers, is_read_by_last) ? std::optional(readers.back()) : std::nullopt;
  }

  // Whether its result has an element for each of `before`'s.
  bool IsElementwise(std::size_t layer, std::size_t before) const {
    const Layer& of = graph_.layers[layer];
    if (ConfigOf<PointwiseConfig>(of) == nullptr || of.outputs.empty() || !of.outputs[0]) return false;
    const std::optional<Shape>& result = graph_.value(*of.outputs[0]).shape;
    const std::optional<Shape>& value = graph_.value(*graph_.layers[before].outputs[0]).shape;
    return result && value && ElementCount(*result) == ElementCount(*value);
  }

  // As what it goes over, and not as its weights.
  bool ReadsAsOperand(std::size_t layer, std::size_t before) const {
    const Layer& reader = graph_.layers[layer];
    return !reader.operand_inputs.empty() &&
           reader.inputs[reader.operand_inputs[0]] == graph_.layers[before].outputs[0];
  }

  bool IsOneRegion(std::size_t a, std::size_t b) const {
    return std::ranges::any_of(regions_, [&](const RegionLatency& region) {
      const auto has = [&](std::size_t layer) {
        return std::ranges::any_of(region.layers, [&](LayerId id) { return id.index() == layer; });
      };
      return has(a) && has(b);
    });
  }

  const ModelGraph& graph_;
  std::span<const RegionLatency> regions_;
  std::vector<std::vector<std::size_t>> readers_;  // of each value, ascending
};

bool IsConvolution(const Layer& layer) { return ConfigOf<ConvolutionConfig>(layer) != nullptr; }
bool HasDepthwise(const Layer& layer) {
  const auto* config = ConfigOf<ConvolutionConfig>(layer);
  return config != nullptr && IsDepthwise(*config) && !config->transposed;
}
bool IsPointwise(const Layer& layer) {
  const auto* config = ConfigOf<ConvolutionConfig>(layer);
  return config != nullptr && config->groups == 1 && IsAll(config->kernel, 1);
}
bool IsPooling(const Layer& layer) {
  const auto* config = ConfigOf<PoolingConfig>(layer);
  return config != nullptr && !IsAll(config->kernel, 1);
}
// As minimal filtering has them: F(m x m, 3 x 3) in f32, of more than one tile and of as many channels as a vector.
bool CouldBeFiltered(const Layer& layer) {
  constexpr std::int64_t kLeastChannels = 8, kLeastExtent = 4;
  const auto* config = ConfigOf<ConvolutionConfig>(layer);
  return config != nullptr && config->kernel.dims.size() == 2 && config->groups == 1 && !config->transposed &&
         IsAll(config->kernel, 3) && IsAll(config->stride, 1) && IsAll(config->dilation, 1) &&
         config->types.input == DataType::kF32 && config->weights == Constness::kConstant &&
         std::min(config->input.dims[1], config->output_channels) >= kLeastChannels &&
         std::min(config->input.dims[2], config->input.dims[3]) >= kLeastExtent;
}

}  // namespace

std::vector<NotTried> FindNotTried(const ModelGraph& graph, const std::vector<bool>& is_direct,
                                   std::span<const RegionLatency> regions) {
  const Search search(graph, regions);
  std::size_t filtered = 0;
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (is_direct[i] && CouldBeFiltered(graph.layers[i])) ++filtered;
  std::vector<NotTried> found{
      {"products of one input as one", search.ProductsOfOneInput()},
      {"Concat, Split and Slice without a copy", search.Copies()},
      {"depthwise convolutions with the pointwise one behind them", search.Pairs(HasDepthwise, IsPointwise)},
      {"convolutions with the pooling behind them", search.Pairs(IsConvolution, IsPooling)},
      {"3x3 convolutions by Winograd filtering", filtered},
  };
  std::erase_if(found, [](const NotTried& kind) { return kind.places == 0; });
  return found;
}

}  // namespace infimum
