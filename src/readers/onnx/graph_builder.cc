#include "src/readers/onnx/graph_builder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <unordered_set>
#include <utility>

#include "infimum/base/text.h"
#include "src/core/graph/run_time_quantities.h"
#include "src/readers/onnx/folding/elements.h"
#include "src/readers/onnx/folding/fold.h"
#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {

// The order in which the nodes of one graph can be read. ONNX asks for sorted files; not every writer
// obeys, and runtimes sort for themselves.

// Indices of the nodes, producers first, otherwise as in the file. An error names the nodes of a cycle.
// Names that no node of the graph writes are checked elsewhere.
Result<std::vector<int>> OrderNodes(const onnx::GraphProto& graph);

// "node 'Conv_3' (Conv)", or "node 17 (Conv)" where it has no name.
std::string Describe(const onnx::NodeProto& node, int position);

namespace {

using Producers = std::unordered_map<std::string_view, int>;

// Names that a body, or one around it, makes or is handed itself: not ours, even where it has the name of ours, as an
// If's result may.
struct Hidden {
  const Hidden* outer = nullptr;
  std::unordered_set<std::string_view> names = {};

  bool Has(std::string_view name) const { return names.contains(name) || (outer != nullptr && outer->Has(name)); }
};

// The nodes of this graph whose results a node reads, its bodies included.
void AddDependencies(const onnx::NodeProto& node, const Producers& producers, const Hidden* hidden,
                     std::vector<int>& dependencies) {
  const auto add = [&](const std::string& name, const Hidden* behind) {
    if (const auto found = producers.find(name); found != producers.end() && (behind == nullptr || !behind->Has(name)))
      dependencies.push_back(found->second);
  };
  for (const std::string& input : node.input()) add(input, hidden);
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const auto add_body = [&](const onnx::GraphProto& body) {
      Hidden own{.outer = hidden};
      for (const onnx::NodeProto& inner : body.node())
        for (const std::string& output : inner.output()) own.names.insert(output);
      for (const onnx::ValueInfoProto& input : body.input()) own.names.insert(input.name());
      for (const onnx::TensorProto& initializer : body.initializer()) own.names.insert(initializer.name());
      for (const onnx::NodeProto& inner : body.node()) AddDependencies(inner, producers, &own, dependencies);
      for (const onnx::ValueInfoProto& output : body.output()) add(output.name(), &own);
    };
    if (attribute.has_g()) add_body(attribute.g());
    for (const onnx::GraphProto& body : attribute.graphs()) add_body(body);
  }
}

// Follows unfinished dependencies until a node comes back.
Error CycleError(const onnx::GraphProto& graph, const std::vector<std::vector<int>>& dependencies,
                 const std::vector<int>& waiting) {
  int node = 0;
  while (waiting[static_cast<std::size_t>(node)] == 0) ++node;
  std::vector<int> path;
  std::unordered_map<int, std::size_t> place;
  while (place.emplace(node, path.size()).second) {
    path.push_back(node);
    for (const int next : dependencies[static_cast<std::size_t>(node)]) {
      if (waiting[static_cast<std::size_t>(next)] == 0) continue;
      node = next;
      break;
    }
  }
  std::string names;
  constexpr std::size_t kMostNamed = 5;
  for (std::size_t i = place[node]; i < path.size(); ++i) {
    if (i - place[node] == kMostNamed) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") + Describe(graph.node(path[i]), path[i]);
  }
  return Error{"the graph has a cycle; each of these reads an output of the next: " + names};
}

}  // namespace

std::string Describe(const onnx::NodeProto& node, int position) {
  const std::string name = node.name().empty() ? std::to_string(position) : Quoted(node.name());
  return "node " + name + " (" + Quoted(node.op_type()).substr(1, Quoted(node.op_type()).size() - 2) + ")";
}

