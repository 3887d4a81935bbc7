#include "src/readers/onnx/read_model.h"

#include <onnx/defs/schema.h>
#include <onnx/inliner/inliner.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <new>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "src/core/graph/run_time_quantities.h"
#include "src/readers/onnx/graph_builder.h"
#include "src/readers/onnx/lowering/lower.h"
#include "src/readers/onnx/parse/input_dimensions.h"
#include "src/readers/onnx/parse/model_file.h"
#include "src/readers/onnx/parse/model_inputs.h"
#include "src/readers/onnx/parse/node_view.h"
#include "src/readers/onnx/rewrites.h"

namespace infimum {

// Gives every layer its workload, or the reason why it costs nothing or is not known.

// Versions of the operator sets by domain; "" is ONNX itself.
using Opsets = std::map<std::string, std::int64_t, std::less<>>;

// Lowers each layer whose reason is empty, and counts the work of all. Bodies have been classified before.
void ClassifyLayers(ModelGraph& graph, const Opsets& opsets, const StatedQuantities& stated);

// Model-local functions: every call is replaced with the function's nodes before anything else is read,
// so that the layers behind are the ones that run.

// An error for functions that call themselves and for calls that multiply beyond any real model.
Status InlineLocalFunctions(onnx::ModelProto& model);

namespace {

std::vector<std::optional<OperandView>> ViewsOf(const ModelGraph& graph,
                                                const std::vector<std::optional<ValueId>>& ids) {
  std::vector<std::optional<OperandView>> views;
  views.reserve(ids.size());
  for (const std::optional<ValueId>& id : ids) {
    if (!id) {
      views.emplace_back();
      continue;
    }
    const Value& value = graph.value(*id);
    views.push_back(OperandView{value.name, value.type, value.shape ? &*value.shape : nullptr,
                                value.kind == ValueKind::kWeight, value.constant ? &*value.constant : nullptr,
                                value.zeros});
  }
  return views;
}

Bytes SizeOf(const Value& value) {
  if (!value.shape || value.type == DataType::kNone) return {};
  return SizeOf(value.type, ElementCount(*value.shape));
}

// Nothing to compute: a cache that is still empty, a slice of nothing.
bool HasNoElements(const ModelGraph& graph, const Layer& layer) {
  bool any = false;
  for (const std::optional<ValueId>& output : layer.outputs) {
    if (!output) continue;
    const Value& value = graph.value(*output);
    if (!value.shape || ElementCount(*value.shape) > 0) return false;
    any = true;
  }
  return any;
}

void LowerLayer(const ModelGraph& graph, const Opsets& opsets, const StatedQuantities& stated, Layer& layer,
                std::vector<RunTimeQuantity>& quantities) {
  if (HasNoElements(graph, layer)) {
    layer.status = LayerStatus::kFree;
    layer.reason = "its result has no elements";
    return;
  }
  const std::size_t dot = layer.op.rfind('.');
  const std::string_view op = layer.op;
  NodeView view{dot == std::string::npos ? op : op.substr(dot + 1),
                dot == std::string::npos ? std::string_view() : op.substr(0, dot),
                0,
                ViewsOf(graph, layer.inputs),
                ViewsOf(graph, layer.outputs),
                layer.attributes,
                &stated,
                layer.name};
  if (const auto version = opsets.find(view.domain); version != opsets.end()) view.opset = version->second;
  Lowering lowering = Lower(view);
  if (lowering.status == LayerStatus::kMeasurable) {
    const Status valid = lowering.workload ? Validate(*lowering.workload) : Status(Error{"it has no workload"});
    if (!valid.ok()) {
      lowering.status = LayerStatus::kUnknown;
      lowering.reason = "its parameters are not valid: " + valid.error().message;
      lowering.operand_inputs.clear();
    }
  }
  if (lowering.status != LayerStatus::kMeasurable) lowering.workload.reset();
  layer.status = lowering.status;
  layer.workload = std::move(lowering.workload);
  layer.least = std::move(lowering.least);
  layer.operand_inputs = std::move(lowering.operand_inputs);
  layer.in_place = std::move(lowering.in_place);
  std::ranges::move(lowering.quantities, std::back_inserter(quantities));
  layer.reason = std::move(lowering.reason);
}

// Each distinct value once, however often the layer names it.
void CountWork(const ModelGraph& graph, Layer& layer) {
  if (layer.status == LayerStatus::kFree) return;
  std::vector<ValueId> seen;
  for (const std::optional<ValueId>& input : layer.inputs) {
    if (!input || std::find(seen.begin(), seen.end(), *input) != seen.end()) continue;
    seen.push_back(*input);
    const Value& value = graph.value(*input);
    if (value.kind == ValueKind::kWeight) layer.parameters += SizeOf(value);
    if (layer.status == LayerStatus::kUnknown && !layer.least) layer.work.operand_reads.push_back(SizeOf(value));
  }
  if (layer.workload || layer.least) {
    layer.work = WorkOf(layer.workload ? *layer.workload : *layer.least);
    return;
  }
  for (const std::optional<ValueId>& output : layer.outputs)
    if (output) layer.work.written += SizeOf(graph.value(*output));
}

}  // namespace

void ClassifyLayers(ModelGraph& graph, const Opsets& opsets, const StatedQuantities& stated) {
  for (Layer& layer : graph.layers) {
    if (layer.reason.empty()) LowerLayer(graph, opsets, stated, layer, graph.quantities);
    CountWork(graph, layer);
  }
  StateChosenExperts(graph, stated);
}

namespace {

constexpr std::int64_t kMostNodes = 1'000'000;

// How many nodes the calls become.
class Expansion {
 public:
  explicit Expansion(const onnx::ModelProto& model) {
    for (const onnx::FunctionProto& function : model.functions())
      functions_[Key(function.domain(), function.name())] = {&function};
  }

