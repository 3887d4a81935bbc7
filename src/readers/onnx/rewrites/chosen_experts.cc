// Mixtures of experts as exporters write them out: a gather picks slices of a stored weight by what a TopK chose.
//
//   TopK(router, k=2) -> [tokens, 2] -> Reshape -> Gather(w[8, k, n], axis 0) -> batched MatMul
//   2 slices at the least, since the choices of a token differ; 8 at the most
//
// A gather of each gets the quantity moe.experts, as a MoE has it. Its work becomes that of a program which reads each
// slice once, and for all tokens: as many as are stated, else as many as there can be. Where only products read the
// result they read the slices where they are: nothing is written, and nothing read again.
#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "infimum/base/text.h"
#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"

namespace infimum {
namespace {

// The same numbers, wherever they are.
constexpr std::string_view kSameNumbers[] = {"Cast",    "Flatten",   "Identity", "Reshape",
                                             "Squeeze", "Transpose", "Unsqueeze"};
constexpr std::string_view kQuantized = "com.microsoft.GatherBlockQuantized";
constexpr std::string_view kSameOrder[] = {"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"};

class ChosenExperts {
 public:
  explicit ChosenExperts(ModelGraph& graph)
      : graph_(graph), producers_(graph.values.size()), readers_(graph.values.size()) {
    for (Layer& layer : graph.layers) {
      for (const std::optional<ValueId>& input : layer.inputs)
        if (input) readers_[input->index()].push_back(&layer);
      for (const std::optional<ValueId>& output : layer.outputs)
        if (output) producers_[output->index()] = &layer;
    }
  }

  void State(Layer& gather, const StatedQuantities& stated) {
    const MovementConfig* const config = MovementOf(gather);
    const bool is_quantized = gather.op == kQuantized;
    if (config == nullptr || config->kind != MovementKind::kGather || config->axis != 0 || gather.inputs.size() < 2 ||
        !gather.inputs[0] || !gather.inputs[1])
      return;
    const Value& weights = graph_.value(*gather.inputs[0]);
    constexpr std::size_t kMatrices = 3;  // of each expert one
    if (weights.kind != ValueKind::kWeight || !weights.shape || weights.shape->rank() < kMatrices ||
        config->inputs[0].dims[0] != weights.shape->dims[0])
      return;
    const std::optional<std::int64_t> each = ChoicesOfAToken(*gather.inputs[1], config->indices);
    if (!each) return;
    RunTimeQuantity quantity{std::string(kMoeExperts), gather.name, StatedFor(stated, kMoeExperts, gather.name), *each,
                             std::min(weights.shape->dims[0], config->indices)};
    std::int64_t slices = quantity.stated.value_or(quantity.most);
    if (slices < quantity.least || slices > quantity.most) slices = quantity.most;  // refused by the reader
    const std::int64_t slice = ElementCount(config->outputs[0]) / config->indices;
    for (std::size_t operand = 0; is_quantized && operand < gather.operand_inputs.size(); ++operand)
      if (const auto& input = gather.inputs[gather.operand_inputs[operand]];
          input && graph_.value(*input).kind == ValueKind::kWeight)
        gather.work.operand_reads[operand].value = gather.work.operand_reads[operand].value / config->indices * slices;
    if (!is_quantized) gather.work.operand_reads[0] = SizeOf(config->types.input, slice * slices);
    if (OnlyProductsRead(*gather.outputs[0])) {
      gather.work.written = {};
      ReadInPlace(*gather.outputs[0]);
    }
    graph_.quantities.push_back(std::move(quantity));
  }

 private:
  static const MovementConfig* MovementOf(const Layer& layer) {
    if (!layer.workload) return nullptr;
    const auto* region = std::get_if<Region>(&*layer.workload);
    // A gather that dequantizes gathers first.
    if (region != nullptr && layer.op == kQuantized && !region->members.empty())
      return std::get_if<MovementConfig>(&region->members.front().config);
    const auto* config = std::get_if<LayerConfig>(&*layer.workload);
    return config != nullptr ? std::get_if<MovementConfig>(config) : nullptr;
  }

  // How many indices of each token differ from one another; nullopt where the indices are not all of a TopK's.
  std::optional<std::int64_t> ChoicesOfAToken(ValueId indices, std::int64_t count) const {
    const Layer* layer = producers_[indices.index()];
    while (layer != nullptr && IsOneOf(layer->op, kSameNumbers) && layer->inputs[0]) {
      indices = *layer->inputs[0];
      layer = producers_[indices.index()];
    }
    if (layer == nullptr || layer->op != "TopK" || layer->outputs.size() < 2 || layer->outputs[1] != indices)
      return std::nullopt;
    const std::optional<Shape>& shape = graph_.value(indices).shape;
    if (!shape || ElementCount(*shape) != count) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(shape->rank());
    const std::int64_t given = IntegerOf(*layer, "axis", -1), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) return std::nullopt;
    return shape->dims[static_cast<std::size_t>(axis)];
  }

  bool OnlyProductsRead(ValueId slices) const {
    const std::vector<Layer*>& readers = readers_[slices.index()];
    if (readers.empty() || graph_.value(slices).is_graph_output) return false;
    return std::ranges::all_of(readers, [&](const Layer* reader) {
      if (reader->status == LayerStatus::kFree && reader->bodies.empty() && IsOneOf(reader->op, kSameOrder))
        return reader->inputs[0] == slices && OnlyProductsRead(*reader->outputs[0]);
      return reader->op == "MatMul" && reader->status == LayerStatus::kMeasurable;
    });
  }

  void ReadInPlace(ValueId slices) {
    for (Layer* const reader : readers_[slices.index()]) {
      if (reader->op != "MatMul") {
        ReadInPlace(*reader->outputs[0]);
        continue;
      }
      for (std::size_t operand = 0; operand < reader->operand_inputs.size(); ++operand)
        if (reader->inputs[reader->operand_inputs[operand]] == slices && operand < reader->work.operand_reads.size())
          reader->work.operand_reads[operand] = {};
    }
  }

  ModelGraph& graph_;
  std::vector<Layer*> producers_;             // by value
  std::vector<std::vector<Layer*>> readers_;  // by value
};

}  // namespace

void StateChosenExperts(ModelGraph& graph, const StatedQuantities& stated) {
  if (!HasOperator(graph, {"TopK"})) return;
  ChosenExperts experts(graph);
  for (Layer& layer : graph.layers)
    if (layer.op == "Gather" || layer.op == "GatherND" || layer.op == kQuantized) experts.State(layer, stated);
}

}  // namespace infimum