Result<std::vector<int>> OrderNodes(const onnx::GraphProto& graph) {
  const auto count = static_cast<std::size_t>(graph.node_size());
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  Producers producers;
  producers.reserve(2 * count);
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string& output : graph.node(i).output())
      if (!output.empty()) producers.emplace(output, i);

  std::vector<std::vector<int>> dependencies(count);
  bool sorted = true;
  for (std::size_t i = 0; i < count; ++i) {
    AddDependencies(graph.node(static_cast<int>(i)), producers, nullptr, dependencies[i]);
    for (const int dependency : dependencies[i]) sorted = sorted && dependency < static_cast<int>(i);
  }
  if (sorted) return order;

  std::vector<std::vector<int>> readers(count);
  std::vector<int> waiting(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    waiting[i] = static_cast<int>(dependencies[i].size());
    for (const int dependency : dependencies[i])
      readers[static_cast<std::size_t>(dependency)].push_back(static_cast<int>(i));
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;  // first in the file first
  for (std::size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(static_cast<int>(i));
  order.clear();
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const int reader : readers[static_cast<std::size_t>(node)])
      if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
  }
  if (order.size() != count) return CycleError(graph, dependencies, waiting);
  return order;
}

namespace {

using google::protobuf::Arena;

// Limits for a constant in the ModelGraph, and for one that is read from another file.
constexpr std::int64_t kMostKeptIntegers = 1024;
// Of initializers: which rows of a weight they pick is counted.
constexpr std::int64_t kMostKeptIndices = std::int64_t{1} << 18;

std::int64_t MostKept(DataType type) { return IsFloatingPoint(type) ? kMostFoldedNumbers : kMostKeptIntegers; }
constexpr int kMostDimensions = 64;

// Where a tensor lies beside the model; empty of others.
std::string PlaceOf(const onnx::TensorProto& tensor) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return "";
  const std::string offset = ExternalEntry(tensor, "offset");
  return (offset.empty() ? "0" : offset) + " " + ExternalEntry(tensor, "location");
}

// Initializers that are another one by a name of their own (tied weights): they lie in one place beside the model. A
// place in which tensors of different forms would lie is made up, as tools that leave weights out do.
std::map<const onnx::TensorProto*, const onnx::TensorProto*> FindTied(const onnx::GraphProto& graph) {
  struct Place {
    const onnx::TensorProto* first = nullptr;
    std::vector<const onnx::TensorProto*> others = {};
    bool is_made_up = false;
  };
  std::map<std::string, Place> places;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    const std::string name = PlaceOf(tensor);
    if (name.empty()) continue;
    Place& place = places[name];
    if (place.first == nullptr) {
      place.first = &tensor;
      continue;
    }
    place.others.push_back(&tensor);
    place.is_made_up |=
        tensor.data_type() != place.first->data_type() || !std::ranges::equal(tensor.dims(), place.first->dims());
  }
  std::map<const onnx::TensorProto*, const onnx::TensorProto*> tied;
  for (const auto& [name, place] : places)
    if (!place.is_made_up)
      for (const onnx::TensorProto* const other : place.others) tied.emplace(other, place.first);
  return tied;
}

// What TensorRT's operators for 8-bit and 4-bit floats are in ONNX, which had none when they were made. Dynamic
// quantization is theirs alone.
std::string OperatorOf(const std::string& domain, const std::string& op) {
  if (domain == "trt" && op.ends_with("DequantizeLinear")) return "DequantizeLinear";
  if (domain == "trt" && op == "TRT_FP8QuantizeLinear") return "QuantizeLinear";
  return domain.empty() ? op : domain + "." + op;
}

std::string DomainOf(const onnx::NodeProto& node) { return node.domain() == "ai.onnx" ? "" : node.domain(); }

}  // namespace

ValueId OnnxGraphBuilder::AddValue(std::string_view name, ValueKind kind, KnownValue known_value) {
  const ValueId id(graph_.values.size());
  Value& value = graph_.values.emplace_back();
  value.name = name;
  value.kind = kind;
  value.zeros = known_value.zeros;
  if (known_value.type != nullptr) {
    value.type = ElementTypeOf(*known_value.type);
    value.shape = ShapeOf(*known_value.type);
  }
  known_.push_back(std::move(known_value));
  return id;
}

Result<ValueId> OnnxGraphBuilder::Define(std::string_view name, ValueKind kind, KnownValue known_value) {
  const ValueId id(graph_.values.size());
  if (!scopes_.back().emplace(name, id).second) return Error{Quoted(name) + " is defined twice"};
  return AddValue(name, kind, std::move(known_value));
}

