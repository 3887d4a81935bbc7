#include "src/readers/profiles/chakra/chakra_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "src/core/graph/framework_names.h"
#include "src/core/graph/name_table.h"
#include "src/core/results/json_struct.h"
#include "src/readers/profiles/events/event_field.h"
#include "src/readers/profiles/events/trace_events.h"

namespace infimum::ingest {

// Chakra's traces of an execution: what PyTorch's ExecutionTraceObserver wrote, and chakra_trace_link added times to.
//
//   ChakraExecution execution(oddities);
//   execution.Read(event), execution.Take();   // each of "nodes"
//   std::move(execution).Finish();             // with times a timeline, else layers without samples

// A node in memory: its texts by number, since a trace repeats a few.
struct ExecutionNode {
  std::int64_t id = 0;
  std::int64_t caller = -1;
  std::optional<std::int64_t> start_ns;
  std::int64_t duration_ns = 0;
  std::int64_t stream = 0;
  std::int64_t thread = 0;
  NameId name = kNoName;
  NameId category = kNoName;  // of device work: "kernel"
  // The lists of an operator's tensors as written in the file.
  NameId input_shapes = kNoName, input_types = kNoName, output_shapes = kNoName, output_types = kNoName;
  bool is_operator = false;  // of PyTorch: it has a schema
};

class ChakraExecution {
 public:
  explicit ChakraExecution(Oddities& oddities) : oddities_(oddities) {}

  simdjson::error_code Read(TraceEvent& event);
  Status Take();
  Result<std::variant<RunProfile, Timeline>> Finish() &&;

 private:
  simdjson::error_code ReadAttributes(simdjson::ondemand::value& list);
  Result<RunProfile> Layers() const;
  Timeline TakeTimeline();

  Oddities& oddities_;
  EventField id_{"id", oddities_}, name_{"name", oddities_}, category_{"cat", oddities_},
      caller_{"ctrl_deps", oddities_}, parent_{"parent", oddities_}, stream_{"stream", oddities_},
      start_{"ts", oddities_}, duration_{"inclusive_dur", oddities_}, schema_{"op_schema", oddities_},
      thread_{"tid", oddities_};
  EventField input_shapes_{"shapes", oddities_}, input_types_{"types", oddities_}, output_shapes_{"shapes", oddities_},
      output_types_{"types", oddities_};
  EventField attribute_name_{"name", oddities_}, attribute_value_{"value", oddities_};
  const FieldSet fields_ = {&id_,     &name_,  &category_, &caller_, &parent_,
                            &stream_, &start_, &duration_, &schema_, &thread_};
  const FieldSet inputs_ = {&input_shapes_, &input_types_};
  const FieldSet outputs_ = {&output_shapes_, &output_types_};
  const FieldSet attribute_ = {&attribute_name_, &attribute_value_};
  // An attribute takes precedence over a field of the node.
  std::optional<bool> has_schema_;
  std::optional<std::int64_t> attribute_thread_;

  NameTable names_;
  // A deque: growing one copies nothing, and what has become a call of the timeline is given back at once.
  std::deque<ExecutionNode> nodes_;
};

// Chakra's graph of a workload: operators cut into the pieces between the kernels that they start.
//
//   aten::mm(0) -> kernel -> aten::mm(1)     one layer "aten::mm", its sample the kernel's time
//
//   ChakraWorkload workload(oddities);
//   workload.Read(event), workload.Take();   // each of "workload_graph"
//   std::move(workload).Finish(frame.top);

class ChakraWorkload {
 public:
  explicit ChakraWorkload(Oddities& oddities) : oddities_(oddities) {}

  simdjson::error_code Read(TraceEvent& event);
  Status Take();
  // With the fields beside the graph.
  Result<RunProfile> Finish(const Json& top) &&;

