#include "infimum/ingest/onnxruntime_profile.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <utility>

#include "src/ingest/json_fields.h"

namespace infimum {
namespace {

using ingest::Json;

constexpr std::string_view kKernelTime = "_kernel_time";

struct Node {
  ProfiledLayer layer;
  std::map<std::size_t, double> by_inference;  // microseconds
};

// [{"float":[1,64,56,56]},{"float":[64]}]: a type and a shape each. What is none of these is left out.
std::vector<ProfiledTensor> TensorsOf(const Json& arguments, const char* key) {
  static const std::map<std::string, std::string, std::less<>> kTypes = {
      {"float", "f32"}, {"double", "f64"}, {"float16", "f16"}, {"bfloat16", "bf16"}, {"int8", "s8"},
      {"uint8", "u8"},  {"int32", "s32"},  {"int64", "s64"},   {"bool", "bool"}};
  std::vector<ProfiledTensor> tensors;
  const auto list = arguments.find(key);
  if (list == arguments.end() || !list->is_array()) return tensors;
  for (const Json& entry : *list) {
    if (!entry.is_object() || entry.size() != 1 || !entry.begin()->is_array()) return {};
    ProfiledTensor tensor;
    if (const auto type = kTypes.find(entry.begin().key()); type != kTypes.end()) tensor.dtype = type->second;
    for (const Json& dim : *entry.begin()) {
      if (!dim.is_number_integer() || dim.get<std::int64_t>() < 0) return {};
      tensor.dims.push_back(dim.get<std::int64_t>());
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// One event into `nodes`; events that are not a node's kernel are passed over.
Status TakeEvent(const Json& event, std::size_t inference,
                 std::map<std::pair<std::string, std::string>, std::size_t>& index, std::vector<Node>& nodes) {
  INFIMUM_ASSIGN_OR_RETURN(std::string name, ingest::TextField(event, "name"));
  if (!name.ends_with(kKernelTime)) return {};
  name.resize(name.size() - kKernelTime.size());
  constexpr std::int64_t kYear = 31'536'000'000'000;
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t duration, ingest::IntegerField(event, "dur", 0, kYear, 0));
  const auto found = event.find("args");
  const Json arguments = found != event.end() && found->is_object() ? *found : Json::object();
  INFIMUM_ASSIGN_OR_RETURN(const std::string op, ingest::TextField(arguments, "op_name"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string node_index, ingest::TextField(arguments, "node_index"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string provider, ingest::TextField(arguments, "provider"));
  const auto [entry, added] = index.emplace(std::pair(name, node_index), nodes.size());
  if (added) {
    Node node;
    node.layer.name = std::move(name);
    node.layer.op = op;
    node.layer.provider = provider;
    node.layer.input_tensors = TensorsOf(arguments, "input_type_shape");
    node.layer.output_tensors = TensorsOf(arguments, "output_type_shape");
    nodes.push_back(std::move(node));
  }
  nodes[entry->second].by_inference[inference] += static_cast<double>(duration);
  return {};
}

}  // namespace

Result<std::vector<ProfiledLayer>> ReadOnnxRuntimeProfile(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ingest::ParseJson(input, origin));
  const Json* events = &document;
  if (document.is_object() && document.contains("traceEvents")) events = &document["traceEvents"];
  if (!events->is_array()) return Error{fmt::format("{}: not an ONNX Runtime profile: no list of events", origin)};

  std::map<std::pair<std::string, std::string>, std::size_t> index;
  std::vector<Node> nodes;
  std::size_t inference = 0, position = 0;
  for (const Json& event : *events) {
    ++position;
    if (!event.is_object()) return Error{fmt::format("{}: event {} is not an object", origin, position)};
    const auto category = event.find("cat");
    if (category == event.end() || !category->is_string()) continue;
    if (*category == "Session") {
      const auto name = event.find("name");
      // Written when a run ends: the events before it were that run's.
      if (name != event.end() && *name == "model_run") ++inference;
    } else if (*category == "Node") {
      const Status taken = TakeEvent(event, inference, index, nodes);
      if (!taken) return Within(fmt::format("{}: event {}", origin, position), taken.error());
    }
  }
  if (nodes.empty()) return Error{fmt::format("{}: not an ONNX Runtime profile: it has no node events", origin)};

  const std::size_t dropped = inference > 2 ? std::max<std::size_t>(1, inference / 5) : 0;
  std::vector<ProfiledLayer> layers;
  for (Node& node : nodes) {
    for (const auto& [run, microseconds] : node.by_inference) {
      if (run >= dropped) node.layer.samples.emplace_back(microseconds);
    }
    // What ran in the warm-up alone (initialisation) is no layer of an inference.
    if (!node.layer.samples.empty()) layers.push_back(std::move(node.layer));
  }
  return layers;
}

}  // namespace infimum
