// Who writes and who reads each value of a graph, for the rewrites: small edits, applied at the end.
//
//   GraphEdit edit(graph);
//   if (const Layer* conv = edit.ProducerOf(*layer.inputs[0])) ...
//   edit.Remove(layer);
//   edit.Apply();   // removed layers leave the graph
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

class GraphEdit {
 public:
  explicit GraphEdit(ModelGraph& graph);

  // The layer that writes the value, unless it was removed; null for inputs and initializers.
  Layer* ProducerOf(std::optional<ValueId> value);
  // The one layer that reads the value, once; null where there are none or more, where the graph returns
  // it, or where a body may read it.
  Layer* OnlyReaderOf(std::optional<ValueId> value);
  // Whether the value is neither read nor returned by the graph.
  bool IsUnread(ValueId value) const;

  // Changes one input or all of them; the readers are kept up to date.
  void SetInput(Layer& layer, std::size_t position, std::optional<ValueId> value);
  // Whoever reads `from` reads `to`, but for layers with bodies, which name what they capture.
  bool RedirectReaders(ValueId from, ValueId to);
  void SetInputs(Layer& layer, std::vector<std::optional<ValueId>> values);
  // `layer` becomes the writer of `value`; its former writer must be removed.
  void SetOutput(Layer& layer, std::size_t position, ValueId value);
  ValueId AddWeight(std::string name, DataType type, Shape shape);
  ValueId AddIntermediate(std::string name, DataType type, std::optional<Shape> shape);

  // Appends the names of `part` to the origins of `whole`, or puts them before.
  static void AppendOrigins(Layer& whole, const Layer& part);
  static void PrependOrigins(Layer& whole, const Layer& part);

  void Remove(Layer& layer);
  bool IsRemoved(const Layer& layer) const;
  void Apply();

  // The elements of a constant with exactly one element, as a number.
  std::optional<double> NumberOf(std::optional<ValueId> value) const;
  std::optional<std::vector<std::int64_t>> IntegersIn(std::optional<ValueId> value) const;
  bool IsConstant(std::optional<ValueId> value) const;

 private:
  std::size_t IndexOf(const Layer& layer) const { return static_cast<std::size_t>(&layer - graph_.layers.data()); }
  void GrowTo(ValueId value);

  ModelGraph& graph_;
  std::vector<std::optional<std::size_t>> producers_;  // by value
  std::vector<std::vector<std::size_t>> readers_;      // by value, a layer as often as it reads it
  std::vector<bool> removed_;                          // by layer
};

// Whether the graph has a layer of one of these operators: most passes have nothing to do on most models.
bool HasOperator(const ModelGraph& graph, std::initializer_list<std::string_view> ops);

// Optional inputs that a layer does not have at all count as absent.
std::optional<ValueId> InputOf(const Layer& layer, std::size_t position);
std::optional<ValueId> OutputOf(const Layer& layer, std::size_t position);

// Attributes of a layer with their defaults.
std::int64_t IntegerOf(const Layer& layer, const char* name, std::int64_t otherwise);
double NumberOf(const Layer& layer, const char* name, double otherwise);
std::string TextOf(const Layer& layer, const char* name, const char* otherwise);
std::vector<std::int64_t> IntegersOf(const Layer& layer, const char* name, std::vector<std::int64_t> otherwise);

// Values that no layer, input or output names leave the graph.
void DropUnusedValues(ModelGraph& graph);

}  // namespace infimum