std::optional<ValueId> OnnxGraphBuilder::Find(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return found->second;
  if (outer_ == nullptr) return std::nullopt;
  const std::optional<ValueId> captured = outer_->Find(name);
  if (!captured) return std::nullopt;
  const KnownValue& there = outer_->known(*captured);
  // By the name that it has there: two of a file's names may be one stored weight.
  const ValueId id = AddValue(outer_->graph_.value(*captured).name,
                              there.constant ? ValueKind::kWeight : ValueKind::kGraphInput, there);
  scopes_.front().emplace(name, id);
  if (!there.constant) graph_.inputs.push_back(id);
  captured_.push_back(*captured);
  return id;
}

Error OnnxGraphBuilder::UndefinedName(std::string_view name, std::string_view what) const {
  constexpr std::size_t kMostCompared = 4096;
  std::vector<std::string_view> names;
  for (const Value& value : graph_.values)
    if (names.size() < kMostCompared) names.push_back(value.name);
  return Error{std::string(what) + " " + Quoted(name) + " is written by no node and is neither input nor initializer" +
               DidYouMean(name, names)};
}

Result<KnownValue> OnnxGraphBuilder::KnownTensor(const onnx::TensorProto& tensor) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape shape, CheckedShapeOf(tensor));
  INFIMUM_RETURN_IF_ERROR(CheckPayload(tensor, shape));
  KnownValue value;
  value.constant = true;
  value.type = Arena::CreateMessage<onnx::TypeProto>(&context_.arena());
  SetTensorType(tensor.data_type(), shape, *value.type);
  const DataType type = DataTypeOf(tensor.data_type());
  StoredElements elements;
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    INFIMUM_ASSIGN_OR_RETURN(elements.bytes, context_.external_data().Check(tensor, shape));
    const bool is_there = static_cast<std::int64_t>(elements.bytes.size()) == SizeOf(type, ElementCount(shape)).value;
    constexpr std::int64_t kMostExtents = 32;
    if (!is_there && (type == DataType::kS64 || type == DataType::kS32) && shape.rank() <= 1 &&
        ElementCount(shape) <= kMostExtents)
      return Error{"its integers may decide a shape, and the file beside the model that they lie in, " +
                   Quoted(ExternalEntry(tensor, "location")) + ", is not there: copy it beside the model"};
    if (type != DataType::kNone && is_there && ElementCount(shape) <= MostKept(type))
      SetElements(value, Tensor{type, shape, {elements.bytes.begin(), elements.bytes.end()}});
  } else {
    elements = context_.file().ElementsOf(tensor);
    if (ElementCount(shape) <= MostFolded(type) && !ElidedOf(tensor)) value.proto = &tensor;
  }
  if (outer_ == nullptr) context_.weights().Add(tensor, shape, elements);
  value.zeros = ZeroPatternOf(tensor, shape, elements);
  return value;
}

void OnnxGraphBuilder::KeepIndices(const onnx::TensorProto& tensor, Value& value) const {
  if ((value.type != DataType::kS64 && value.type != DataType::kS32) || !value.shape) return;
  const std::int64_t count = ElementCount(*value.shape);
  if (count <= MostKept(value.type) || count > kMostKeptIndices) return;
  // Beside the model, left out of its message, or in either of its fields; a packed field is not unpacked for this.
  std::span<const std::byte> bytes;
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    const auto there = context_.external_data().Check(tensor, *value.shape);
    if (there.ok()) bytes = *there;
  } else if (ElidedOf(tensor)) {
    const StoredElements elements = context_.file().ElementsOf(tensor);
    if (elements.field == onnx::TensorProto::kRawDataFieldNumber) bytes = elements.bytes;
  } else if (tensor.has_raw_data()) {
    bytes = std::as_bytes(std::span(tensor.raw_data()));
  } else if (value.type == DataType::kS64) {
    bytes = std::as_bytes(std::span(tensor.int64_data().data(), static_cast<std::size_t>(tensor.int64_data_size())));
  } else {
    bytes = std::as_bytes(std::span(tensor.int32_data().data(), static_cast<std::size_t>(tensor.int32_data_size())));
  }
  if (static_cast<std::int64_t>(bytes.size()) == SizeOf(value.type, count).value)
    value.constant = Tensor{value.type, *value.shape, {bytes.begin(), bytes.end()}};
}

