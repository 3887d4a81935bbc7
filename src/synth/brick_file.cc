#include "src/synth/brick_file.h"

#include <onnx/defs/schema.h>
#include <onnx/inliner/inliner.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "src/readers/onnx/parse/model_file.h"
#include "src/readers/onnx/parse/proto_conversion.h"
#include "src/readers/onnx/read_model.h"
#include "src/synth/weight_values.h"

namespace infimum::synth {

struct BrickSource::Content {
  struct Reader {
    const onnx::NodeProto* node = nullptr;
    int operand = 0;
  };

  std::string name;
  ModelFile file;
  ModelGraph raw;    // each node a layer: types, shapes and constants of all values
  ModelGraph graph;  // as it is measured
  std::map<std::string, std::int64_t, std::less<>> opsets = {};
  // By names of values in the main graph.
  std::unordered_map<std::string_view, const Value*> values = {};
  std::unordered_map<std::string_view, int> producers = {};      // nodes
  std::unordered_map<std::string_view, std::size_t> ranks = {};  // of producers, in topological order
  std::unordered_map<std::string_view, Reader> first_readers = {};
  std::unordered_map<std::string_view, const onnx::TensorProto*> initializers = {};
  std::vector<std::vector<std::size_t>> readers = {};  // by value of `graph`, layers

