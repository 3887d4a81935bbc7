#include "src/readers/onnx/rewrites/graph_edit.h"

#include <algorithm>
#include <utility>

#include "src/readers/onnx/parse/node_view.h"

namespace infimum {
namespace {

template <class T>
const T* AttributeOf(const Layer& layer, const char* name) {
  const auto found = layer.attributes.find(name);
  return found == layer.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace

GraphEdit::GraphEdit(ModelGraph& graph)
    : graph_(graph),
      producers_(graph.values.size()),
      readers_(graph.values.size()),
      removed_(graph.layers.size(), false) {
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    for (const std::optional<ValueId>& input : graph.layers[i].inputs)
      if (input) readers_[input->index()].push_back(i);
    for (const std::optional<ValueId>& output : graph.layers[i].outputs)
      if (output) producers_[output->index()] = i;
  }
}

Layer* GraphEdit::ProducerOf(std::optional<ValueId> value) {
  if (!value || !producers_[value->index()]) return nullptr;
  return &graph_.layers[*producers_[value->index()]];
}

Layer* GraphEdit::OnlyReaderOf(std::optional<ValueId> value) {
  if (!value || graph_.value(*value).is_graph_output || readers_[value->index()].size() != 1) return nullptr;
  Layer& reader = graph_.layers[readers_[value->index()].front()];
  return reader.bodies.empty() ? &reader : nullptr;
}

bool GraphEdit::IsUnread(ValueId value) const {
  return readers_[value.index()].empty() && !graph_.value(value).is_graph_output;
}

void GraphEdit::SetInput(Layer& layer, std::size_t position, std::optional<ValueId> value) {
  const std::size_t index = IndexOf(layer);
  if (layer.inputs.size() <= position) layer.inputs.resize(position + 1);
  if (const std::optional<ValueId> before = layer.inputs[position]) {
    std::vector<std::size_t>& readers = readers_[before->index()];
    readers.erase(std::find(readers.begin(), readers.end(), index));
  }
  layer.inputs[position] = value;
  if (value) readers_[value->index()].push_back(index);
}

void GraphEdit::SetInputs(Layer& layer, std::vector<std::optional<ValueId>> values) {
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) SetInput(layer, i, std::nullopt);
  layer.inputs.clear();
  for (std::size_t i = 0; i < values.size(); ++i) SetInput(layer, i, values[i]);
}

void GraphEdit::SetOutput(Layer& layer, std::size_t position, ValueId value) {
  if (const std::optional<ValueId> before = OutputOf(layer, position)) producers_[before->index()].reset();
  layer.outputs[position] = value;
  producers_[value.index()] = IndexOf(layer);
}

bool GraphEdit::RedirectReaders(ValueId from, ValueId to) {
  bool redirected = false;
  const std::vector<std::size_t> readers = readers_[from.index()];
  for (const std::size_t reader : readers) {
    Layer& layer = graph_.layers[reader];
    if (!layer.bodies.empty()) continue;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      if (layer.inputs[i] != from) continue;
      SetInput(layer, i, to);
      redirected = true;
    }
  }
  return redirected;
}

void GraphEdit::GrowTo(ValueId value) {
  producers_.resize(value.index() + 1);
  readers_.resize(value.index() + 1);
}

ValueId GraphEdit::AddWeight(std::string name, DataType type, Shape shape) {
  const ValueId id = AddIntermediate(std::move(name), type, std::move(shape));
  graph_.value(id).kind = ValueKind::kWeight;
  return id;
}

ValueId GraphEdit::AddIntermediate(std::string name, DataType type, std::optional<Shape> shape) {
  const ValueId id(graph_.values.size());
  Value& value = graph_.values.emplace_back();
  value.name = std::move(name);
  value.type = type;
  value.shape = std::move(shape);
  GrowTo(id);
  return id;
}

void GraphEdit::AppendOrigins(Layer& whole, const Layer& part) {
  whole.origins.insert(whole.origins.end(), part.origins.begin(), part.origins.end());
}

void GraphEdit::PrependOrigins(Layer& whole, const Layer& part) {
  whole.origins.insert(whole.origins.begin(), part.origins.begin(), part.origins.end());
}

void GraphEdit::Remove(Layer& layer) {
  SetInputs(layer, {});
  for (const std::optional<ValueId>& output : layer.outputs)
    if (output && producers_[output->index()] == IndexOf(layer)) producers_[output->index()].reset();
  removed_[IndexOf(layer)] = true;
}