  template <class Nodes>
  Result<std::int64_t> Count(const Nodes& nodes) {
    std::int64_t count = 0;
    for (const onnx::NodeProto& node : nodes) {
      INFIMUM_ASSIGN_OR_RETURN(const std::int64_t own, CountCall(node));
      count = std::min(kMostNodes + 1, count + own);
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        INFIMUM_ASSIGN_OR_RETURN(const std::int64_t inner, Count(attribute.g().node()));
        count = std::min(kMostNodes + 1, count + inner);
      }
    }
    return count;
  }

 private:
  struct Function {
    const onnx::FunctionProto* proto = nullptr;
    bool counting = false;
    std::int64_t nodes = -1;  // not counted yet
  };

  static std::string Key(const std::string& domain, const std::string& name) {
    return (domain == "ai.onnx" ? "" : domain) + "." + name;
  }

  Result<std::int64_t> CountCall(const onnx::NodeProto& node) {
    const auto found = functions_.find(Key(node.domain(), node.op_type()));
    if (found == functions_.end()) return std::int64_t{1};
    Function& function = found->second;
    if (function.counting) return Error{"function " + Quoted(found->first) + " calls itself, which ONNX forbids"};
    if (function.nodes < 0) {
      function.counting = true;
      if (++depth_ > kDeepest)
        return Error{"calls of functions are nested more than " + std::to_string(kDeepest) + " deep"};
      INFIMUM_ASSIGN_OR_RETURN(function.nodes, Count(function.proto->node()));
      --depth_;
      function.counting = false;
    }
    return function.nodes;
  }

  static constexpr int kDeepest = 100;
  std::map<std::string, Function> functions_;
  int depth_ = 0;
};

}  // namespace

Status InlineLocalFunctions(onnx::ModelProto& model) {
  if (model.functions_size() == 0) return {};
  Expansion expansion(model);
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t nodes, expansion.Count(model.graph().node()));
  if (nodes > kMostNodes)
    return Error{
        "inlining its functions would give more than a million nodes; save the model with fewer nested functions"};
  try {
    onnx::inliner::InlineLocalFunctions(model);
  } catch (const std::exception& problem) {
    return Error{std::string("its functions cannot be inlined: ") + MessageLine(problem.what())};
  }
  return {};
}

