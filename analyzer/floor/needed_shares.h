// Which part of each layer's result every execution needs, from the graph's outputs backwards.
//
//   x[1000] -> Split -> a[100], b[900]; Relu(a) -> output, nobody reads b
//   Relu is needed whole, the Split a tenth, and so is x
//
// Each rule errs towards too little:
// - A split needs of its input what is needed of its parts, and slices along one dimension that do not overlap need
//   theirs together; a concatenation of an operand what the other operands cannot give, a gather the rows that are left
//   when as many other ones are dropped as can be.
// - A matmul, reduction, softmax or normalization needs as many rows as are needed of its result, windows over an image
//   the pixels that they see, and so on; where nothing is known, next to nothing, which is more than 0.
// - Shape and Size need nothing of their input, and what is known before the first inference needs nothing at all.
// - An If needs what both branches need; a Loop or Scan what its body needs, where the body runs at least once. Its
//   state counts as read where the body reads it.
// - A graph output that may be written over a graph input (in_place.h) needs what is new in it.
// - A layer that is unknown needs what every run reads at least (`Layer::least`), else nothing of its inputs: it may
// look
//   at their shape alone. Textbook arithmetic (`UnknownLayers::kReadInputs`) supposes that it reads them.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/floor/in_place.h"
#include "analyzer/floor/needed_work.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

// Parts of values, in a walk from the graph's outputs backwards: slices along one dimension without gaps, and gathers
// of one element there.
//
//   x[3, 64] -> x[0], x[1], x[2]     of each a third of x is needed, of all three the whole
class Cuts {
 public:
  // Of `layer`'s first input it needs `share`: what it and the parts before it that do not overlap need together. Of
  // all other layers, those that cut along several dimensions or pick several elements among them, `share`.
  double Add(const ModelGraph& graph, const Layer& layer, double share);

 private:
  struct Cut {
    std::size_t axis;
    std::int64_t begin, end;
    double share;
  };
  static std::optional<Cut> CutOf(const ModelGraph& graph, const Layer& layer);

  std::map<std::pair<ValueId, std::size_t>, std::vector<Cut>> known_;  // by value and dimension, by where they begin
};

enum class UnknownLayers { kReadNothing, kReadInputs };

// For each layer of a graph, and of every body in it that runs, the share of its result that every execution needs:
// 0 where no output depends on it.
class NeededShares {
 public:
  NeededShares(const ModelGraph& graph, UnknownLayers unknown);

  // `graph`: the one given, or one of its bodies. A body that need not run has shares of 0.
  double of(const ModelGraph& graph, std::size_t layer) const;

  // Of the arithmetic of a layer, and of what it reads of an operand.
  double of_work(const ModelGraph& graph, std::size_t layer) const { return work_.at(&graph).of(layer); }
  double of_operand(const ModelGraph& graph, std::size_t layer, std::size_t operand) const {
    return work_.at(&graph).of_operand(layer, operand);
  }

  // Of the graph given; its bodies update nothing in place.
  const InPlaceUpdates& updates() const { return updates_; }

 private:
  using ByName = std::unordered_map<std::string_view, double>;

  // What a graph needs of its own values, and by name of those of its surroundings.
  struct Needs {
    std::vector<double> values;
    ByName captured;
  };

  void AddWork(const ModelGraph& graph, bool is_body);
  Needs Find(const ModelGraph& graph, const std::vector<double>& outputs);
  ByName FindInBodies(const Layer& layer, const std::vector<double>& outputs, std::vector<double>& inputs);

  const ModelGraph& whole_;
  InPlaceUpdates updates_;
  std::unordered_map<const ModelGraph*, NeededWork> work_;
  UnknownLayers unknown_;
  std::unordered_map<const ModelGraph*, std::vector<double>> layers_;
};

// The configuration of a layer that is a Config (MovementConfig, PointwiseConfig); null of others.
template <class Config>
const Config* ConfigOf(const Layer& layer) {
  const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  return config != nullptr ? std::get_if<Config>(config) : nullptr;
}

// 0 where the shape is unknown.
double BytesOf(const Value& value);

// Of a gather's indices so many are distinct at least: where they are not known, one.
double ShareOfDistinct(const Value& indices);

// A split is needed as far as its parts are; of other layers with several results the most that one of them needs.
double ShareOfResult(const ModelGraph& graph, const Layer& layer, const std::vector<double>& outputs);

// The bytes that a layer must read of an operand of its workload for all of its result.
double LeastRead(const ModelGraph& graph, const Layer& layer, std::size_t operand);

// What `share` of a layer's result needs at least of an operand's bytes that LeastRead() counts.
double ShareOfOperand(const ModelGraph& graph, const Layer& layer, std::size_t operand, double share);

// Layers of which a part of the result needs only that part of the operands, constants or not.
bool KeepsElementsApart(const Layer& layer);

// For each value of a body the value of its surroundings that it stands for, where it is neither made in the body nor
// handed to it: a body sees its surroundings by name.
using ValueNames = std::unordered_map<std::string_view, ValueId>;
ValueNames NamesOf(const ModelGraph& graph);
std::vector<std::optional<ValueId>> CapturedValues(const ModelGraph& body, const ValueNames& outer);

}  // namespace infimum