bool GraphEdit::IsRemoved(const Layer& layer) const { return removed_[IndexOf(layer)]; }

void GraphEdit::Apply() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
    if (removed_[i]) continue;
    if (kept != i) graph_.layers[kept] = std::move(graph_.layers[i]);
    ++kept;
  }
  graph_.layers.resize(kept);
}

std::optional<std::vector<std::int64_t>> GraphEdit::IntegersIn(std::optional<ValueId> value) const {
  if (!value || !graph_.value(*value).constant) return std::nullopt;
  return infimum::IntegersOf(&*graph_.value(*value).constant);
}

std::optional<double> GraphEdit::NumberOf(std::optional<ValueId> value) const {
  if (!value || !graph_.value(*value).constant) return std::nullopt;
  const std::optional<std::vector<double>> numbers = NumbersOf(&*graph_.value(*value).constant);
  return numbers && numbers->size() == 1 ? std::optional<double>(numbers->front()) : std::nullopt;
}

bool GraphEdit::IsConstant(std::optional<ValueId> value) const {
  return value && graph_.value(*value).kind == ValueKind::kWeight;
}

bool HasOperator(const ModelGraph& graph, std::initializer_list<std::string_view> ops) {
  return std::any_of(graph.layers.begin(), graph.layers.end(),
                     [&](const Layer& layer) { return std::find(ops.begin(), ops.end(), layer.op) != ops.end(); });
}

std::optional<ValueId> InputOf(const Layer& layer, std::size_t position) {
  return position < layer.inputs.size() ? layer.inputs[position] : std::nullopt;
}

std::optional<ValueId> OutputOf(const Layer& layer, std::size_t position) {
  return position < layer.outputs.size() ? layer.outputs[position] : std::nullopt;
}

std::int64_t IntegerOf(const Layer& layer, const char* name, std::int64_t otherwise) {
  const auto* value = AttributeOf<std::int64_t>(layer, name);
  return value == nullptr ? otherwise : *value;
}

double NumberOf(const Layer& layer, const char* name, double otherwise) {
  const auto* value = AttributeOf<double>(layer, name);
  return value == nullptr ? otherwise : *value;
}

std::string TextOf(const Layer& layer, const char* name, const char* otherwise) {
  const auto* value = AttributeOf<std::string>(layer, name);
  return value == nullptr ? otherwise : *value;
}

std::vector<std::int64_t> IntegersOf(const Layer& layer, const char* name, std::vector<std::int64_t> otherwise) {
  const auto* value = AttributeOf<std::vector<std::int64_t>>(layer, name);
  return value == nullptr ? otherwise : *value;
}

void DropUnusedValues(ModelGraph& graph) {
  std::vector<bool> used(graph.values.size(), false);
  const auto mark = [&](const std::vector<std::optional<ValueId>>& ids) {
    for (const std::optional<ValueId>& id : ids)
      if (id) used[id->index()] = true;
  };
  for (const Layer& layer : graph.layers) {
    mark(layer.inputs);
    mark(layer.outputs);
    for (const FoldedConstants& folded : layer.folded) mark({folded.scale, folded.bias, folded.mean, folded.variance});
  }
  for (const ValueId id : graph.inputs) used[id.index()] = true;
  for (const ValueId id : graph.outputs) used[id.index()] = true;
  if (std::find(used.begin(), used.end(), false) == used.end()) return;

  std::vector<ValueId> renumbered(graph.values.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = ValueId(kept);
    if (kept != i) graph.values[kept] = std::move(graph.values[i]);
    ++kept;
  }
  graph.values.resize(kept);
  const auto renumber = [&](std::vector<std::optional<ValueId>>& ids) {
    for (std::optional<ValueId>& id : ids)
      if (id) id = renumbered[id->index()];
  };
  for (Layer& layer : graph.layers) {
    renumber(layer.inputs);
    renumber(layer.outputs);
    for (FoldedConstants& folded : layer.folded)
      for (std::optional<ValueId>* const id : {&folded.scale, &folded.bias, &folded.mean, &folded.variance})
        if (*id) *id = renumbered[(*id)->index()];
  }
  for (ValueId& id : graph.inputs) id = renumbered[id.index()];
  for (ValueId& id : graph.outputs) id = renumbered[id.index()];
}

}  // namespace infimum