Status OnnxGraphBuilder::AddInitializers(const onnx::GraphProto& graph) {
  const auto tied = FindTied(graph);
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (const auto first = tied.find(&tensor); first != tied.end()) {
      if (!scopes_.back().emplace(tensor.name(), scopes_.back().at(first->second->name())).second)
        return Within("initializer", Error{Quoted(tensor.name()) + " is defined twice"});
      continue;
    }
    Result<KnownValue> value = KnownTensor(tensor);
    if (!value.ok()) return Within("initializer " + Quoted(tensor.name()), value.error());
    const Result<ValueId> id = Define(tensor.name(), ValueKind::kWeight, std::move(*value));
    if (!id.ok()) return Within("initializer", id.error());
    KeepIndices(tensor, graph_.value(*id));
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    // Counted as its dense form: what a library without sparse kernels reads.
    KnownValue value;
    value.constant = true;
    value.type = Arena::CreateMessage<onnx::TypeProto>(&context_.arena());
    const Shape shape{{tensor.dims().begin(), tensor.dims().end()}};
    if (const Result<std::int64_t> count = CheckedElementCount(shape); !count.ok())
      return Within("sparse initializer " + Quoted(tensor.values().name()), count.error());
    SetTensorType(tensor.values().data_type(), shape, *value.type);
    INFIMUM_RETURN_IF_ERROR(Define(tensor.values().name(), ValueKind::kWeight, std::move(value)));
  }
  return {};
}

Status OnnxGraphBuilder::Build(const onnx::GraphProto& graph, const std::vector<KnownValue>& arguments) {
  graph_.name = graph.name();
  graph_.opset = context_.OpsetOf("").value_or(0);
  graph_.values.reserve(static_cast<std::size_t>(graph.initializer_size() + 2 * graph.node_size()));
  graph_.layers.reserve(static_cast<std::size_t>(graph.node_size()));
  scopes_.emplace_back();
  scopes_.back().reserve(static_cast<std::size_t>(graph.initializer_size() + 2 * graph.node_size()));
  INFIMUM_RETURN_IF_ERROR(AddInitializers(graph));
  if (arguments.size() != static_cast<std::size_t>(graph.input_size()))
    return Error{"the body has " + std::to_string(graph.input_size()) + " inputs where the node provides " +
                 std::to_string(arguments.size())};
  for (int i = 0; i < graph.input_size(); ++i) {
    const std::string& name = graph.input(i).name();
    if (scopes_.back().contains(name) && known(scopes_.back().at(name)).constant) continue;  // has a default value
    INFIMUM_ASSIGN_OR_RETURN(const ValueId id,
                             Define(name, ValueKind::kGraphInput, arguments[static_cast<std::size_t>(i)]));
    graph_.inputs.push_back(id);
  }
  FindIndexedSequences(graph);
  INFIMUM_RETURN_IF_ERROR(AddNodes(graph));
  for (const onnx::ValueInfoProto& output : graph.output()) {
    const std::optional<ValueId> id = Find(output.name());
    if (!id) return UndefinedName(output.name(), "graph output");
    graph_.outputs.push_back(*id);
    graph_.value(*id).is_graph_output = true;
    output_values_.push_back(known(*id));
  }
  return {};
}

ModelGraph OnnxGraphBuilder::Take() {
  for (std::size_t i = 0; i < known_.size(); ++i) {
    Value& value = graph_.values[i];
    if (value.kind != ValueKind::kWeight || !value.shape || value.type == DataType::kNone) continue;
    if (ElementCount(*value.shape) > MostKept(value.type)) continue;
    if (const Tensor* tensor = TensorOf(known_[i])) value.constant = *tensor;
  }
  return std::move(graph_);
}

Status OnnxGraphBuilder::AddNodes(const onnx::GraphProto& graph) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<int> order, OrderNodes(graph));
  for (const int position : order) {
    const onnx::NodeProto& node = graph.node(position);
    if (Status status = AddNode(node, position); !status.ok()) return Within(Describe(node, position), status.error());
  }
  return {};
}