 private:
  // Small, since a graph has millions: what a layer's texts are made of.
  struct Operator {
    std::int64_t id = 0;  // of its first piece
    double host_us = 0;
    double kernels_us = 0;
    NameId op = kNoName;
    NameId longest_kernel = kNoName;
    bool has_kernels = false;
  };
  struct Kernel {
    double duration = 0;
    NameId name = kNoName;
  };
  // A kernel that precedes the operator it depends on.
  struct EarlyKernel {
    std::int64_t waits_for = 0;
    Kernel kernel;
  };
  // The last operator of a name, and the number that its next piece has.
  struct Open {
    std::uint32_t index = 0;
    std::int64_t next_piece = 0;
  };

  Status TakeOperator(std::int64_t id, std::string_view name, double duration);
  Status TakeKernel(std::string_view name, double duration);
  bool Join(std::int64_t waits_for, const Kernel& kernel);
  void AddStray(const Kernel& kernel);
  void FindLongestKernels();
  ProfiledLayer LayerOf(const Operator& one) const;

  Oddities& oddities_;
  EventField id_{"Id", oddities_}, name_{"Name", oddities_}, duration_{"runtime", oddities_},
      on_host_{"is_cpu_op", oddities_}, waits_for_{"data_deps", oddities_};
  const FieldSet fields_ = {&id_, &name_, &duration_, &on_host_, &waits_for_};

  NameTable names_;
  std::deque<Operator> operators_;
  std::unordered_map<std::int64_t, std::uint32_t> operator_of_;  // by number of a piece
  std::unordered_map<NameId, Open> open_;
  std::unordered_map<std::uint64_t, double> kernels_us_;  // by operator and name
  std::deque<EarlyKernel> early_kernels_;
  std::size_t kernels_ = 0;
  std::size_t strays_ = 0;
  double stray_us_ = 0;
  double kernels_total_us_ = 0;
};

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
  run.framework = framework::kPyTorch;
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
  if (run.layers.empty()) return Error{"the execution trace contains no operator"};
  run.warnings.push_back(
      "An execution trace of PyTorch contains operators without times: read the trace of PyTorch's profiler of the "
      "same run, or the output of chakra_trace_link for both");
  return run;
}

Timeline ChakraExecution::TakeTimeline() {
  Timeline timeline;
  timeline.profiler = profiler::kChakra;
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
      "A Chakra trace contains no calls of the CUDA runtime: launch latency cannot be separated from waiting for the "
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
  if (twice != nodes_.end()) return Error{fmt::format("'id' {} occurs twice", twice->id)};
  const bool has_times = std::any_of(nodes_.begin(), nodes_.end(), [](const ExecutionNode& node) {
    return node.start_ns && (node.is_operator || node.category != kNoName);
  });
  if (has_times) return std::variant<RunProfile, Timeline>(TakeTimeline());
  INFIMUM_ASSIGN_OR_RETURN(RunProfile run, Layers());
  return std::variant<RunProfile, Timeline>(std::move(run));
}

namespace {

// "aten::mm(1)" is the second piece of "aten::mm"; an operator that was not cut has no number.
struct Piece {
  std::string_view op;
  std::optional<std::int64_t> number;
};

Piece PieceOf(std::string_view name) {
  const std::size_t open = name.rfind('(');
  if (open == std::string_view::npos || open == 0 || !name.ends_with(')')) return {name, std::nullopt};
  const std::optional<std::int64_t> number = ParseInteger(name.substr(open + 1, name.size() - open - 2));
  if (!number || *number < 0 || *number > INT32_MAX) return {name, std::nullopt};
  return {name.substr(0, open), number};
}

// "[3, 1]" -> 3
std::optional<std::int64_t> FirstOf(std::string_view list) {
  if (!list.empty()) list.remove_prefix(1);
  return ParseInteger(TrimSpace(list.substr(0, list.find_first_of(",]"))));
}

}  // namespace

simdjson::error_code ChakraWorkload::Read(TraceEvent& event) {
  fields_.Clear();
  return ReadFields(event.object, fields_);
}