  const onnx::GraphProto& proto() const { return file.model().graph(); }
  void Index();
};

void BrickSource::Content::Index() {
  for (const onnx::OperatorSetIdProto& import : file.model().opset_import())
    opsets[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
  for (const Value& value : raw.values) values.emplace(value.name, &value);
  for (std::size_t i = 0; i < raw.layers.size(); ++i)
    for (const std::optional<ValueId>& output : raw.layers[i].outputs)
      if (output) ranks.emplace(raw.value(*output).name, i);
  for (int i = 0; i < proto().node_size(); ++i) {
    const onnx::NodeProto& node = proto().node(i);
    for (const std::string& output : node.output())
      if (!output.empty()) producers.emplace(output, i);
    for (int k = 0; k < node.input_size(); ++k)
      if (!node.input(k).empty()) first_readers.emplace(node.input(k), Reader{&node, k});
  }
  for (const onnx::TensorProto& tensor : proto().initializer()) initializers.emplace(tensor.name(), &tensor);
  readers.resize(graph.values.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (const std::optional<ValueId>& input : graph.layers[i].inputs)
      if (input) readers[input->index()].push_back(i);
}

namespace {

constexpr std::int64_t kMostIndices = 4096, kMostNumbers = 8;  // of a constant that is no weight
constexpr std::int64_t kMostInside = std::int64_t{3} << 29;    // protobuf reads no message of 2 GiB
constexpr int kLeastIrVersion = 4;                             // with initializers that are no inputs
constexpr std::string_view kDomains[] = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft"};

// Whose result is a weight where its operand is one: as on the way to who reads it.
bool PassesWeights(std::string_view op) {
  constexpr std::string_view kPassing[] = {"Transpose", "Reshape",          "Cast",          "Identity", "Unsqueeze",
                                           "Squeeze",   "DequantizeLinear", "QuantizeLinear"};
  return std::ranges::find(kPassing, op) != std::end(kPassing);
}

const onnx::TensorProto* ConstantTensor(const onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || node.attribute_size() != 1 || !node.attribute(0).has_t()) return nullptr;
  return &node.attribute(0).t();
}

// Indices and parameters that decide shapes, where results come from or whether they are numbers: by their count.
bool IsSmall(DataType type, std::int64_t elements) {
  const bool is_index = type == DataType::kBool || (IsInteger(type) && BitsPerElement(type) >= 32);
  return type == DataType::kNone || elements <= (is_index ? kMostIndices : kMostNumbers);
}

class BrickMaker {
 public:
  BrickMaker(const BrickSource::Content& source, const BrickOptions& options)
      : source_(source), options_(options), external_(source.file.path()) {}

  Result<std::string> Make(const Piece& piece) {
    INFIMUM_RETURN_IF_ERROR(FindEnds(piece));
    INFIMUM_RETURN_IF_ERROR(Walk());
    onnx::GraphProto& graph = *model_.mutable_graph();
    graph.set_name(options_.anonymize ? "brick" : source_.proto().name());
    for (const std::string_view input : inputs_) INFIMUM_RETURN_IF_ERROR(Describe(input, true, *graph.add_input()));
    for (const std::string_view constant : constants_) INFIMUM_RETURN_IF_ERROR(AddConstant(constant, graph));
    std::vector<int> order(nodes_.begin(), nodes_.end());
    const auto rank = [this](int node) {
      for (const std::string& output : source_.proto().node(node).output())
        if (const auto found = source_.ranks.find(output); found != source_.ranks.end()) return found->second;
      return std::size_t{0};
    };
    std::ranges::stable_sort(order, [&](int a, int b) { return rank(a) < rank(b); });
    for (const int node : order) INFIMUM_RETURN_IF_ERROR(CopyNode(source_.proto().node(node), graph));
    for (const ValueId end : ends_)
      INFIMUM_RETURN_IF_ERROR(Describe(source_.graph.value(end).name, false, *graph.add_output()));
    const onnx::ModelProto& from = source_.file.model();
    model_.set_ir_version(std::max<std::int64_t>(from.ir_version(), kLeastIrVersion));
    model_.set_producer_name("infimum");
    if (!options_.anonymize) model_.set_domain(from.domain());
    for (const auto& [domain, version] : source_.opsets) {
      if (options_.anonymize && !domain.empty() && !domains_.contains(domain)) continue;
      onnx::OperatorSetIdProto& import = *model_.add_opset_import();
      import.set_domain(domain);
      import.set_version(version);
    }
    return model_.SerializeAsString();
  }

 private:
  // Which values of the piece are read outside, and where it begins.
  Status FindEnds(const Piece& piece) {
    const ModelGraph& graph = source_.graph;
    std::set<std::size_t> layers;
    for (const LayerId id : piece.layers) layers.insert(id.index());
    std::vector<bool> own(graph.values.size());
    // What a rewrite invented ends in the layers behind it.
    for (auto at = layers.begin(); at != layers.end();) {
      std::size_t next = *at + 1;
      for (const std::optional<ValueId>& output : graph.layers[*at].outputs) {
        if (!output) continue;
        own[output->index()] = true;
        if (source_.ranks.contains(graph.value(*output).name)) continue;
        layers.insert(source_.readers[output->index()].begin(), source_.readers[output->index()].end());
      }
      at = layers.lower_bound(next);
    }
    for (const std::size_t i : layers) {
      for (const std::optional<ValueId>& output : graph.layers[i].outputs) {
        if (!output || graph.value(*output).kind == ValueKind::kWeight) continue;
        const std::vector<std::size_t>& readers = source_.readers[output->index()];
        const auto is_outside = [&](std::size_t reader) { return !layers.contains(reader); };
        if (graph.value(*output).is_graph_output || std::ranges::any_of(readers, is_outside)) ends_.push_back(*output);
      }
      for (const std::optional<ValueId>& input : graph.layers[i].inputs)
        if (input && !own[input->index()] && graph.value(*input).kind != ValueKind::kWeight)
          stops_.insert(graph.value(*input).name);
    }
    return ends_.empty() ? Status(Error{"nothing reads what it computes"}) : Status();
  }

  // From the ends to the values where the piece begins, and to constants.
  Status Walk() {
    std::vector<std::string_view> open;
    for (const ValueId end : ends_) open.push_back(source_.graph.value(end).name);
    std::unordered_set<std::string_view> seen;
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      if (!seen.insert(name).second) continue;
      if (stops_.contains(name)) {
        inputs_.insert(name);
        continue;
      }
      const auto value = source_.values.find(name);
      const auto producer = source_.producers.find(name);
      if (value == source_.values.end()) return Error{"a rewrite made a part of it that the model lacks"};
      const Value& known = *value->second;
      if (source_.initializers.contains(name)) {
        constants_.insert(name);
      } else if (producer == source_.producers.end()) {
        if (known.kind != ValueKind::kGraphInput)
          return Error{"it is in a branch of an If whose condition is known, or reads a sparse constant"};
        inputs_.insert(name);
      } else if (const onnx::NodeProto& node = source_.proto().node(producer->second); IsLeaf(node, known)) {
        constants_.insert(name);
      } else if (nodes_.insert(producer->second).second) {
        AddOperands(node, open);
      }
    }
    return {};
  }

  // Whether a node's result is stored or made in place of the node.
  bool IsLeaf(const onnx::NodeProto& node, const Value& value) const {
    if (ConstantTensor(node) != nullptr) return true;
    if (value.kind != ValueKind::kWeight || !value.shape) return false;
    if (value.constant && !IsFloatingPoint(value.type)) return true;
    return node.op_type() == "ConstantOfShape" && !options_.own_weights &&
           !IsSmall(value.type, ElementCount(*value.shape));
  }

  // What it reads; also what its bodies take from outside: ONNX lets no name of theirs hide one of the main graph.
  void AddOperands(const onnx::NodeProto& node, std::vector<std::string_view>& open) const {
    const auto add = [&](const std::string& name) {
      if (!name.empty() && source_.values.contains(name)) open.push_back(name);
    };
    for (const std::string& input : node.input()) add(input);
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      for (const onnx::NodeProto& inner : attribute.g().node()) AddOperands(inner, open);
      for (const onnx::ValueInfoProto& output : attribute.g().output()) add(output.name());
    }
  }

  std::string NameOf(std::string_view name) {
    if (name.empty() || !options_.anonymize) return std::string(name);
    return names_.try_emplace(std::string(name), "value-" + std::to_string(names_.size() + 1)).first->second;
  }

  Status Describe(std::string_view name, bool must_be_static, onnx::ValueInfoProto& info) {
    const auto found = source_.values.find(name);
    if (found == source_.values.end()) return Error{"its result is not the model's"};
    const Value& value = *found->second;
    if (value.type == DataType::kNone || (must_be_static && !value.shape))
      return Error{(must_be_static ? "its input " : "its result ") + (options_.anonymize ? "" : Quoted(name) + " ") +
                   "has no known " + (value.type == DataType::kNone ? "type of numbers" : "shape")};
    info.set_name(NameOf(name));
    if (value.shape)
      SetTensorType(OnnxTypeOf(value.type), *value.shape, *info.mutable_type());
    else
      info.mutable_type()->mutable_tensor_type()->set_elem_type(OnnxTypeOf(value.type));
    return {};
  }

  Status AddConstant(std::string_view name, onnx::GraphProto& graph) {
    const Value& value = *source_.values.at(name);
    if (const auto found = source_.initializers.find(name); found != source_.initializers.end())
      return AddTensor(name, *found->second, graph);
    const onnx::NodeProto& node = source_.proto().node(source_.producers.at(name));
    if (const onnx::TensorProto* tensor = ConstantTensor(node)) return AddTensor(name, *tensor, graph);
    if (!value.constant) return AddWeight(name, value.type, *value.shape, graph);
    onnx::TensorProto& tensor = *graph.add_initializer();
    EncodeTensor(*value.constant, tensor);
    tensor.set_name(NameOf(name));
    return {};
  }

  Status AddTensor(std::string_view name, const onnx::TensorProto& from, onnx::GraphProto& graph) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape shape, CheckedShapeOf(from));
    const DataType type = DataTypeOf(from.data_type());
    if (!options_.own_weights && (IsQuantizedBias(name, type) || !IsSmall(type, ElementCount(shape))))
      return AddWeight(name, type, shape, graph);
    INFIMUM_RETURN_IF_ERROR(CountBytes(SizeOf(type, ElementCount(shape))));
    onnx::TensorProto& to = *graph.add_initializer();
    INFIMUM_RETURN_IF_ERROR(CopyTensor(from, shape, to));
    to.set_name(NameOf(name));
    return {};
  }

  Status CountBytes(Bytes more) {
    stored_ += more.value;
    if (stored_ <= kMostInside) return {};
    return Error{"its weights are more than a file of ONNX holds: let them be made (without --weights)"};
  }

  Status CopyTensor(const onnx::TensorProto& from, const Shape& shape, onnx::TensorProto& to) {
    if (options_.anonymize && from.data_type() == onnx::TensorProto::STRING) return Error{"it holds texts"};
    to = from;
    to.clear_name();
    to.clear_doc_string();
    to.clear_metadata_props();
    if (from.data_location() == onnx::TensorProto::EXTERNAL) {
      INFIMUM_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, external_.Check(from, shape));
      if (DataTypeOf(from.data_type()) == DataType::kNone)
        return Error{"a constant beside the model has no known type"};
      to.clear_external_data();
      to.clear_data_location();
      to.set_raw_data(bytes.data(), bytes.size());
    } else if (ElidedOf(from)) {
      const StoredElements stored = source_.file.ElementsOf(from);
      if (stored.bytes.empty()) return Error{"a constant has elements in several fields"};
      // The field as it is in the file: of length-delimited wire type, then its length in groups of seven bits.
      std::string wire(1, static_cast<char>(stored.field << 3 | 2));
      std::size_t length = stored.bytes.size();
      for (; length >= 128; length >>= 7) wire += static_cast<char>((length & 127U) | 128U);
      wire += static_cast<char>(length);
      wire.append(reinterpret_cast<const char*>(stored.bytes.data()), stored.bytes.size());
      if (!to.MergeFromString(wire)) return Error{"the elements of a constant cannot be read"};
    }
    return {};
  }

  // Frameworks take its scale to be that of the products that it is added to, whatever the file says: it is zero.
  bool IsQuantizedBias(std::string_view name, DataType type) const {
    const auto reader = source_.first_readers.find(name);
    if (type != DataType::kS32 || reader == source_.first_readers.end()) return false;
    const std::string& op = reader->second.node->op_type();
    return (op == "DequantizeLinear" && reader->second.operand == 0) ||
           (op == "QLinearConv" && reader->second.operand == 8);
  }

  // By who reads it, over what passes it on.
  WeightValues ValuesOf(std::string_view name, DataType type, const Shape& shape) const {
    std::string_view op;
    int operand = 0;
    for (int steps = 0; steps < 8; ++steps) {
      const auto found = source_.first_readers.find(name);
      if (found == source_.first_readers.end()) break;
      op = found->second.node->op_type();
      operand = found->second.operand;
      if (!PassesWeights(op) || operand != 0 || found->second.node->output_size() == 0) break;
      name = found->second.node->output(0);
    }
    const auto rank = shape.rank();
    if (type == DataType::kBool) return {type, 1};
    if (type == DataType::kU8 || type == DataType::kS8) {
      const double zero = type == DataType::kU8 ? 128 : 0;
      return rank < 2 ? WeightValues{type, zero, zero, 0} : WeightValues{type, zero + 1, zero, 64};
    }
    if (!IsFloatingPoint(type)) return {type, 0, 0, 0};
    if (rank >= 2) {
      const std::int64_t elements = std::max<std::int64_t>(ElementCount(shape), 1), first = shape.dims[0];
      std::int64_t fan_in = shape.dims[rank - 1];
      if (op == "Conv" || op == "ConvTranspose") fan_in = first > 0 ? elements / first : 1;
      if (op == "Gemm") fan_in = std::min(first, fan_in);
      if (op == "MatMul") fan_in = shape.dims[rank - 2];
      return ValuesOfProduct(type, std::max<std::int64_t>(fan_in, 1));
    }
    // Scales of 8-bit values.
    const bool is_scale = (op.starts_with("QLinear") && operand > 0) ||
                          (op.ends_with("quantizeLinear") && operand == 1) || (op == "QuantizeLinear" && operand == 1);
    return is_scale ? WeightValues{type, 1.0 / 128, 1.0 / 128, 0.5 / 128} : WeightValues{type, 1, 1, 0.5};
  }

  Status AddWeight(std::string_view name, DataType type, const Shape& shape, onnx::GraphProto& graph) {
    const WeightValues values = ValuesOf(name, type, shape);
    const std::int64_t elements = ElementCount(shape);
    const auto opset = source_.opsets.find("");
    const bool has_operator = opset != source_.opsets.end() && opset->second >= (type == DataType::kBF16 ? 20 : 9);
    if (!options_.seed && has_operator && HasValues(type)) {
      std::string of_shape = options_.anonymize ? NameOf(std::string(name) + "_shape") : std::string(name) + "_shape";
      while (source_.values.contains(of_shape)) of_shape += "_";
      onnx::TensorProto& dims = *graph.add_initializer();
      dims.set_name(of_shape);
      dims.set_data_type(onnx::TensorProto::INT64);
      dims.add_dims(static_cast<std::int64_t>(shape.rank()));
      for (const std::int64_t extent : shape.dims) dims.add_int64_data(extent);
      onnx::NodeProto& node = *graph.add_node();
      node.set_op_type("ConstantOfShape");
      node.set_name(of_shape + "_made");
      node.add_input(of_shape);
      node.add_output(NameOf(name));
      onnx::AttributeProto& value = *node.add_attribute();
      value.set_name("value");
      value.set_type(onnx::AttributeProto::TENSOR);
      value.mutable_t()->add_dims(1);
      value.mutable_t()->set_data_type(OnnxTypeOf(type));
      AppendValue(type, MadeValue(values, shape.rank() < 2 ? 0 : made_++), *value.mutable_t()->mutable_raw_data());
      return {};
    }
    INFIMUM_RETURN_IF_ERROR(CountBytes(SizeOf(type, elements)));
    onnx::TensorProto& to = *graph.add_initializer();
    to.set_name(NameOf(name));
    to.set_data_type(OnnxTypeOf(type));
    for (const std::int64_t extent : shape.dims) to.add_dims(extent);
    std::string& bytes = *to.mutable_raw_data();
    if (!HasValues(type)) {
      // Two ones of 4 bits, or a normal number of 8.
      bytes.assign(static_cast<std::size_t>(SizeOf(type, elements).value), '\x11');
      return {};
    }
    // FNV-1a of its name.
    std::uint64_t number = 0xcbf29ce484222325ULL;
    for (const char c : name) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    WeightValues chosen = values;
    if (!options_.seed) chosen.middle = values.made, chosen.spread = 0;
    AppendRandom(chosen, RandomState(options_.seed.value_or(0), number), 0, elements, bytes);
    return {};
  }

  Status CopyNode(const onnx::NodeProto& from, onnx::GraphProto& graph) {
    const std::string domain = from.domain() == "ai.onnx" ? "" : from.domain();
    const bool is_onnx = std::ranges::find(kDomains, domain) != std::end(kDomains);
    const auto opset = source_.opsets.find(domain);
    if (!is_onnx || opset == source_.opsets.end() ||
        (domain != "com.microsoft" &&
         onnx::OpSchemaRegistry::Schema(from.op_type(), static_cast<int>(opset->second), domain) == nullptr))
      return Error{(options_.anonymize && !is_onnx ? "an operator" : Quoted(from.op_type())) +
                   " is neither ONNX's nor ONNX Runtime's"};
    domains_.insert(domain);
    if (const onnx::TensorProto* tensor = ConstantTensor(from)) return AddTensor(from.output(0), *tensor, graph);
    onnx::NodeProto to;
    to.set_op_type(from.op_type());
    to.set_domain(domain);
    to.set_name(options_.anonymize ? from.op_type() + "-" + std::to_string(++nodes_named_) : from.name());
    for (const std::string& input : from.input()) to.add_input(NameOf(input));
    for (const std::string& output : from.output()) to.add_output(NameOf(output));
    for (const onnx::AttributeProto& attribute : from.attribute()) {
      onnx::AttributeProto& own = *to.add_attribute();
      own = attribute;
      own.clear_doc_string();
      const bool holds_texts = attribute.name() == "value_string" || attribute.name() == "default_string" ||
                               attribute.has_tp() ||
                               (attribute.strings_size() > 0 && attribute.name() != "activations");
      if (options_.anonymize && holds_texts) return Error{"it holds texts"};
      if (attribute.has_g()) {
        own.clear_g();
        INFIMUM_RETURN_IF_ERROR(CopyBody(attribute.g(), *own.mutable_g()));
      }
      if (attribute.has_t()) {
        INFIMUM_ASSIGN_OR_RETURN(const Shape shape, CheckedShapeOf(attribute.t()));
        INFIMUM_RETURN_IF_ERROR(CopyTensor(attribute.t(), shape, *own.mutable_t()));
      }
    }
    *graph.add_node() = std::move(to);
    return {};
  }

  Status CopyBody(const onnx::GraphProto& from, onnx::GraphProto& to) {
    if (from.sparse_initializer_size() > 0) return Error{"a body has sparse constants"};
    to.set_name(options_.anonymize ? "body" : from.name());
    const auto copy = [&](const onnx::ValueInfoProto& info, onnx::ValueInfoProto& own) {
      own.set_name(NameOf(info.name()));
      *own.mutable_type() = info.type();
      if (!options_.anonymize) return;
      own.mutable_type()->clear_denotation();
      if (!info.type().has_tensor_type()) return;
      for (onnx::TensorShapeProto::Dimension& dim :
           *own.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        dim.clear_denotation();
        if (dim.has_dim_param()) dim.clear_dim_param();
      }
      if (!info.type().tensor_type().has_shape()) own.mutable_type()->mutable_tensor_type()->clear_shape();
    };
    for (const onnx::ValueInfoProto& input : from.input()) copy(input, *to.add_input());
    for (const onnx::ValueInfoProto& output : from.output()) copy(output, *to.add_output());
    for (const onnx::TensorProto& tensor : from.initializer())
      INFIMUM_RETURN_IF_ERROR(AddTensor(tensor.name(), tensor, to));
    for (const onnx::NodeProto& node : from.node()) INFIMUM_RETURN_IF_ERROR(CopyNode(node, to));
    return {};
  }

  const BrickSource::Content& source_;
  const BrickOptions& options_;
  ExternalData external_;
  onnx::ModelProto model_;
  std::size_t made_ = 0;                           // weights so far
  std::vector<ValueId> ends_;                      // of `graph`
  std::unordered_set<std::string_view> stops_;     // where it may begin
  std::set<std::string_view> inputs_, constants_;  // where it does
  std::set<int> nodes_;
  std::unordered_map<std::string, std::string> names_;
  std::set<std::string, std::less<>> domains_;
  std::int64_t stored_ = 0, nodes_named_ = 0;
};