std::string OnnxGraphBuilder::UniqueName(std::string name) {
  const int used = layer_names_[name]++;
  if (used == 0) return name;
  return UniqueName(name + "_" + std::to_string(used + 1));
}

std::optional<std::int64_t> OnnxGraphBuilder::StateQuantity(std::string_view kind, const std::string& layer,
                                                            std::int64_t least, std::int64_t most) {
  RunTimeQuantity quantity{std::string(kind), layer, StatedFor(context_.dims(), kind, layer), least, most};
  graph_.quantities.push_back(quantity);
  const bool can_be = quantity.stated && *quantity.stated >= least && *quantity.stated <= most;
  return can_be ? quantity.stated : std::nullopt;
}

void OnnxGraphBuilder::StateKept(const Layer& layer, std::vector<KnownValue>& outputs) {
  // Along which dimension of its results each keeps elements.
  static const std::map<std::string_view, std::vector<int>> kKept = {
      {"Compress", {0}}, {"NonMaxSuppression", {0}}, {"NonZero", {1}}, {"Unique", {0, 0, -1, 0}}};
  const auto kept = kKept.find(layer.op);
  if (kept == kKept.end() || outputs.empty() || outputs[0].type == nullptr || outputs[0].constant) return;
  if (layer.op == "Compress") {
    const auto axis = layer.attributes.find("axis");
    if (axis != layer.attributes.end()) return;  // along an axis: not stated here
  }
  if (!outputs[0].type->has_tensor_type() || ShapeOf(*outputs[0].type)) return;
  const std::size_t chosen_from = layer.op == "NonMaxSuppression" ? 1 : 0;  // the scores of each class and box
  const bool is_there = chosen_from < layer.inputs.size() && layer.inputs[chosen_from];
  const KnownValue* read = is_there ? &known(*layer.inputs[chosen_from]) : nullptr;
  const std::optional<Shape> whole = read != nullptr && read->type != nullptr ? ShapeOf(*read->type) : std::nullopt;
  const std::int64_t most = whole ? ElementCount(*whole) : kMaxElements;
  const std::optional<std::int64_t> stated = StateQuantity(kKeptElements, layer.name, 0, most);
  for (std::size_t i = 0; stated && i < outputs.size() && i < kept->second.size(); ++i) {
    if (outputs[i].type == nullptr || kept->second[i] < 0) continue;
    auto& shape = *outputs[i].type->mutable_tensor_type()->mutable_shape();
    if (kept->second[i] < shape.dim_size()) shape.mutable_dim(kept->second[i])->set_dim_value(*stated);
  }
}

Layer OnnxGraphBuilder::MakeLayer(const onnx::NodeProto& node, int position,
                                  const std::vector<std::optional<ValueId>>& inputs) {
  Layer layer;
  layer.op = OperatorOf(DomainOf(node), node.op_type());
  layer.name = UniqueName(node.name().empty() ? node.op_type() + "_" + std::to_string(position) : node.name());
  layer.origins.push_back(node.name().empty() ? layer.name : node.name());
  layer.inputs = inputs;
  layer.attributes = AttributesOf(node);
  if (node.op_type() == "TRT_MXFP8DequantizeLinear") {  // what it has where nothing is said
    layer.attributes.try_emplace("axis", std::int64_t{-1});
    layer.attributes.try_emplace("block_size", std::int64_t{32});
  }
  return layer;
}