Status ChakraWorkload::Take() {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t id, id_.NeededInteger(0, INT64_MAX));
  const std::string_view name = name_.Text();
  if (on_host_.token() != "true" && on_host_.token() != "false") return Error{"'is_cpu_op' is not true or false"};
  const bool on_host = on_host_.token() == "true";
  // What took no microsecond has no "runtime".
  const Result<std::int64_t> nanoseconds = duration_.absent() ? Result(std::int64_t{0}) : duration_.NeededNanoseconds();
  if (!nanoseconds.ok()) {
    if (!on_host) oddities_.Lose(std::nullopt);
    return nanoseconds.error();
  }
  const double duration = static_cast<double>(*nanoseconds) / 1000;
  return on_host ? TakeOperator(id, name, duration) : TakeKernel(name, duration);
}

Status ChakraWorkload::TakeOperator(std::int64_t id, std::string_view name, double duration) {
  if (operators_.size() >= UINT32_MAX) return Error{"more than 4,294,967,294 operators"};
  auto index = static_cast<std::uint32_t>(operators_.size());
  const auto [of_id, is_new] = operator_of_.emplace(id, index);
  if (!is_new) return Error{fmt::format("'Id' {} occurs twice", id)};
  const Piece piece = PieceOf(name);
  const NameId op = names_.Intern(piece.op);
  if (const auto open = open_.find(op);
      piece.number && *piece.number > 0 && open != open_.end() && open->second.next_piece == *piece.number) {
    index = open->second.index;
    ++open->second.next_piece;
    of_id->second = index;
  } else {
    Operator added;
    added.id = id;
    added.op = op;
    operators_.push_back(added);
    if (piece.number) open_[op] = {index, *piece.number + 1};
  }
  operators_[index].host_us += duration;
  return {};
}

// A kernel's operator is the first node that it waits for.
Status ChakraWorkload::TakeKernel(std::string_view name, double duration) {
  if (!waits_for_.absent() && !waits_for_.is_list()) oddities_.Note([] { return Error{"'data_deps' is not a list"}; });
  ++kernels_;
  kernels_total_us_ += duration;
  const Kernel kernel{duration, names_.Intern(name)};
  const std::optional<std::int64_t> waits_for = FirstOf(waits_for_.token());
  if (!waits_for) {
    AddStray(kernel);
  } else if (!Join(*waits_for, kernel)) {
    early_kernels_.push_back({*waits_for, kernel});
  }
  return {};
}

bool ChakraWorkload::Join(std::int64_t waits_for, const Kernel& kernel) {
  const auto found = operator_of_.find(waits_for);
  if (found == operator_of_.end()) return false;
  Operator& by = operators_[found->second];
  by.has_kernels = true;
  by.kernels_us += kernel.duration;
  kernels_us_[std::uint64_t{found->second} << 32 | static_cast<std::uint64_t>(kernel.name)] += kernel.duration;
  return true;
}

void ChakraWorkload::AddStray(const Kernel& kernel) {
  ++strays_;
  stray_us_ += kernel.duration;
}

// Ties between kernels of one operator go to the first name.
void ChakraWorkload::FindLongestKernels() {
  std::vector<double> longest(operators_.size(), 0);
  for (const auto& [key, time] : kernels_us_) {
    const std::size_t index = key >> 32;
    const auto name = static_cast<NameId>(key & 0xffffffff);
    NameId& best = operators_[index].longest_kernel;
    if (best != kNoName && (time < longest[index] || (time == longest[index] && names_.text(name) > names_.text(best))))
      continue;
    best = name;
    longest[index] = time;
  }
}

ProfiledLayer ChakraWorkload::LayerOf(const Operator& one) const {
  ProfiledLayer layer;
  layer.op = names_.text(one.op);
  layer.name = fmt::format("{}#{}", layer.op, one.id);
  layer.algorithm = names_.text(one.longest_kernel);
  layer.samples = {Latency(kernels_ > 0 ? one.kernels_us : one.host_us)};
  return layer;
}

