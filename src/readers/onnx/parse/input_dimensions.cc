#include "src/readers/onnx/parse/input_dimensions.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>

#include "infimum/base/text.h"
#include "infimum/layer/shape.h"
#include "src/core/graph/run_time_quantities.h"
#include "src/readers/onnx/parse/proto_conversion.h"

namespace infimum {
namespace {

using google::protobuf::Arena;
using Dimension = onnx::TensorShapeProto::Dimension;

// The name under which the user binds a dimension; empty where the file gives its number.
std::string BindingName(const std::string& input, int axis, const Dimension& dim) {
  if (dim.has_dim_value() && dim.dim_value() >= 0) return "";
  if (dim.has_dim_param() && !dim.dim_param().empty()) return dim.dim_param();
  return input + "." + std::to_string(axis);
}

// What was learnt about the symbols while the inputs were walked.
struct Symbols {
  std::set<std::string, std::less<>> known;
  std::vector<std::string> unbound;  // in order of appearance, each once
  std::string first_problem;         // names the input with the first unbound one
};

Status BindInput(const onnx::ValueInfoProto& input, const std::map<std::string, std::int64_t>& dims,
                 onnx::TypeProto& type, Symbols& symbols) {
  const std::string where = "input " + Quoted(input.name());
  if (!input.has_type() || input.type().value_case() == onnx::TypeProto::VALUE_NOT_SET)
    return Error{where + " has no type; export the model again with typed inputs"};
  type = input.type();
  if (!type.has_tensor_type()) return {};
  if (!type.tensor_type().has_shape())
    return Error{where + " has no shape, not even a number of dimensions; export the model with shaped inputs"};
  Shape shape;
  bool complete = true;
  for (int axis = 0; axis < type.tensor_type().shape().dim_size(); ++axis) {
    Dimension& dim = *type.mutable_tensor_type()->mutable_shape()->mutable_dim(axis);
    const std::string name = BindingName(input.name(), axis, dim);
    if (!name.empty()) {
      symbols.known.insert(name);
      const auto bound = dims.find(name);
      if (bound == dims.end()) {
        complete = false;
        if (symbols.unbound.empty()) {
          symbols.first_problem = where + " has ";
          if (dim.has_dim_param() && !dim.dim_param().empty())
            symbols.first_problem += "the symbolic dimension " + Quoted(name);
          else if (dim.has_dim_value())
            symbols.first_problem += std::to_string(dim.dim_value()) + " as its dimension " + std::to_string(axis);
          else
            symbols.first_problem += "neither a number nor a name for its dimension " + std::to_string(axis);
        }
        if (std::find(symbols.unbound.begin(), symbols.unbound.end(), name) == symbols.unbound.end())
          symbols.unbound.push_back(name);
        continue;
      }
      if (bound->second < 0 || bound->second > kMaxElements)
        return Error{"--dim " + name + "=" + std::to_string(bound->second) + ": a dimension must be from 0 to 2^47"};
      dim.set_dim_value(bound->second);
    }
    shape.dims.push_back(dim.dim_value());
  }
  if (!complete) return {};
  if (const Result<std::int64_t> count = CheckedElementCount(shape); !count.ok())
    return Error{where + ": " + count.error().message};
  return {};
}

// A name may hold anything; one that a shell would take apart is quoted, and control characters never pass.
std::string Printable(std::string_view name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
  return is_plain ? std::string(name) : Quoted(name);
}

}  // namespace

std::vector<DeclaredInput> DeclaredInputs(const onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> initialized;
  for (const onnx::TensorProto& initializer : graph.initializer()) initialized.insert(initializer.name());
  std::vector<DeclaredInput> inputs;
  for (const onnx::ValueInfoProto& proto : graph.input()) {
    if (initialized.contains(proto.name()) || !proto.type().tensor_type().has_shape()) continue;
    DeclaredInput input{proto.name(), ElementTypeOf(proto.type()), {}, {}};
    for (int axis = 0; axis < proto.type().tensor_type().shape().dim_size(); ++axis) {
      const Dimension& dim = proto.type().tensor_type().shape().dim(axis);
      DeclaredDimension declared{std::nullopt, BindingName(proto.name(), axis, dim)};
      if (declared.symbol.empty()) declared.size = dim.dim_value();
      input.dims.push_back(std::move(declared));
    }
    // An engine may move a cast, or take it out.
    std::unordered_set<std::string_view> casts;
    for (const onnx::NodeProto& node : graph.node())
      if (node.op_type() == "Cast" && node.input_size() == 1 && node.output_size() == 1 &&
          node.input(0) == proto.name())
        casts.insert(node.output(0));
    for (const onnx::NodeProto& node : graph.node())
      for (int operand = 0; operand < node.input_size(); ++operand)
        if (node.input(operand) == proto.name() || casts.contains(node.input(operand)))
          input.readers.push_back({node.op_type(), static_cast<std::size_t>(operand)});
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Result<std::vector<onnx::TypeProto*>> BindInputs(const onnx::GraphProto& graph,
                                                 const std::map<std::string, std::int64_t>& dims, Arena& arena) {
  std::unordered_set<std::string_view> initialized;
  for (const onnx::TensorProto& initializer : graph.initializer()) initialized.insert(initializer.name());
  Symbols symbols;
  std::vector<onnx::TypeProto*> types;
  std::optional<Error> problem;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    types.push_back(Arena::CreateMessage<onnx::TypeProto>(&arena));
    if (initialized.contains(input.name())) continue;  // a default value: we take it, and its own type
    if (Status status = BindInput(input, dims, *types.back(), symbols); !status.ok() && !problem)
      problem = status.error();
  }
  // A misspelt name is the likelier cause of an unbound symbol: report it first.
  for (const auto& [name, value] : dims) {
    if (symbols.known.contains(name) || IsQuantity(name)) continue;
    if (symbols.known.empty())
      return Error{"--dim " + name + "=" + std::to_string(value) + ": the model has no symbolic dimension"};
    const std::vector<std::string_view> names(symbols.known.begin(), symbols.known.end());
    std::string list;
    for (const std::string_view other : names) list += (list.empty() ? "" : ", ") + Printable(other);
    const std::string hint = DidYouMean(name, names);
    return Error{"--dim " + name + "=" + std::to_string(value) + ": the model has no dimension of this name" +
                 (hint.empty() ? "; it has " + list : hint)};
  }
  if (problem) return *problem;
  if (!symbols.unbound.empty()) {
    std::string options;
    for (const std::string& name : symbols.unbound) {
      options += " --dim " + Printable(name) + "=N";
    }
    return Error{symbols.first_problem + "; bind it with" + options};
  }
  return types;
}

onnx::TypeProto* BoundType(const onnx::TypeProto& type, const std::map<std::string, std::int64_t>& dims, Arena& arena) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return nullptr;
  auto* bound = Arena::CreateMessage<onnx::TypeProto>(&arena);
  *bound = type;
  Shape shape;
  for (Dimension& dim : *bound->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (!dim.has_dim_value()) {
      const auto found = dims.find(dim.dim_param());
      if (found == dims.end()) return nullptr;
      dim.set_dim_value(found->second);
    }
    shape.dims.push_back(dim.dim_value());
  }
  return CheckedElementCount(shape).ok() ? bound : nullptr;
}

}  // namespace infimum