Status OnnxGraphBuilder::AddNode(const onnx::NodeProto& node, int position) {
  INFIMUM_RETURN_IF_ERROR(context_.CountNode());
  if (node.op_type() == "SequenceAt") {
    INFIMUM_ASSIGN_OR_RETURN(const bool is_added, AddSequenceAt(node, position));
    if (is_added) return {};
  }
  std::vector<std::optional<ValueId>> inputs;
  inputs.reserve(static_cast<std::size_t>(node.input_size()));
  for (const std::string& name : node.input()) {
    const std::optional<ValueId> id = name.empty() ? std::nullopt : Find(name);
    if (!id && !name.empty()) return UndefinedName(name, "input");
    inputs.push_back(id);
  }
  const std::string domain = DomainOf(node);
  if (domain.empty() && !context_.OpsetOf(""))
    return Error{"the model imports no ONNX operator set, so the version of the operator is not known"};
  Layer layer = MakeLayer(node, position, inputs);
  const OperatorInfo& info = context_.Find(domain, node.op_type());
  if (info.schema != nullptr) {
    try {
      info.schema->Verify(node);
    } catch (const std::exception& problem) {
      return Error{MessageLine(problem.what())};
    }
  }
  const bool has_bodies = std::any_of(node.attribute().begin(), node.attribute().end(), [](const auto& attribute) {
    return attribute.has_g() || attribute.graphs_size() > 0;
  });
  if (has_bodies) {
    if (layer.op == "If") return AddIf(node, std::move(layer));
    if (layer.op == "Loop") return AddLoop(node, std::move(layer));
    if (layer.op == "Scan" && context_.OpsetOf("").value_or(0) >= 9) return AddScan(node, std::move(layer));
    return AddOtherBodies(node, std::move(layer));
  }

  if (layer.op == "SplitToSequence") {
    INFIMUM_ASSIGN_OR_RETURN(const bool is_split, AddSplit(node, layer));
    if (is_split) {
      graph_.layers.push_back(std::move(layer));
      return {};
    }
  }
  INFIMUM_ASSIGN_OR_RETURN(std::vector<KnownValue> outputs, Infer(node, info, layer));
  if (layer.op == "Constant" && outputs.size() == 1) {
    INFIMUM_RETURN_IF_ERROR(SetConstantNode(node, outputs[0]));
  }
  if (layer.op == "CastLike") BecomeCast(layer, outputs);
  if (info.foldable && !outputs.empty()) FoldLayer(node, layer, outputs);
  StateKept(layer, outputs);
  if (!info.infer && layer.reason.empty() && info.schema == nullptr && domain.empty())
    layer.reason = "ONNX has no operator " + node.op_type() + " in operator set " +
                   std::to_string(context_.OpsetOf("").value_or(0));
  INFIMUM_RETURN_IF_ERROR(AddOutputs(node, std::move(outputs), layer));
  graph_.layers.push_back(std::move(layer));
  return {};
}

Result<std::vector<KnownValue>> OnnxGraphBuilder::Infer(const onnx::NodeProto& node, const OperatorInfo& info,
                                                        const Layer& layer) {
  std::vector<KnownValue> outputs(static_cast<std::size_t>(node.output_size()));
  if (!info.infer) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      outputs[i].type = context_.ClaimedType(node.output(static_cast<int>(i)));
    return outputs;
  }
  std::vector<KnownValue*> inputs;
  for (const std::optional<ValueId>& input : layer.inputs) inputs.push_back(input ? &known(*input) : nullptr);
  const bool typed = std::all_of(inputs.begin(), inputs.end(),
                                 [](const KnownValue* input) { return input == nullptr || input->type != nullptr; });
  NodeInference inference(node, std::move(inputs), context_.arena());
  try {
    info.infer(inference);
  } catch (const std::exception& problem) {
    // Behind an unknown operator, an inference function may fail on a missing type.
    if (typed) return Error{MessageLine(problem.what())};
    return outputs;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].type = inference.output_type(i);
  // Before operator set 12, ONNX does not define the mask's type; it has the shape of the output.
  // How long a cache is that a node returns may be known only at run time: then what the file says of it holds.
  if (layer.op == "com.microsoft.GroupQueryAttention" && layer.inputs.size() > 6 && layer.inputs[6] &&
      !known(*layer.inputs[6]).constant)
    for (std::size_t i = 1; i < std::min<std::size_t>(outputs.size(), 3); ++i)
      if (const onnx::TypeProto* claimed = context_.ClaimedType(node.output(static_cast<int>(i)));
          claimed != nullptr && outputs[i].type != nullptr && claimed->tensor_type().shape().dim_size() == 4 &&
          outputs[i].type->tensor_type().shape().dim_size() == 4)
        *outputs[i].type->mutable_tensor_type()->mutable_shape()->mutable_dim(2) =
            claimed->tensor_type().shape().dim(2);
  if (layer.op == "Dropout" && outputs.size() == 2 && outputs[1].type == nullptr) outputs[1].type = outputs[0].type;
  return outputs;
}

