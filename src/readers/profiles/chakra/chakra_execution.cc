#include "src/readers/profiles/chakra/chakra_execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/readers/profiles/events/trace_values.h"

namespace infimum::ingest {
namespace {

// "[[1,64],[]]" and "["Tensor(float)","Bool"]": the tensors among the operands.
std::vector<ProfiledTensor> TensorsOf(std::string_view shapes_text, std::string_view types_text) {
  static const std::map<std::string, std::string, std::less<>> kTypes = {
      {"Tensor(float)", "f32"},      {"Tensor(double)", "f64"},
      {"Tensor(c10::Half)", "f16"},  {"Tensor(c10::BFloat16)", "bf16"},
      {"Tensor(signed char)", "s8"}, {"Tensor(unsigned char)", "u8"},
      {"Tensor(int)", "s32"},        {"Tensor(long int)", "s64"},
      {"Tensor(long)", "s64"},       {"Tensor(bool)", "bool"}};
  const Json shapes = ParseList(shapes_text), types = ParseList(types_text);
  std::vector<ProfiledTensor> tensors;
  for (std::size_t i = 0; i < std::min(shapes.size(), types.size()); ++i) {
    const Json& shape = shapes[i];
    const Json& type = types[i];
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

}  // namespace

simdjson::error_code ChakraExecution::Read(TraceEvent& event) {
  for (const FieldSet* const fields : {&fields_, &inputs_, &outputs_}) fields->Clear();
  has_schema_.reset();
  attribute_thread_.reset();
  return ReadFields(event.object, fields_, [this](std::string_view key, simdjson::ondemand::value& value) {
    if (key == "inputs") return ReadFields(value, inputs_);
    if (key == "outputs") return ReadFields(value, outputs_);
    return key == "attrs" ? ReadAttributes(value) : simdjson::SUCCESS;
  });
}

Status ChakraExecution::Take() {
  ExecutionNode node;
  INFIMUM_ASSIGN_OR_RETURN(node.id, id_.NeededInteger(0, INT64_MAX));
  const std::string_view name = name_.Text();
  const std::string_view category = category_.Text();
  // Until schema 1.0.1 it is called "parent".
  node.caller = (caller_.absent() ? parent_ : caller_).Integer(0).value_or(-1);
  node.stream = stream_.Integer().value_or(0);
  for (const EventField* const time : {&start_, &duration_}) {
    if (time->absent()) continue;
    const Result<std::int64_t> nanoseconds = time->NeededNanoseconds();
    if (!nanoseconds.ok()) {
      if (!category.empty()) oddities_.Lose(std::nullopt);
      return nanoseconds.error();
    }
    if (time == &start_) node.start_ns = *nanoseconds;
    if (time == &duration_) node.duration_ns = *nanoseconds;
  }
  node.is_operator = has_schema_.value_or(schema_.is_text() && schema_.token() != "\"\"");
  node.thread = attribute_thread_ ? *attribute_thread_ : thread_.Integer().value_or(0);
  node.name = names_.Intern(name);
  if (!category.empty()) node.category = names_.Intern(category);
  if (node.is_operator && !node.start_ns) {
    node.input_shapes = names_.Intern(input_shapes_.token());
    node.input_types = names_.Intern(input_types_.token());
    node.output_shapes = names_.Intern(output_shapes_.token());
    node.output_types = names_.Intern(output_types_.token());
  }
  nodes_.push_back(node);
  return {};
}

// [{"name":"tid","type":"uint64","value":1},...]
simdjson::error_code ChakraExecution::ReadAttributes(simdjson::ondemand::value& list) {
  simdjson::ondemand::array array;
  const auto code = list.get_array().get(array);
  if (code == simdjson::INCORRECT_TYPE) return simdjson::SUCCESS;
  if (code != simdjson::SUCCESS) return code;
  for (auto element : array) {
    simdjson::ondemand::value value;
    if (const auto error = std::move(element).get(value); error != simdjson::SUCCESS) return error;
    attribute_.Clear();
    if (const auto error = ReadFields(value, attribute_); error != simdjson::SUCCESS) return error;
    const std::string_view name = attribute_name_.token();
    if (name == "\"op_schema\"" && !has_schema_) {
      has_schema_ = attribute_value_.is_text() && attribute_value_.token() != "\"\"";
    } else if (name == "\"tid\"" && !attribute_thread_) {
      attribute_thread_ = IntegerOf(attribute_value_.token());
    }
  }
  return simdjson::SUCCESS;
}

// Operators that no other operator called.
Result<RunProfile> ChakraExecution::Layers() const {
  std::unordered_map<std::int64_t, bool> is_operator;
  for (const ExecutionNode& node : nodes_) is_operator[node.id] = node.is_operator;
  // Most operators' operands are the same few.
  std::unordered_map<std::uint64_t, std::vector<ProfiledTensor>> known;
  const auto tensors_of = [&](NameId shapes, NameId types) -> const std::vector<ProfiledTensor>& {
    const auto [entry, is_new] =
        known.try_emplace(static_cast<std::uint64_t>(shapes) << 32 | static_cast<std::uint64_t>(types));
    if (is_new) entry->second = TensorsOf(names_.text(shapes), names_.text(types));
    return entry->second;
  };
  RunProfile run;
  run.framework = "pytorch";
  for (const ExecutionNode& node : nodes_) {
    const auto caller = is_operator.find(node.caller);
    if (!node.is_operator || (caller != is_operator.end() && caller->second)) continue;
    ProfiledLayer layer;
    layer.op = names_.text(node.name);
    layer.name = fmt::format("{}#{}", layer.op, node.id);
    layer.input_tensors = tensors_of(node.input_shapes, node.input_types);
    layer.output_tensors = tensors_of(node.output_shapes, node.output_types);
    run.layers.push_back(std::move(layer));
  }
  if (run.layers.empty()) return Error{"an execution trace without an operator"};
  run.warnings.push_back(
      "An execution trace of PyTorch has operators and no times: read the trace of PyTorch's profiler of the same run, "
      "or what chakra_trace_link makes of both");
  return run;
}

Timeline ChakraExecution::TakeTimeline() {
  Timeline timeline;
  timeline.profiler = "chakra";
  std::map<std::int64_t, std::uint32_t> threads, streams;
  std::size_t without_times = 0;
  bool is_first = true;
  timeline.events = static_cast<std::int64_t>(nodes_.size());
  for (; !nodes_.empty(); nodes_.pop_front()) {
    const ExecutionNode& node = nodes_.front();
    if (!node.start_ns) {
      without_times += node.is_operator ? 1 : 0;
      continue;
    }
    if (!node.is_operator && node.category == kNoName) continue;
    const std::int64_t end = *node.start_ns + node.duration_ns;
    timeline.first_ns = is_first ? *node.start_ns : std::min(timeline.first_ns, *node.start_ns);
    timeline.last_ns = is_first ? end : std::max(timeline.last_ns, end);
    is_first = false;
    if (node.category == kNoName) {
      const auto [thread, is_new] = threads.emplace(node.thread, static_cast<std::uint32_t>(threads.size()));
      if (is_new) timeline.threads.push_back({0, node.thread});
      timeline.host_calls.push_back({.start_ns = *node.start_ns,
                                     .duration_ns = node.duration_ns,
                                     .external_id = node.id,
                                     .name = node.name,
                                     .thread = thread->second,
                                     .kind = HostCallKind::kOperator});
      continue;
    }
    const auto [stream, is_new] = streams.emplace(node.stream, static_cast<std::uint32_t>(streams.size()));
    if (is_new) timeline.streams.push_back({0, node.stream});
    const std::string_view category = names_.text(node.category);
    DeviceWorkKind kind = DeviceWorkKind::kKernel;
    if (category == "gpu_memcpy") kind = DeviceWorkKind::kCopy;
    if (category == "gpu_memset") kind = DeviceWorkKind::kSet;
    timeline.device_work.push_back({.start_ns = *node.start_ns,
                                    .duration_ns = node.duration_ns,
                                    .external_id = node.caller,
                                    .name = node.name,
                                    .stream = stream->second,
                                    .kind = kind});
  }
  if (!timeline.streams.empty()) timeline.devices.push_back({.number = 0, .name = {}});
  timeline.remarks.push_back(
      "A Chakra trace has no calls of the CUDA runtime: what waited for a launch is not told from what waited for the "
      "host");
  if (without_times > 0)
    timeline.remarks.push_back(fmt::format("{} operators without a time are left out", without_times));
  double work_ns = 0;
  for (const DeviceWork& work : timeline.device_work) work_ns += static_cast<double>(work.duration_ns);
  timeline.skipped_share = oddities_.ShareLost(std::ssize(timeline.device_work), work_ns);
  timeline.names = std::move(names_);
  SortByStart(timeline);
  return timeline;
}

Result<std::variant<RunProfile, Timeline>> ChakraExecution::Finish() && {
  std::sort(nodes_.begin(), nodes_.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  const auto twice =
      std::adjacent_find(nodes_.begin(), nodes_.end(), [](const auto& a, const auto& b) { return a.id == b.id; });
  if (twice != nodes_.end()) return Error{fmt::format("'id' {} is there twice", twice->id)};
  const bool has_times = std::any_of(nodes_.begin(), nodes_.end(), [](const ExecutionNode& node) {
    return node.start_ns && (node.is_operator || node.category != kNoName);
  });
  if (has_times) return std::variant<RunProfile, Timeline>(TakeTimeline());
  INFIMUM_ASSIGN_OR_RETURN(RunProfile run, Layers());
  return std::variant<RunProfile, Timeline>(std::move(run));
}

}  // namespace infimum::ingest
