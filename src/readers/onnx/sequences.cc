// Sequences that a SplitToSequence makes and SequenceAt alone takes apart, as PyTorch's exporter writes a split: a
// Split whose results SequenceAt hands on. Not in a graph with bodies, which may read a sequence too.
#include <algorithm>
#include <unordered_set>

#include "src/core/graph/tensor.h"
#include "src/readers/onnx/graph_builder.h"
#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {
namespace {

using google::protobuf::Arena;

// Extents of the parts of `extent`: as `split` lists them; of its size and what is left over where it is a single
// number; of one where there is none. Nullopt where they do not add up, or are more than a model has.
std::optional<std::vector<std::int64_t>> PartsOf(std::int64_t extent,
                                                 const std::optional<std::vector<std::int64_t>>& split,
                                                 bool is_single) {
  constexpr std::int64_t kMostParts = 64;
  if (split && !is_single) {
    std::int64_t sum = 0;
    for (const std::int64_t part : *split) {
      if (part < 0 || part > extent - sum) return std::nullopt;
      sum += part;
    }
    return sum == extent && std::ssize(*split) <= kMostParts ? split : std::nullopt;
  }
  const std::int64_t each = split ? split->at(0) : 1;
  if (each < 1 || extent / each > kMostParts) return std::nullopt;
  std::vector<std::int64_t> parts(static_cast<std::size_t>(extent / each), each);
  if (extent % each != 0) parts.push_back(extent % each);
  return parts;
}

bool IsOfOnnx(const onnx::NodeProto& node, std::string_view op) {
  return node.op_type() == op && (node.domain().empty() || node.domain() == "ai.onnx");
}

}  // namespace

void OnnxGraphBuilder::FindIndexedSequences(const onnx::GraphProto& graph) {
  for (const onnx::NodeProto& node : graph.node())
    if (IsOfOnnx(node, "SplitToSequence") && node.output_size() == 1) sequences_[node.output(0)];
  if (sequences_.empty()) return;
  std::unordered_set<std::string_view> constants;
  for (const onnx::TensorProto& tensor : graph.initializer()) constants.insert(tensor.name());
  for (const onnx::NodeProto& node : graph.node())
    if (node.op_type() == "Constant" && node.output_size() == 1) constants.insert(node.output(0));
  for (const onnx::NodeProto& node : graph.node()) {
    if (std::ranges::any_of(node.attribute(), [](const auto& a) { return a.has_g() || a.graphs_size() > 0; }))
      return sequences_.clear();
    const bool takes = IsOfOnnx(node, "SequenceAt") && node.input_size() == 2 && constants.contains(node.input(1));
    for (int i = takes ? 1 : 0; i < node.input_size(); ++i) sequences_.erase(node.input(i));
  }
  for (const onnx::ValueInfoProto& output : graph.output()) sequences_.erase(output.name());
}

std::optional<std::vector<std::int64_t>> OnnxGraphBuilder::KnownIntegers(ValueId id) {
  if (!known(id).constant) return std::nullopt;
  auto integers = IntegersOf(TensorOf(known(id)));
  return integers && !integers->empty() ? std::move(integers) : std::nullopt;
}

Result<bool> OnnxGraphBuilder::AddSplit(const onnx::NodeProto& node, Layer& layer) {
  const auto sequence = node.output_size() == 1 ? sequences_.find(node.output(0)) : sequences_.end();
  if (sequence == sequences_.end() || !sequence->second.empty() || layer.inputs.empty() || !layer.inputs[0])
    return false;
  const std::optional<Shape> whole = graph_.value(*layer.inputs[0]).shape;
  const KnownValue read = known(*layer.inputs[0]);
  if (!whole || read.type == nullptr || read.constant) return false;
  const auto integer = [&](const char* name, std::int64_t otherwise) {
    const auto found = layer.attributes.find(name);
    const auto* given = found == layer.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    return given == nullptr ? otherwise : *given;
  };
  const auto rank = static_cast<std::int64_t>(whole->rank());
  std::int64_t axis = integer("axis", 0);
  if (axis < 0) axis += rank;
  const bool has_split = layer.inputs.size() > 1 && layer.inputs[1];
  const auto split = has_split ? KnownIntegers(*layer.inputs[1]) : std::nullopt;
  // Parts of one element whose dimension goes are views of views.
  if (axis < 0 || axis >= rank || (has_split && !split) || (!has_split && integer("keepdims", 1) == 0)) return false;
  const bool is_single = has_split && graph_.value(*layer.inputs[1]).shape == Shape{};
  const auto extents = PartsOf(whole->dims[static_cast<std::size_t>(axis)], split, is_single);
  if (!extents) return false;
  // The name is taken, whoever reads it.
  INFIMUM_RETURN_IF_ERROR(Define(node.output(0), ValueKind::kIntermediate, {}));
  layer.op = "Split";
  layer.attributes["axis"] = axis;
  for (std::size_t i = 0; i < extents->size(); ++i) {
    INFIMUM_RETURN_IF_ERROR(context_.CountNode());
    KnownValue part;
    part.type = Arena::CreateMessage<onnx::TypeProto>(&context_.arena());
    Shape shape = *whole;
    shape.dims[static_cast<std::size_t>(axis)] = (*extents)[i];
    SetTensorType(read.type->tensor_type().elem_type(), shape, *part.type);
    const ValueId id = AddValue(node.output(0) + "/" + std::to_string(i), ValueKind::kIntermediate, std::move(part));
    layer.outputs.emplace_back(id);
    sequence->second.push_back(id);
  }
  return true;
}

Result<bool> OnnxGraphBuilder::AddSequenceAt(const onnx::NodeProto& node, int position) {
  const auto sequence = node.input_size() == 2 ? sequences_.find(node.input(0)) : sequences_.end();
  if (!IsOfOnnx(node, "SequenceAt") || sequence == sequences_.end() || sequence->second.empty() ||
      node.output_size() != 1)
    return false;
  const std::optional<ValueId> index = Find(node.input(1));
  if (!index) return UndefinedName(node.input(1), "input");
  const auto place = KnownIntegers(*index);
  const auto parts = static_cast<std::int64_t>(sequence->second.size());
  if (!place || place->size() != 1) return false;
  const std::int64_t at = place->at(0) < 0 ? place->at(0) + parts : place->at(0);
  if (at < 0 || at >= parts)
    return Error{"position " + std::to_string(place->at(0)) + " of a sequence of " + std::to_string(parts)};
  const ValueId part = sequence->second[static_cast<std::size_t>(at)];
  Layer layer = MakeLayer(node, position, {part});
  layer.op = "Identity";
  KnownValue known_part;
  known_part.type = known(part).type;
  INFIMUM_RETURN_IF_ERROR(AddOutputs(node, {std::move(known_part)}, layer));
  graph_.layers.push_back(std::move(layer));
  return true;
}

}  // namespace infimum