std::string Digest(const std::string& text) { return Sha256(std::as_bytes(std::span(text))).substr(0, 12); }

}  // namespace

BrickSource::BrickSource(std::unique_ptr<Content> content) : content_(std::move(content)) {}
BrickSource::BrickSource(BrickSource&&) noexcept = default;
BrickSource::~BrickSource() = default;
const std::string& BrickSource::name() const { return content_->name; }
const ModelGraph& BrickSource::graph() const { return content_->graph; }

Result<BrickSource> BrickSource::Open(const std::filesystem::path& path,
                                      const std::map<std::string, std::int64_t>& dims) {
  // The reader refuses what is no sound model; after it nothing of the file is doubtful but its payloads.
  ReadOptions options{.dims = dims};
  INFIMUM_ASSIGN_OR_RETURN(ModelGraph graph, ReadModel(path, options));
  options.apply_rewrites = false;
  INFIMUM_ASSIGN_OR_RETURN(ModelGraph raw, ReadModel(path, options));
  INFIMUM_ASSIGN_OR_RETURN(ModelFile file, ModelFile::Open(path));
  try {
    if (file.model().functions_size() > 0) onnx::inliner::InlineLocalFunctions(file.model());
  } catch (const std::exception& problem) {
    return Error{path.string() + ": its functions cannot be inlined: " + MessageLine(problem.what())};
  }
  auto content = std::make_unique<Content>(Content{ModelName(path), std::move(file), std::move(raw), std::move(graph)});
  content->Index();
  return BrickSource(std::move(content));
}