Status OnnxGraphBuilder::AddOutputs(const onnx::NodeProto& node, std::vector<KnownValue> outputs, Layer& layer) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = node.output(static_cast<int>(i));
    if (name.empty()) {
      layer.outputs.emplace_back();
      continue;
    }
    const onnx::TypeProto* type = outputs[i].type;
    if (type != nullptr && type->has_tensor_type() && type->tensor_type().shape().dim_size() > kMostDimensions)
      return Error{"output " + Quoted(name) + " has more than " + std::to_string(kMostDimensions) + " dimensions"};
    if (const std::optional<Shape> shape = type == nullptr ? std::nullopt : ShapeOf(*type))
      if (const Result<std::int64_t> count = CheckedElementCount(*shape); !count.ok())
        return Error{"output " + Quoted(name) + ": " + count.error().message};
    const ValueKind kind = outputs[i].constant ? ValueKind::kWeight : ValueKind::kIntermediate;
    Result<ValueId> id = Define(name, kind, std::move(outputs[i]));
    if (!id.ok()) return Within("output", id.error());
    layer.outputs.emplace_back(*id);
  }
  return {};
}

void OnnxGraphBuilder::SetElements(KnownValue& value, Tensor tensor) {
  if (!context_.KeepElements(tensor.bytes.size())) return;
  if (value.type == nullptr || !ShapeOf(*value.type)) {
    value.type = Arena::CreateMessage<onnx::TypeProto>(&context_.arena());
    SetTensorType(OnnxTypeOf(tensor.type), tensor.shape, *value.type);
  }
  // Inference and evaluation must agree; where they do not, the shape is believed.
  if (ShapeOf(*value.type) != tensor.shape || ElementTypeOf(*value.type) != tensor.type) return;
  value.tensor = std::make_shared<const Tensor>(std::move(tensor));
}

Status OnnxGraphBuilder::SetConstantNode(const onnx::NodeProto& node, KnownValue& output) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "value" && attribute.has_t()) {
      INFIMUM_ASSIGN_OR_RETURN(output, KnownTensor(attribute.t()));
    } else if (attribute.name() == "value_int" || attribute.name() == "value_ints") {
      Elements elements;
      elements.integers.assign(attribute.ints().begin(), attribute.ints().end());
      Shape shape{{attribute.ints_size()}};
      if (attribute.name() == "value_int") {
        elements.integers = {attribute.i()};
        shape = {};
      }
      if (std::optional<Tensor> tensor = Encode(elements, DataType::kS64, shape))
        SetElements(output, std::move(*tensor));
    } else if (attribute.name() == "value_float" || attribute.name() == "value_floats") {
      Elements elements;
      elements.floating = true;
      elements.numbers.assign(attribute.floats().begin(), attribute.floats().end());
      Shape shape{{attribute.floats_size()}};
      if (attribute.name() == "value_float") {
        elements.numbers = {attribute.f()};
        shape = {};
      }
      if (std::optional<Tensor> tensor = Encode(elements, DataType::kF32, shape))
        SetElements(output, std::move(*tensor));
    }
  }
  return {};
}

// Of its second operand it reads the type alone: a constant stays one, whatever that operand is.
void OnnxGraphBuilder::BecomeCast(Layer& layer, const std::vector<KnownValue>& outputs) {
  if (outputs.size() != 1 || outputs[0].type == nullptr || layer.inputs.size() != 2) return;
  layer.op = "Cast";
  layer.attributes["to"] = std::int64_t{outputs[0].type->tensor_type().elem_type()};
  layer.inputs.pop_back();
}

