// A model as infimum sees it: typed values, and layers in topological order, each of them measurable
// (it has a workload), free (with the reason) or unknown (with the reason).
//
// A layer starts as one node of the model; listed passes (RewritePass) may fold others into it. Their
// names stay in `Layer::origins`, so that a profile of the original model can be matched.
//
//   for (const Layer& layer : graph.layers)
//     if (layer.status == LayerStatus::kMeasurable) plan.Add(*layer.workload);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "infimum/base/id.h"
#include "infimum/layer/workload.h"
#include "src/core/graph/tensor.h"

namespace infimum {

using ValueId = Id<struct ValueTag>;
using LayerId = Id<struct LayerTag>;

enum class ValueKind {
  kGraphInput,
  kWeight,        // known before the first inference: an initializer or what folds into one
  kIntermediate,  // computed by a layer
};

// Where a weight is zero: of its last two dimensions those along which of each four elements that follow one another at
// most two are other than zero.
struct ZeroPattern {
  bool rows = false;  // along the last but one
  bool columns = false;
  bool all = false;  // zero points that are none

  friend bool operator==(const ZeroPattern&, const ZeroPattern&) = default;
};

struct Value {
  std::string name;
  ValueKind kind = ValueKind::kIntermediate;
  DataType type = DataType::kNone;
  std::optional<Shape> shape;  // absent where shape inference could not find it
  bool is_graph_output = false;
  std::optional<Tensor> constant;  // a weight's elements where they are few or matter
  ZeroPattern zeros = {};
};

using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                                    std::vector<std::string>, Tensor>;

enum class LayerStatus {
  kMeasurable,
  kFree,     // a view, folded into a constant, or absorbed by another layer
  kUnknown,  // no workload could be made; counted, listed, never zero in silence
};

struct ModelGraph;

// A body of If, Loop or Scan. `least_executions` is how often every inference runs it at least; of a loop whose trip
// count only a run decides it may run oftener.
struct SubGraph {
  std::string name;  // the attribute's: "then_branch", "body"
  std::unique_ptr<ModelGraph> graph;
  std::int64_t least_executions = 0;
  bool may_run_oftener = false;
};

// Constants that a rewrite made part of a layer before them. Of what that layer computes itself, for each channel:
//   scale (x - mean) / sqrt(variance + epsilon) + bias
// A BatchNormalization has all four, a Mul the scale alone, an Add the bias alone; mean and variance come together.
// The numbers are not folded; a replay finds here what its weights and bias must be changed by.
struct FoldedConstants {
  std::optional<ValueId> scale, bias, mean, variance;
  double epsilon = 1e-5;

  friend bool operator==(const FoldedConstants&, const FoldedConstants&) = default;
};

// A result that may be written over an input, as a cache of keys is: the rest of it lies there already.
struct InPlaceResult {
  std::size_t output = 0, input = 0;  // of the layer
  Bytes written;                      // that are not the input's own

  friend bool operator==(const InPlaceResult&, const InPlaceResult&) = default;
};

// A number that only a run decides, such as how many experts it reads: as stated, or open.
struct RunTimeQuantity {
  std::string name;  // one of kQuantityKinds' (src/core/graph/run_time_quantities.h)
  std::string layer;
  std::optional<std::int64_t> stated;
  std::int64_t least = 0, most = 0;  // that any run can have

  friend bool operator==(const RunTimeQuantity&, const RunTimeQuantity&) = default;
};

struct Layer {
  std::string name;                            // unique in the graph; a node without one gets "<op>_<position>"
  std::string op;                              // "Conv"; of another domain with it: "com.microsoft.FusedConv"
  std::vector<std::string> origins;            // names of the model's nodes that became this layer, in order
  std::vector<std::optional<ValueId>> inputs;  // absent: an optional input that is not given
  std::vector<std::optional<ValueId>> outputs;
  std::map<std::string, AttributeValue> attributes;
  std::vector<SubGraph> bodies;
  std::vector<FoldedConstants> folded;  // in the order in which they are applied
  bool bias_is_folded = false;          // its bias is no weight of the model: it comes from `folded` alone

  LayerStatus status = LayerStatus::kUnknown;
  std::optional<Workload> workload;         // present exactly when measurable
  std::optional<Workload> least;            // of an unknown layer what every run does at least, where that is known
  std::vector<std::size_t> operand_inputs;  // for each operand of the workload, or of `least`, the index in `inputs`
  std::vector<InPlaceResult> in_place;
  std::string reason;  // why free or unknown, in words
  Work work;           // of the workload or `least`; of other unknown layers bytes only
  Bytes parameters;    // weights that this layer reads, whole
};

// A rewrite that was applied, with what it changed: shown to the user, never silent.
struct RewritePass {
  std::string name;  // "fold-channel-constants"
  std::string description;
  std::vector<std::string> rewrites;  // "BatchNormalization_3 into Conv_2"
};

// What the initializers whose elements are stored look like, by a sample of them; shares by their bytes.
struct WeightSample {
  Bytes bytes;  // of those initializers
  double zero_share = 0;
  double information_share = 1;  // bits that an element needs at most, its bytes seen apart, over the bits it has
};

struct ModelGraph {
  std::string name;
  std::string sha256;  // of the model file; empty for sub-graphs
  std::int64_t opset = 0;
  std::vector<Value> values;
  std::vector<Layer> layers;    // topological order
  std::vector<ValueId> inputs;  // without initializers
  std::vector<ValueId> outputs;
  std::vector<RewritePass> passes;
  std::vector<RunTimeQuantity> quantities;  // of this graph's layers; bodies have their own
  std::optional<WeightSample> weights;      // filled by readers; absent where no weights are stored, and in sub-graphs

  const Value& value(ValueId id) const { return values[id.index()]; }
  Value& value(ValueId id) { return values[id.index()]; }
  const Layer& layer(LayerId id) const { return layers[id.index()]; }
};

// For each layer the layers that it must wait for: producers of its inputs, views walked through or
// not alike (every edge between layers), and producers of the values that its bodies capture by name.
// Ascending, without repeats. Needs a graph that Validate() accepts.
std::vector<std::vector<LayerId>> Predecessors(const ModelGraph& graph);

// Calls `visit` for every layer, those of bodies after the layer that holds them. `executions` is how often
// an inference runs the layer: 1 outside bodies; in a body its `least_executions`, but at least 1, times
// that of the holder (a branch that need not run still wants a latency). Capped at kMaxExecutions.
inline constexpr std::int64_t kMaxExecutions = std::int64_t{1} << 40;
void VisitLayers(const ModelGraph& graph,
                 const std::function<void(const Layer& layer, std::int64_t executions)>& visit);

// Ids in range, producers before consumers, one producer a value, workloads valid and present exactly
// where measurable, shapes countable, layer names unique, reasons given, bodies valid (their unproduced
// values are captured from outside, by name). For tests and after parsing: no graph makes it crash.
Status Validate(const ModelGraph& graph);

}  // namespace infimum