Result<std::string> BrickSource::Make(const Piece& piece, const BrickOptions& options) const {
  return BrickMaker(*content_, options).Make(piece);
}

std::int64_t Brick::count() const {
  std::int64_t sum = 0;
  for (const BrickUse& use : uses) sum += use.count;
  return sum;
}

Result<std::vector<Brick>> CollectBricks(const std::vector<BrickSource>& models, const Cut& cut,
                                         const BrickOptions& options) {
  std::vector<Brick> bricks;
  std::unordered_map<std::string, std::size_t> known;  // by text
  std::optional<Error> missing;
  for (std::size_t m = 0; m < models.size(); ++m) {
    Result<std::vector<Piece>> pieces = CutGraph(models[m].graph(), cut);
    if (!pieces.ok()) {
      missing = Error{models[m].name() + ": " + pieces.error().message};
      continue;
    }
    for (const Piece& piece : *pieces) {
      std::string text = piece.text;
      // Made and without names two files are alike exactly where the nodes are.
      if (!piece.is_exact)
        if (const Result<std::string> bare = models[m].Make(piece, {.anonymize = true}); bare.ok())
          text += " #" + Digest(*bare);
      const auto [found, is_new] = known.emplace(text, bricks.size());
      if (is_new) {
        Brick brick{piece.kind + "-" + Digest(text), text, piece.flops, piece.moved, {}, "", ""};
        Result<std::string> file = models[m].Make(piece, options);
        (file.ok() ? brick.file : brick.left_out) = file.ok() ? std::move(*file) : file.error().message;
        // Its operator may be the owner's.
        if (options.anonymize && !file.ok() && !piece.is_exact) {
          brick.name = "custom-" + std::to_string(bricks.size() + 1);
          brick.text.clear();
        }
        bricks.push_back(std::move(brick));
      }
      std::vector<BrickUse>& uses = bricks[found->second].uses;
      if (uses.empty() || uses.back().model != m) {
        uses.push_back({m, 0, {}});
        for (const LayerId id : piece.layers) uses.back().layers.push_back(models[m].graph().layer(id).name);
      }
      ++uses.back().count;
    }
  }
  if (bricks.empty() && missing) return *missing;
  return bricks;
}

}  // namespace infimum::synth