namespace {

// Layers are made of their values' types only afterwards.
void StoreFloatsAs(DataType type, ModelGraph& graph) {
  for (Value& value : graph.values)
    if (value.type == DataType::kF32 || value.type == DataType::kF16 || value.type == DataType::kBF16)
      value.type = type;
  for (Layer& layer : graph.layers)
    for (SubGraph& body : layer.bodies)
      if (body.graph != nullptr) StoreFloatsAs(type, *body.graph);
}

// Bodies first: a layer's bodies are finished when the layer is looked at.
void Finish(ModelGraph& graph, const ReadOptions& options, const Opsets& opsets) {
  for (Layer& layer : graph.layers)
    for (SubGraph& body : layer.bodies) Finish(*body.graph, options, opsets);
  if (options.apply_rewrites) ApplyRewrites(graph);
  if (options.weights) graph.passes.push_back(StoreWeightsAs(*options.weights, graph));
  ClassifyLayers(graph, opsets, options.dims);
}

// What was stated of a run belongs to something in the model, and can be.
Status CheckQuantities(const ModelGraph& graph, const std::map<std::string, std::int64_t>& dims) {
  std::vector<RunTimeQuantity> quantities;
  VisitQuantities(graph, [&](const RunTimeQuantity& quantity) { quantities.push_back(quantity); });
  for (const auto& [name, number] : dims) {
    if (!IsQuantity(name)) continue;
    const std::string where = "--assume " + name + "=" + std::to_string(number);
    std::set<std::string> names;
    bool is_used = false;
    for (const RunTimeQuantity& quantity : quantities) {
      names.insert(quantity.name);
      names.insert(quantity.name + "@" + quantity.layer);
      if (name != quantity.name && name != quantity.name + "@" + quantity.layer) continue;
      is_used = true;
      if (quantity.stated == number && (number < quantity.least || number > quantity.most))
        return Error{where + ": of layer " + Quoted(quantity.layer) + " it is from " + std::to_string(quantity.least) +
                     " to " + std::to_string(quantity.most)};
    }
    if (is_used) continue;
    if (names.empty()) return Error{where + ": nothing in the model depends on it"};
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string hint = DidYouMean(name, views);
    return Error{where + ": the model has none" + (hint.empty() ? "; it has " + *names.begin() : hint)};
  }
  return {};
}

// Of ONNX's own operators; what others' domains have is theirs to know.
Status CheckOpset(const onnx::ModelProto& model) {
  const int newest = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
  for (const onnx::OperatorSetIdProto& import : model.opset_import())
    if ((import.domain().empty() || import.domain() == "ai.onnx") && import.version() > newest)
      return Error{"operator set " + std::to_string(import.version()) +
                   " is none that is known: ONNX's newest here is " + std::to_string(newest)};
  return {};
}

Result<ModelGraph> Read(ModelFile& file, const ReadOptions& options) {
  INFIMUM_RETURN_IF_ERROR(CheckOpset(file.model()));
  INFIMUM_RETURN_IF_ERROR(InlineLocalFunctions(file.model()));
  const onnx::GraphProto& proto = file.model().graph();
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<onnx::TypeProto*> types, BindInputs(proto, options.dims, file.arena()));
  std::vector<KnownValue> arguments(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) arguments[i].type = types[i];

  ReadContext context(file, options);
  OnnxGraphBuilder builder(context, nullptr);
  INFIMUM_RETURN_IF_ERROR(builder.Build(proto, arguments));
  ModelGraph graph = builder.Take();
  graph.sha256 = file.sha256();
  graph.weights = context.weights().Take();
  if (options.floats) StoreFloatsAs(*options.floats, graph);
  Finish(graph, options, context.opsets());
  INFIMUM_RETURN_IF_ERROR(CheckQuantities(graph, options.dims));
  return graph;
}

// Of all tensors that lie beside the model, wherever in a message they are; protobuf has limited how deep.
void AddLocations(const google::protobuf::Message& message, std::set<std::string>& locations) {
  if (const auto* tensor = dynamic_cast<const onnx::TensorProto*>(&message))
    if (const std::string location = ExternalEntry(*tensor, "location"); !location.empty()) locations.insert(location);
  const google::protobuf::Reflection& fields = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> present;
  fields.ListFields(message, &present);
  for (const google::protobuf::FieldDescriptor* field : present) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) AddLocations(fields.GetMessage(message, field), locations);
    for (int i = 0; field->is_repeated() && i < fields.FieldSize(message, field); ++i)
      AddLocations(fields.GetRepeatedMessage(message, field, i), locations);
  }
}

}  // namespace

std::string ModelName(const std::filesystem::path& path) {
  std::string name = path.stem().string();
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::absolute(path, failed).lexically_normal().parent_path();
  if (name != "model" || failed) return name;
  if (folder.filename() == "onnx") folder = folder.parent_path();
  return folder.filename().empty() ? name : folder.filename().string();
}

Result<ModelGraph> ReadModel(const std::filesystem::path& path, const ReadOptions& options) {
  try {
    INFIMUM_ASSIGN_OR_RETURN(ModelFile file, ModelFile::Open(path));
    return Within(path.string(), Read(file, options));
  } catch (const std::bad_alloc&) {
    return Error{path.string() + ": there is not enough memory to read it"};
  }
}

std::string HashOfExternalData(const std::filesystem::path& model) {
  std::set<std::string> locations;
  if (const Result<ModelFile> file = ModelFile::Open(model); file.ok()) AddLocations(file->model(), locations);
  if (locations.empty()) return "";
  // The model's own content says which they are; what remains is what is in them.
  std::string contents;
  for (const std::string& location : locations) {
    const Result<std::filesystem::path> path = ExternalData(model).PathOf(location);
    const std::optional<std::string> content = path.ok() ? Sha256OfFile(*path) : std::nullopt;
    contents += content.value_or("absent") + "\n";
  }
  return (contents.find("absent") == std::string::npos ? "+" : "+absent ") + Sha256(std::as_bytes(std::span(contents)));
}

Result<std::vector<DeclaredInput>> ReadModelInputs(const std::filesystem::path& path) {
  try {
    INFIMUM_ASSIGN_OR_RETURN(const ModelFile file, ModelFile::Open(path));
    return DeclaredInputs(file.model().graph());
  } catch (const std::bad_alloc&) {
    return Error{path.string() + ": there is not enough memory to read it"};
  }
}

}  // namespace infimum
