#include "src/ingest/chakra_execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace infimum::ingest {
namespace {

struct ExecutionNode {
  std::int64_t id = 0;
  std::int64_t caller = -1;
  std::string name;
  bool is_operator = false;  // of PyTorch: it has a schema
  std::optional<std::int64_t> start_ns;
  std::int64_t duration_ns = 0;
  std::string category;  // of device work: "kernel"
  std::int64_t stream = 0;
  std::int64_t thread = 0;
  const Json* json = nullptr;
};

// Microseconds; whole numbers exactly.
Result<std::optional<std::int64_t>> NanosecondsField(const Json& node, const char* name) {
  const auto field = node.find(name);
  if (field == node.end() || field->is_null()) return std::optional<std::int64_t>();
  constexpr std::int64_t kMost = std::int64_t{1} << 52;  // 142 years
  if (!field->is_number()) return Error{fmt::format("'{}' should be a number, not {}", name, field->type_name())};
  const double microseconds = field->get<double>();
  if (!(microseconds >= 0 && microseconds < static_cast<double>(kMost)))
    return Error{fmt::format("'{}' is {}, not a time in microseconds", name, field->dump())};
  if (field->is_number_integer()) return std::optional<std::int64_t>(field->get<std::int64_t>() * 1000);
  return std::optional<std::int64_t>(std::llround(microseconds * 1000));
}

// {"attrs":[{"name":"tid","type":"uint64","value":1},...]}: nullptr where it is not there.
const Json* AttributeOf(const Json& node, std::string_view name) {
  const auto attributes = node.find("attrs");
  if (attributes == node.end() || !attributes->is_array()) return nullptr;
  for (const Json& attribute : *attributes) {
    if (!attribute.is_object()) continue;
    const auto key = attribute.find("name");
    const auto value = attribute.find("value");
    if (key != attribute.end() && value != attribute.end() && key->is_string() &&
        key->get_ref<const std::string&>() == name)
      return &*value;
  }
  return nullptr;
}

Result<ExecutionNode> ReadNode(const Json& json) {
  if (!json.is_object()) return Error{"not an object"};
  ExecutionNode node;
  node.json = &json;
  INFIMUM_ASSIGN_OR_RETURN(node.id, IntegerField(json, "id", 0, INT64_MAX, -1));
  if (node.id < 0) return Error{"'id' is missing"};
  INFIMUM_ASSIGN_OR_RETURN(node.name, TextField(json, "name"));
  INFIMUM_ASSIGN_OR_RETURN(node.category, TextField(json, "cat"));
  // Until schema 1.0.1 it is called "parent".
  const char* const caller = json.contains("ctrl_deps") ? "ctrl_deps" : "parent";
  INFIMUM_ASSIGN_OR_RETURN(node.caller, IntegerField(json, caller, 0, INT64_MAX, -1));
  INFIMUM_ASSIGN_OR_RETURN(node.stream, IntegerField(json, "stream", INT64_MIN, INT64_MAX, 0));
  INFIMUM_ASSIGN_OR_RETURN(node.start_ns, NanosecondsField(json, "ts"));
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<std::int64_t> duration, NanosecondsField(json, "inclusive_dur"));
  node.duration_ns = duration.value_or(0);
  const Json* schema = AttributeOf(json, "op_schema");
  if (schema == nullptr && json.contains("op_schema")) schema = &json["op_schema"];
  node.is_operator = schema != nullptr && schema->is_string() && !schema->get_ref<const std::string&>().empty();
  const Json* thread = AttributeOf(json, "tid");
  if (thread == nullptr && json.contains("tid")) thread = &json["tid"];
  if (thread != nullptr && thread->is_number_integer()) node.thread = thread->get<std::int64_t>();
  return node;
}