// Shape and Size of a value whose shape is known are constants, whatever the value is.
void OnnxGraphBuilder::FoldShape(Layer& layer, KnownValue& output) {
  const Shape& shape = *graph_.value(*layer.inputs[0]).shape;
  Elements elements;
  Shape of_result;
  if (layer.op == "Size") {
    elements.integers = {ElementCount(shape)};
  } else {
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const auto bound = [&](const char* name, std::int64_t otherwise) {
      const auto found = layer.attributes.find(name);
      const auto* given = found == layer.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
      const std::int64_t at = given == nullptr ? otherwise : *given;
      return std::clamp<std::int64_t>(at < 0 && at >= -rank ? at + rank : at, 0, rank);
    };
    const std::int64_t start = bound("start", 0);
    const std::int64_t end = std::max(start, bound("end", rank));
    elements.integers.assign(shape.dims.begin() + start, shape.dims.begin() + end);
    of_result.dims = {end - start};
  }
  output.constant = true;
  if (std::optional<Tensor> tensor = Encode(elements, DataType::kS64, of_result))
    SetElements(output, std::move(*tensor));
  layer.status = LayerStatus::kFree;
  layer.reason = "folded: the shape of its input is known";
}

// What moves elements or changes their type alone keeps the zeros of a weight.
void OnnxGraphBuilder::KeepZeros(const Layer& layer, KnownValue& output) {
  if (layer.inputs.empty() || !layer.inputs[0]) return;
  const ZeroPattern read = known(*layer.inputs[0]).zeros;
  const bool keeps_type = output.type != nullptr && HasZeroPattern(ElementTypeOf(*output.type));
  if ((layer.op == "Cast" && keeps_type) || layer.op == "Identity") output.zeros = read;
  if (layer.op != "Transpose" || !graph_.value(*layer.inputs[0]).shape) return;
  const std::size_t rank = graph_.value(*layer.inputs[0]).shape->rank();
  std::vector<std::int64_t> same(rank);
  std::iota(same.begin(), same.end(), 0);
  std::vector<std::int64_t> turned = same;
  if (rank >= 2) std::swap(turned[rank - 2], turned[rank - 1]);
  const auto given = layer.attributes.find("perm");
  const bool is_turned = given == layer.attributes.end() ? rank == 2 : given->second == AttributeValue(turned);
  if (is_turned) output.zeros = {read.columns, read.rows, false};
  if (given != layer.attributes.end() && given->second == AttributeValue(same)) output.zeros = read;
}

void OnnxGraphBuilder::FoldLayer(const onnx::NodeProto& node, Layer& layer, std::vector<KnownValue>& outputs) {
  if ((layer.op == "Shape" || layer.op == "Size") && layer.inputs.size() == 1 && layer.inputs[0] &&
      graph_.value(*layer.inputs[0]).shape)
    return FoldShape(layer, outputs[0]);
  for (const std::optional<ValueId>& input : layer.inputs)
    if (input && !known(*input).constant) return;
  for (KnownValue& output : outputs) output.constant = true;
  layer.status = LayerStatus::kFree;
  layer.reason = layer.inputs.empty() ? "a constant" : "folded: it depends on constants only";
  KeepZeros(layer, outputs[0]);

  // Elements only where all are there; to look first is cheaper than to make views.
  for (const std::optional<ValueId>& input : layer.inputs)
    if (input && known(*input).proto == nullptr && known(*input).tensor == nullptr) return;
  const std::string domain = DomainOf(node);
  NodeView view{layer.op, domain, context_.OpsetOf("").value_or(0), {}, {}, layer.attributes};
  for (const std::optional<ValueId>& input : layer.inputs) {
    if (!input) {
      view.inputs.emplace_back();
      continue;
    }
    const Value& value = graph_.value(*input);
    const Tensor* tensor = TensorOf(known(*input));
    if (tensor == nullptr) return;
    view.inputs.push_back(OperandView{value.name, value.type, value.shape ? &*value.shape : nullptr, true, tensor});
  }
  std::vector<std::optional<Shape>> shapes;
  for (const KnownValue& output : outputs)
    shapes.push_back(output.type == nullptr ? std::nullopt : ShapeOf(*output.type));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const DataType type = outputs[i].type == nullptr ? DataType::kNone : ElementTypeOf(*outputs[i].type);
    view.outputs.push_back(OperandView{"", type, shapes[i] ? &*shapes[i] : nullptr, true, nullptr});
  }
  std::vector<Tensor> tensors = Fold(view);
  if (tensors.size() != outputs.size()) return;
  for (std::size_t i = 0; i < outputs.size(); ++i) SetElements(outputs[i], std::move(tensors[i]));
}

}  // namespace infimum