Result<RunProfile> ChakraWorkload::Finish(const Json& top) && {
  if (operators_.empty() && kernels_ == 0) return Error{"'workload_graph' is empty"};
  if (operators_.empty()) return Error{"'workload_graph' contains no host operator ('is_cpu_op')"};
  for (const EarlyKernel& early : early_kernels_)
    if (!Join(early.waits_for, early.kernel)) AddStray(early.kernel);
  FindLongestKernels();
  // The layers need the room.
  early_kernels_ = {};
  kernels_us_ = {};
  operator_of_ = {};
  RunProfile run;
  run.skipped_share = oddities_.ShareLost(static_cast<std::int64_t>(kernels_), 1000 * kernels_total_us_);
  run.layers.reserve(operators_.size());
  std::size_t without_kernels = 0;
  for (const Operator& one : operators_) {
    if (kernels_ > 0 && !one.has_kernels) ++without_kernels;
    run.layers.push_back(LayerOf(one));
    if (run.layers.back().op.starts_with("aten::")) run.framework = framework::kPyTorch;
  }
  if (run.framework.empty()) run.framework = framework::kChakra;
  run.warnings.push_back(
      "A Chakra graph contains durations but no start times, so gaps and concurrency are not known; the trace of "
      "PyTorch's profiler of the same run contains them");
  if (kernels_ == 0) run.warnings.push_back("It contains no kernels: the layers' times are those of the host");
  if (without_kernels > 0) {
    run.warnings.push_back(fmt::format("{} of {} operators started no kernel and count as 0 µs on the device",
                                       without_kernels, run.layers.size()));
  }
  if (strays_ > 0) {
    run.warnings.push_back(fmt::format("{} of {} kernels ({}) belong to no operator", strays_, kernels_,
                                       FormatLatency(Latency(stray_us_))));
  }
  JsonReader fields(top);
  fields.Lenient("workload_name", run.model_name);
  if (!fields.status().ok()) return fields.status().error();
  for (const char* setting : {"ngpus", "soc"}) {
    const auto found = top.find(setting);
    if (found == top.end()) continue;
    if (found->is_string()) run.settings[setting] = found->get<std::string>();
    if (found->is_number_integer()) run.settings[setting] = found->dump();
  }
  return run;
}

}  // namespace infimum::ingest

namespace infimum {
namespace {

using Trace = std::variant<RunProfile, Timeline>;

constexpr const char* kGraph = "workload_graph";

ingest::EventList Nodes() {
  ingest::EventList list;
  list.document = "a Chakra trace";
  list.keys = {kGraph, "nodes"};
  list.may_be_bare = false;
  list.event = "node";
  list.first_number = 1;
  return list;
}

}  // namespace

bool IsChakraTrace(std::string_view start) {
  const auto has = [&](std::string_view text) { return start.find(text) != std::string_view::npos; };
  if (!start.starts_with('{')) return false;
  return has("\"workload_graph\"") || (has("\"nodes\"") && (has("-chakra.") || has("[pytorch|profiler|execution_")));
}

Result<Trace> ReadChakraTrace(std::istream& input, std::string_view origin) {
  ingest::Oddities oddities;
  ingest::ChakraWorkload workload(oddities);
  ingest::ChakraExecution execution(oddities);
  bool is_graph = false;
  const auto read = [&](ingest::TraceEvent& event) {
    is_graph = event.list == kGraph;
    return is_graph ? workload.Read(event) : execution.Read(event);
  };
  INFIMUM_ASSIGN_OR_RETURN(const ingest::TraceFrame frame,
                           ingest::ReadTraceEvents(input, origin, Nodes(), oddities, read,
                                                   [&] { return is_graph ? workload.Take() : execution.Take(); }));
  const auto finish = [&]() -> Result<Trace> {
    if (frame.list != kGraph) return std::move(execution).Finish();
    INFIMUM_ASSIGN_OR_RETURN(RunProfile run, std::move(workload).Finish(frame.top));
    return Trace(std::move(run));
  };
  Result<Trace> trace = finish();
  if (!trace.ok()) return Within(std::string(origin), oddities.Explain(trace.error()));
  auto* const run = std::get_if<RunProfile>(&*trace);
  const double skipped = run != nullptr ? run->skipped_share : std::get<Timeline>(*trace).skipped_share;
  std::vector<std::string>& into = run != nullptr ? run->warnings : std::get<Timeline>(*trace).remarks;
  for (std::string& remark : oddities.Remarks(skipped)) into.push_back(std::move(remark));
  return trace;
}

}  // namespace infimum
