#include "src/core/graph/fusion_steps.h"

#include <algorithm>

#include "src/core/graph/captured_values.h"

namespace infimum {
namespace {

// A residual connection is tens of layers long. Longer searches end with "not convex": a region less.
constexpr std::size_t kMostVisited = 4096;

}  // namespace

FusionSteps::FusionSteps(const ModelGraph& graph)
    : graph_(graph),
      predecessors_(Predecessors(graph)),
      readers_(graph.values.size()),
      views_(graph.values.size()),
      writers_(graph.values.size()),
      escapes_(graph.values.size(), false),
      visited_(graph.layers.size(), 0) {
  roots_.reserve(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) roots_.emplace_back(i);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    // What is known before any run, as a Shape's result, reads nothing.
    const bool is_known =
        std::ranges::all_of(layer.outputs, [&](const auto& output) { return !output || IsConstant(*output); });
    if (is_known && !layer.outputs.empty()) continue;
    if (IsView(layer)) {
      // Layers are in topological order, so the input's root is final.
      const ValueId root =
          roots_[std::ranges::find_if(layer.inputs, [&](const auto& input) { return input && !IsConstant(*input); })
                     ->value()
                     .index()];
      roots_[layer.outputs[0]->index()] = root;
      views_[root.index()].emplace_back(i);
      writers_[layer.outputs[0]->index()] = LayerId(i);
      continue;
    }
    for (const std::optional<ValueId>& input : layer.inputs) {
      if (!input) continue;
      std::vector<LayerId>& readers = readers_[roots_[input->index()].index()];
      if (readers.empty() || readers.back() != LayerId(i)) readers.emplace_back(i);
    }
    for (const std::optional<ValueId>& output : layer.outputs)
      if (output) writers_[output->index()] = LayerId(i);
  }
  for (ValueId output : graph.outputs) escapes_[roots_[output.index()].index()] = true;
  for (ValueId captured : CapturedValues(graph)) escapes_[roots_[captured.index()].index()] = true;
}

bool FusionSteps::IsView(const Layer& layer) const {
  if (layer.status != LayerStatus::kFree || layer.outputs.size() != 1 || !layer.outputs[0]) return false;
  const Value& output = graph_.value(*layer.outputs[0]);
  if (output.kind != ValueKind::kIntermediate || !output.shape) return false;
  const Value* input = nullptr;
  for (const std::optional<ValueId>& id : layer.inputs) {
    if (!id || IsConstant(*id)) continue;
    if (input != nullptr) return false;
    input = &graph_.value(*id);
  }
  return input != nullptr && input->shape && input->type == output.type &&
         ElementCount(*input->shape) == ElementCount(*output.shape);
}

std::optional<FusionStep> FusionSteps::StepOf(LayerId id) const {
  const Layer& layer = graph_.layer(id);
  if (layer.status != LayerStatus::kMeasurable || !layer.workload || !layer.bodies.empty()) return std::nullopt;
  const auto* config = std::get_if<LayerConfig>(&*layer.workload);
  if (config == nullptr) return std::nullopt;
  std::optional<ValueId> output;
  for (const std::optional<ValueId>& value : layer.outputs) {
    if (!value) continue;
    if (output) return std::nullopt;
    output = value;
  }
  if (!output) return std::nullopt;
  FusionStep step{{id}, *config, {}, roots_[output->index()]};
  for (std::size_t position : layer.operand_inputs) {
    if (position >= layer.inputs.size() || !layer.inputs[position]) return std::nullopt;
    step.operands.push_back(roots_[layer.inputs[position]->index()]);
  }
  if (step.operands.size() != OperandsOf(*config).size()) return std::nullopt;
  return step;
}

std::optional<double> FusionSteps::NumberOf(ValueId value) const {
  const std::optional<Tensor>& tensor = graph_.value(value).constant;
  if (!tensor || !IsFloatingPoint(tensor->type) || ElementCount(tensor->shape) != 1) return std::nullopt;
  const std::optional<std::vector<double>> numbers = NumbersOf(&*tensor);
  return numbers ? std::optional(numbers->front()) : std::nullopt;
}

std::vector<LayerId> FusionSteps::WithInnerViews(std::span<const LayerId> layers) const {
  std::vector<LayerId> all(layers.begin(), layers.end());
  std::ranges::sort(all);
  const std::size_t members = all.size();
  const auto is_member = [&](LayerId layer) {
    return std::binary_search(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(members), layer);
  };
  for (std::size_t i = 0; i < members; ++i) {
    for (const std::optional<ValueId>& output : graph_.layer(all[i]).outputs) {
      if (!output || Escapes(*output) || ReadersOf(*output).empty()) continue;
      if (!std::ranges::all_of(ReadersOf(*output), is_member)) continue;
      all.insert(all.end(), ViewsOf(*output).begin(), ViewsOf(*output).end());
    }
    // Of a value that leaves, the views that a member reads it through.
    for (const std::optional<ValueId>& input : graph_.layer(all[i]).inputs) {
      if (!input || RootOf(*input) == *input) continue;
      const std::optional<LayerId> writer = WriterOf(RootOf(*input));
      if (!writer || !is_member(*writer)) continue;
      for (ValueId value = *input; RootOf(value) != value;) {
        const LayerId view = *WriterOf(value);
        all.push_back(view);
        const std::vector<std::optional<ValueId>>& inputs = graph_.layer(view).inputs;
        value = **std::ranges::find_if(inputs, [&](const auto& of) { return of && !IsConstant(*of); });
      }
    }
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool FusionSteps::IsConvex(std::span<const LayerId> layers) const {
  const std::vector<LayerId> inside = WithInnerViews(layers);
  const auto is_inside = [&](LayerId layer) { return std::ranges::binary_search(inside, layer); };
  const std::size_t search = ++searches_;
  std::vector<LayerId> open;
  std::size_t seen = 0;
  // Backwards from what enters, no further than the first layer: whatever comes before it cannot come from inside.
  const auto visit = [&](LayerId layer) {
    if (layer < inside.front() || visited_[layer.index()] == search) return;
    visited_[layer.index()] = search;
    open.push_back(layer);
  };
  for (LayerId layer : inside)
    for (LayerId before : predecessors_[layer.index()])
      if (!is_inside(before)) visit(before);
  while (!open.empty()) {
    const LayerId layer = open.back();
    open.pop_back();
    if (++seen > kMostVisited) return false;
    for (LayerId before : predecessors_[layer.index()]) {
      if (is_inside(before)) return false;
      visit(before);
    }
  }
  return true;
}

}  // namespace infimum