// {"values":[[5,6,0,1,4,"cpu"],false],"shapes":[[1,64],[]],"types":["Tensor(float)","Bool"]}: the tensors of it.
std::vector<ProfiledTensor> TensorsOf(const Json& node, const char* key) {
  static const std::map<std::string, std::string, std::less<>> kTypes = {
      {"Tensor(float)", "f32"},      {"Tensor(double)", "f64"},
      {"Tensor(c10::Half)", "f16"},  {"Tensor(c10::BFloat16)", "bf16"},
      {"Tensor(signed char)", "s8"}, {"Tensor(unsigned char)", "u8"},
      {"Tensor(int)", "s32"},        {"Tensor(long int)", "s64"},
      {"Tensor(long)", "s64"},       {"Tensor(bool)", "bool"}};
  std::vector<ProfiledTensor> tensors;
  const auto operands = node.find(key);
  if (operands == node.end() || !operands->is_object()) return tensors;
  const auto shapes = operands->find("shapes");
  const auto types = operands->find("types");
  if (shapes == operands->end() || types == operands->end() || !shapes->is_array() || !types->is_array())
    return tensors;
  for (std::size_t i = 0; i < std::min(shapes->size(), types->size()); ++i) {
    const Json& shape = (*shapes)[i];
    const Json& type = (*types)[i];
    if (!type.is_string() || !type.get_ref<const std::string&>().starts_with("Tensor(") || !shape.is_array()) continue;
    ProfiledTensor tensor;
    if (const auto known = kTypes.find(type.get_ref<const std::string&>()); known != kTypes.end())
      tensor.dtype = known->second;
    const bool has_extents = std::all_of(shape.begin(), shape.end(), [](const Json& dim) {
      return dim.is_number_integer() && dim.get<std::int64_t>() >= 0;
    });
    if (!has_extents) continue;
    for (const Json& dim : shape) tensor.dims.push_back(dim.get<std::int64_t>());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Operators that no other operator called.
Result<RunProfile> LayersOf(const std::vector<ExecutionNode>& nodes) {
  std::unordered_map<std::int64_t, bool> is_operator;
  for (const ExecutionNode& node : nodes) is_operator[node.id] = node.is_operator;
  RunProfile run;
  run.framework = "pytorch";
  for (const ExecutionNode& node : nodes) {
    const auto caller = is_operator.find(node.caller);
    if (!node.is_operator || (caller != is_operator.end() && caller->second)) continue;
    ProfiledLayer layer;
    layer.name = fmt::format("{}#{}", node.name, node.id);
    layer.op = node.name;
    layer.input_tensors = TensorsOf(*node.json, "inputs");
    layer.output_tensors = TensorsOf(*node.json, "outputs");
    run.layers.push_back(std::move(layer));
  }
  if (run.layers.empty()) return Error{"an execution trace without an operator"};
  run.warnings.push_back(
      "An execution trace of PyTorch has operators and no times: read the trace of PyTorch's profiler of the same run, "
      "or what chakra_trace_link makes of both");
  return run;
}

Timeline TimelineOf(const std::vector<ExecutionNode>& nodes) {
  Timeline timeline;
  timeline.profiler = "chakra";
  std::map<std::int64_t, std::uint32_t> threads, streams;
  std::size_t without_times = 0;
  bool is_first = true;
  for (const ExecutionNode& node : nodes) {
    if (!node.start_ns) {
      without_times += node.is_operator ? 1 : 0;
      continue;
    }
    if (!node.is_operator && node.category.empty()) continue;
    const std::int64_t end = *node.start_ns + node.duration_ns;
    timeline.first_ns = is_first ? *node.start_ns : std::min(timeline.first_ns, *node.start_ns);
    timeline.last_ns = is_first ? end : std::max(timeline.last_ns, end);
    is_first = false;
    if (node.category.empty()) {
      const auto [thread, is_new] = threads.emplace(node.thread, static_cast<std::uint32_t>(threads.size()));
      if (is_new) timeline.threads.push_back({0, node.thread});
      timeline.host_calls.push_back({.start_ns = *node.start_ns,
                                     .duration_ns = node.duration_ns,
                                     .external_id = node.id,
                                     .name = timeline.names.Intern(node.name),
                                     .thread = thread->second,
                                     .kind = HostCallKind::kOperator});
      continue;
    }
    const auto [stream, is_new] = streams.emplace(node.stream, static_cast<std::uint32_t>(streams.size()));
    if (is_new) timeline.streams.push_back({0, node.stream});
    DeviceWorkKind kind = DeviceWorkKind::kKernel;
    if (node.category == "gpu_memcpy") kind = DeviceWorkKind::kCopy;
    if (node.category == "gpu_memset") kind = DeviceWorkKind::kSet;
    timeline.device_work.push_back({.start_ns = *node.start_ns,
                                    .duration_ns = node.duration_ns,
                                    .external_id = node.caller,
                                    .name = timeline.names.Intern(node.name),
                                    .stream = stream->second,
                                    .kind = kind});
  }
  if (!timeline.streams.empty()) timeline.devices.push_back({.number = 0, .name = {}});
  timeline.events = static_cast<std::int64_t>(nodes.size());
  timeline.remarks.push_back(
      "A Chakra trace has no calls of the CUDA runtime: what waited for a launch is not told from what waited for the "
      "host");
  if (without_times > 0)
    timeline.remarks.push_back(fmt::format("{} operators without a time are left out", without_times));
  SortByStart(timeline);
  return timeline;
}

}  // namespace

Result<std::variant<RunProfile, Timeline>> ReadChakraExecution(const Json& document) {
  const auto list = document.find("nodes");
  if (list == document.end() || !list->is_array()) return Error{"'nodes' is not a list"};
  std::vector<ExecutionNode> nodes;
  std::size_t position = 0;
  for (const Json& json : *list) {
    ++position;
    Result<ExecutionNode> node = ReadNode(json);
    if (!node) return Within(fmt::format("node {} of 'nodes'", position), node.error());
    nodes.push_back(*std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  const auto twice =
      std::adjacent_find(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.id == b.id; });
  if (twice != nodes.end()) return Error{fmt::format("'id' {} is there twice", twice->id)};
  const bool has_times = std::any_of(nodes.begin(), nodes.end(), [](const ExecutionNode& node) {
    return node.start_ns && (node.is_operator || !node.category.empty());
  });
  if (has_times) return std::variant<RunProfile, Timeline>(TimelineOf(nodes));
  INFIMUM_ASSIGN_OR_RETURN(RunProfile run, LayersOf(nodes));
  return std::variant<RunProfile, Timeline>(std::move(run));
}

}  // namespace infimum::ingest
