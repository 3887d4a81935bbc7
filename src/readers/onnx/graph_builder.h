// Reads one ONNX graph, the main one or a body, into a ModelGraph whose layers are not lowered yet: a
// single pass over the nodes in topological order that resolves names, infers types and shapes, folds
// constants and reads the bodies of If, Loop and Scan.
//
//   ReadContext context(file, options);
//   OnnxGraphBuilder builder(context, nullptr);
//   INFIMUM_RETURN_IF_ERROR(builder.Build(model.graph(), arguments));
//   ModelGraph graph = builder.Take();
//
// What is decided here about a layer has its status and reason set: constants, folded layers, control
// flow. Every other layer has an empty reason; read_model.cc lowers it after the rewrites.
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/model_graph.h"
#include "src/readers/onnx/parse/model_file.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/onnx/shapes/node_inference.h"
#include "src/readers/onnx/weight_sample.h"

namespace infimum {

// An operator as the model imports it.
struct OperatorInfo {
  const onnx::OpSchema* schema = nullptr;  // null: ONNX does not define it
  onnx::InferenceFunction infer;           // empty: its shapes are not known
  bool foldable = false;                   // a pure function of its inputs
};

// What the graphs of one model share.
class ReadContext {
 public:
  ReadContext(ModelFile& file, const ReadOptions& options);

  google::protobuf::Arena& arena() { return arena_; }
  const ModelFile& file() const { return file_; }
  ExternalData& external_data() { return external_data_; }
  WeightSampler& weights() { return weights_; }
  const std::map<std::string, std::int64_t>& dims() const { return dims_; }
  // Version of a domain ("" is ONNX itself); nullopt where the model does not import it.
  std::optional<std::int64_t> OpsetOf(std::string_view domain) const;
  const std::map<std::string, std::int64_t, std::less<>>& opsets() const { return opsets_; }
  const OperatorInfo& Find(const std::string& domain, const std::string& op);

  // The type that the file claims for a value, where that does not depend on more than the bound
  // symbols; else null. Used only for results of operators without shape inference.
  onnx::TypeProto* ClaimedType(const std::string& value);

  // Bodies of loops are read again when their shapes change; hostile nesting must not take for ever.
  Status CountNode();
  // Elements of constants are kept up to a total; false when it is used up.
  bool KeepElements(std::size_t bytes);

 private:
  const ModelFile& file_;
  const onnx::ModelProto& model_;
  const std::map<std::string, std::int64_t>& dims_;
  google::protobuf::Arena& arena_;
  ExternalData external_data_;
  WeightSampler weights_;  // those of the main graph
  std::map<std::string, std::int64_t, std::less<>> opsets_;
  std::unordered_map<std::string, OperatorInfo> operators_;
  std::optional<std::unordered_map<std::string_view, const onnx::TypeProto*>> claimed_;
  std::int64_t nodes_left_;
  std::size_t bytes_left_ = std::size_t{1} << 28;
};

class OnnxGraphBuilder {
 public:
  // `outer` is the graph around a body; null for the main graph.
  OnnxGraphBuilder(ReadContext& context, OnnxGraphBuilder* outer) : context_(context), outer_(outer) {}

  // One argument for each of the graph's inputs; its type may be null.
  Status Build(const onnx::GraphProto& graph, const std::vector<KnownValue>& arguments);

  // After Build: the graph, what is known of its outputs, and which values of the outer graph it reads.
  ModelGraph Take();
  const std::vector<KnownValue>& outputs() const { return output_values_; }
  const std::vector<ValueId>& captured() const { return captured_; }

 private:
  using Names = std::unordered_map<std::string_view, ValueId>;

  std::optional<ValueId> Find(std::string_view name);
  ValueId AddValue(std::string_view name, ValueKind kind, KnownValue known);
  Result<ValueId> Define(std::string_view name, ValueKind kind, KnownValue known);
  Error UndefinedName(std::string_view name, std::string_view what) const;
  KnownValue& known(ValueId id) { return known_[id.index()]; }

  // Elements of an initializer that may be more indices than other constants have.
  void KeepIndices(const onnx::TensorProto& tensor, Value& value) const;
  Status AddInitializers(const onnx::GraphProto& graph);
  Result<KnownValue> KnownTensor(const onnx::TensorProto& tensor);
  Status AddNodes(const onnx::GraphProto& graph);
  Status AddNode(const onnx::NodeProto& node, int position);
  Layer MakeLayer(const onnx::NodeProto& node, int position, const std::vector<std::optional<ValueId>>& inputs);
  Status AddOutputs(const onnx::NodeProto& node, std::vector<KnownValue> outputs, Layer& layer);
  Result<std::vector<KnownValue>> Infer(const onnx::NodeProto& node, const OperatorInfo& info, const Layer& layer);
  // Marks what is known before the first inference, and evaluates it where it is small.
  void FoldLayer(const onnx::NodeProto& node, Layer& layer, std::vector<KnownValue>& outputs);
  Status SetConstantNode(const onnx::NodeProto& node, KnownValue& output);
  static void BecomeCast(Layer& layer, const std::vector<KnownValue>& outputs);
  void KeepZeros(const Layer& layer, KnownValue& output);
  void FoldShape(Layer& layer, KnownValue& output);
  void SetElements(KnownValue& value, Tensor tensor);
  std::string UniqueName(std::string name);
  // Notes a number that only a run decides; as it is stated, where it is and can be.
  std::optional<std::int64_t> StateQuantity(std::string_view kind, const std::string& layer, std::int64_t least,
                                            std::int64_t most);
  // Of operators that keep a part of what they read: the results' shapes, where it is stated how much.
  void StateKept(const Layer& layer, std::vector<KnownValue>& outputs);

  // sequences.cc: what AddNode asks first of a SplitToSequence and a SequenceAt; false where they stay as they are.
  void FindIndexedSequences(const onnx::GraphProto& graph);
  Result<bool> AddSplit(const onnx::NodeProto& node, Layer& layer);
  Result<bool> AddSequenceAt(const onnx::NodeProto& node, int position);
  // The elements of a small constant; nullopt where it has none.
  std::optional<std::vector<std::int64_t>> KnownIntegers(ValueId id);

  // control_flow.cc
  struct Body;
  Result<Body> BuildBody(const onnx::GraphProto& graph, const std::vector<KnownValue>& arguments);
  // nullopt: only a run decides how often.
  void AddBody(Layer& layer, std::string name, Body body, std::optional<std::int64_t> executions);
  Status AddIf(const onnx::NodeProto& node, Layer layer);
  Status InlineBranch(const onnx::NodeProto& node, const onnx::GraphProto& branch, Layer layer);
  Status AddLoop(const onnx::NodeProto& node, Layer layer);
  Status AddScan(const onnx::NodeProto& node, Layer layer);
  // A layer that takes no time beside that of its bodies.
  Status AddCounted(const onnx::NodeProto& node, std::vector<KnownValue> outputs, Layer layer);
  Status AddOtherBodies(const onnx::NodeProto& node, Layer layer);
  bool IsConstantTrue(std::optional<ValueId> id);

  ReadContext& context_;
  OnnxGraphBuilder* outer_;
  ModelGraph graph_;
  std::vector<KnownValue> known_;  // beside graph_.values
  std::vector<Names> scopes_;      // the graph's own names; on top of them those of inlined branches
  std::unordered_map<std::string, int> layer_names_;
  // Sequences that a position alone is asked of, and their parts, once the layer is there that makes them.
  std::map<std::string, std::vector<ValueId>, std::less<>> sequences_;
  std::vector<KnownValue> output_values_;
  std::vector<ValueId> captured_;
};

}  // namespace infimum
