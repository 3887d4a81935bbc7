#include "src/readers/profiles/onnxruntime/onnxruntime_events.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "infimum/base/text.h"
#include "src/readers/profiles/events/event_field.h"
#include "src/readers/profiles/events/trace_events.h"

namespace infimum::ingest {

// How many threads ONNX Runtime's nodes may use, from each node's report of its thread pool.
//
//   ""                                                                            1: there is no pool
//   {"main_thread":{"thread_pool_name":"session-1-intra-op",...},
//    "sub_threads":{"140472798402240":{"num_run":0,"core":-1}}}                   2: the caller works as well

// Nothing where it is neither of these. A pool is made for two threads or more, and lists also those that had nothing
// to do (onnxruntime/core/common/threadpool.cc).
simdjson::error_code OnnxRuntimeThreads(simdjson::ondemand::value& statistics, std::optional<std::int64_t>& threads);

// Kernels whose event names only a time at which their node's execution began, on a clock that is not the profile's:
//
//   executions of "conv" at 1010, 2010, 3510; kernels of "conv" with 1724500000001010, ...2010, ...2010, ...3510
//
// fit with the origin 1724500000000000, which the file does not contain.

struct CorrelatedKernel {
  OnnxRuntimeKernel kernel;  // its execution is not known
  std::uint32_t layer = 0;
  std::int64_t correlation = 0;
};

// Appends the kernels with their executions to `kernels`, by the origin with which each has one of its layer. Where
// there is none: all of them come back.
std::vector<OnnxRuntimeKernel> JoinByCorrelation(std::span<const OnnxRuntimeExecution> executions,
                                                 std::span<const CorrelatedKernel> correlated,
                                                 std::vector<OnnxRuntimeKernel>& kernels);

simdjson::error_code OnnxRuntimeThreads(simdjson::ondemand::value& statistics, std::optional<std::int64_t>& threads) {
  threads.reset();
  std::string_view text;
  if (statistics.get_string().get(text) == simdjson::SUCCESS) {
    if (text.empty()) threads = 1;
    return simdjson::SUCCESS;
  }
  constexpr std::int64_t kMost = 1 << 20;
  bool has_main = false;
  std::optional<std::int64_t> others;
  const auto code = ReadFields(statistics, {}, [&](std::string_view key, simdjson::ondemand::value& value) {
    has_main = has_main || key == "main_thread";
    simdjson::ondemand::object list;
    if (key != "sub_threads" || value.get_object().get(list) != simdjson::SUCCESS) return simdjson::SUCCESS;
    others = 0;
    return ReadFields(list, {}, [&](std::string_view, simdjson::ondemand::value&) {
      others = *others + 1;
      return simdjson::SUCCESS;
    });
  });
  if (has_main && others && *others < kMost) threads = *others + 1;
  return code;
}

namespace {

// Executions by layer and start; of several at one time the first.
class Starts {
 public:
  explicit Starts(std::span<const OnnxRuntimeExecution> executions)
      : executions_(executions), order_(executions.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::tuple(executions_[a].layer, executions_[a].start, a) <
             std::tuple(executions_[b].layer, executions_[b].start, b);
    });
    for (const OnnxRuntimeExecution& execution : executions) {
      if (layers_.size() < std::size_t{execution.layer} + 2) layers_.resize(std::size_t{execution.layer} + 2);
      ++layers_[execution.layer + 1];
    }
    std::partial_sum(layers_.begin(), layers_.end(), layers_.begin());
  }

  // Executions of a layer, by start.
  std::span<const std::uint32_t> Of(std::uint32_t layer) const {
    return std::span(order_).subspan(layers_[layer], layers_[layer + 1] - layers_[layer]);
  }

  std::optional<std::uint32_t> Find(std::uint32_t layer, std::int64_t start) const {
    const auto of_layer = Of(layer);
    const auto found = std::lower_bound(of_layer.begin(), of_layer.end(), start,
                                        [this](std::uint32_t e, std::int64_t t) { return executions_[e].start < t; });
    if (found == of_layer.end() || executions_[*found].start != start) return std::nullopt;
    return *found;
  }

 private:
  std::span<const OnnxRuntimeExecution> executions_;
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> layers_;  // where each begins in the order, and the end
};

}  // namespace

std::vector<OnnxRuntimeKernel> JoinByCorrelation(std::span<const OnnxRuntimeExecution> executions,
                                                 std::span<const CorrelatedKernel> correlated,
                                                 std::vector<OnnxRuntimeKernel>& kernels) {
  if (correlated.empty()) return {};
  const Starts starts(executions);
  // Few origins are worth a try: of the layer that ran least often, from the earliest execution on.
  const auto rarest = std::min_element(correlated.begin(), correlated.end(), [&](const auto& a, const auto& b) {
    return std::pair(starts.Of(a.layer).size(), a.correlation) < std::pair(starts.Of(b.layer).size(), b.correlation);
  });
  std::size_t steps = 0;
  const auto fits = [&](std::int64_t origin) {
    return std::all_of(correlated.begin(), correlated.end(), [&](const CorrelatedKernel& kernel) {
      ++steps;
      return starts.Find(kernel.layer, kernel.correlation - origin).has_value();
    });
  };
  // A real file's first or second candidate fits, or a wrong one soon fails.
  const std::size_t most_steps = 100 * correlated.size() + 1'000'000;
  std::optional<std::int64_t> origin;
  for (const std::uint32_t execution : starts.Of(rarest->layer)) {
    if (origin || steps > most_steps) break;
    const std::int64_t candidate = rarest->correlation - executions[execution].start;
    if (fits(candidate)) origin = candidate;
  }
  std::vector<OnnxRuntimeKernel> strays;
  for (const CorrelatedKernel& one : correlated) {
    OnnxRuntimeKernel kernel = one.kernel;
    if (!origin) {
      strays.push_back(kernel);
      continue;
    }
    kernel.execution = *starts.Find(one.layer, one.correlation - *origin);
    kernels.push_back(kernel);
  }
  return strays;
}

namespace {

constexpr std::string_view kKernelTime = "_kernel_time";
constexpr std::string_view kFenceBefore = "_fence_before";
constexpr std::int64_t kYear = 31'536'000'000'000;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// [{"float":[1,64,56,56]},{"float":[64]}]: a type and a shape each. What is none of these is left out.
std::vector<ProfiledTensor> TensorsOf(const Json& list) {
  static const std::map<std::string, std::string, std::less<>> kTypes = {
      {"float", "f32"}, {"double", "f64"}, {"float16", "f16"}, {"bfloat16", "bf16"}, {"int8", "s8"},
      {"uint8", "u8"},  {"int32", "s32"},  {"int64", "s64"},   {"bool", "bool"}};
  std::vector<ProfiledTensor> tensors;
  for (const Json& entry : list) {
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

class EventReader {
 public:
  explicit EventReader(Oddities& oddities) : oddities_(oddities) {}

  simdjson::error_code Read(TraceEvent& event) {
    fields_.Clear();
    arguments_.Clear();
    told_threads_.reset();
    const auto take_threads = [this](std::string_view key, simdjson::ondemand::value& value) {
      return key == "thread_scheduling_stats" ? OnnxRuntimeThreads(value, told_threads_) : simdjson::SUCCESS;
    };
    return ReadFields(event.object, fields_,
                      [this, &take_threads](std::string_view key, simdjson::ondemand::value& value) {
                        return key == "args" ? ReadFields(value, arguments_, take_threads) : simdjson::SUCCESS;
                      });
  }

  Status Take() {
    if (!category_.is_text() && !op_name_.absent()) {
      // What has an operator is a node's.
      oddities_.Lose(std::nullopt);
      return Error{category_.absent() ? "'cat' is missing" : "'cat' is not a text"};
    }
    const std::string_view category = category_.token();
    if (category == "\"Session\"") return TakeSession();
    if (category != "\"Node\"" && category != "\"Kernel\"") return {};
    Status taken = category == "\"Node\"" ? TakeNode() : TakeKernel();
    if (!taken.ok()) oddities_.Lose(std::nullopt);
    return taken;
  }

  OnnxRuntimeEvents Finish() && {
    for (const OnnxRuntimeKernel& kernel : JoinByCorrelation(events_.executions, correlated_, events_.kernels))
      AddStray(kernel);
    events_.shapes_vary = 2 * std::ranges::count(shapes_, true, &Shapes::vary) > std::ssize(shapes_);
    // Nodes that ran on several threads: at once, or inferences at once. The pool of a node has no meaning then.
    const auto ran_beside = [this](const OnnxRuntimeExecution& one) {
      return one.thread != events_.executions.front().thread;
    };
    if (std::ranges::any_of(events_.executions, ran_beside)) events_.threads.reset();
    for (const auto& [name, kernels] : awaited_)
      for (const OnnxRuntimeKernel& kernel : kernels) AddStray(kernel);
    double executions_ns = 0;
    for (const OnnxRuntimeExecution& one : events_.executions)
      executions_ns += 1000 * static_cast<double>(one.duration);
    events_.skipped_share = oddities_.ShareLost(std::ssize(events_.executions), executions_ns);
    events_.remarks = oddities_.Remarks(events_.skipped_share);
    return std::move(events_);
  }

 private:
  // What is known of the events of one name.
  struct Event {
    std::uint32_t last_execution = kNone;
    // The layer of the last number of a node: nearly always the only one.
    NameId node_index = kNoName;
    std::uint32_t layer = kNone;
  };

  // What a layer's executions read: in a body of a loop, or behind what depends on the data, not always the same. The
  // first execution is a warm-up's, which may have had other inputs than what is timed.
  struct Shapes {
    std::size_t last = 0;  // a hash of the text
    std::int64_t executions = 0;
    bool vary = false;
  };

  Status TakeSession() {
    if (name_.token() != "\"model_run\"") return {};
    OnnxRuntimeInference inference;
    ++events_.lost_inferences;  // until it was read
    INFIMUM_ASSIGN_OR_RETURN(inference.start, Start());
    INFIMUM_ASSIGN_OR_RETURN(inference.duration, Microseconds(duration_));
    --events_.lost_inferences;
    if (events_.inferences.size() >= kNone) return Error{"more than 4,294,967,295 inferences"};
    inference.thread = Thread();
    events_.inferences.push_back(inference);
    return {};
  }

  Status TakeNode() {
    INFIMUM_ASSIGN_OR_RETURN(const std::string_view name, NameOfEvent());
    const std::string_view op = op_name_.Text();
    last_event_ = events_.names.Intern(name);
    last_op_ = op;
    if (!name.ends_with(kKernelTime)) return {};
    OnnxRuntimeExecution execution;
    INFIMUM_ASSIGN_OR_RETURN(execution.start, Start());
    INFIMUM_ASSIGN_OR_RETURN(execution.duration, Microseconds(duration_));
    if (events_.executions.size() >= kNone) return Error{"more than 4,294,967,295 executions of nodes"};
    execution.thread = Thread();
    execution.layer = Layer(last_event_, name, op);
    events_.threads = std::max(events_.threads, told_threads_);
    const auto index = static_cast<std::uint32_t>(events_.executions.size());
    events_.executions.push_back(execution);
    EventOf(last_event_).last_execution = index;
    if (awaited_.empty()) return {};
    if (const auto awaited = awaited_.find(last_event_); awaited != awaited_.end()) {
      for (OnnxRuntimeKernel kernel : awaited->second) {
        kernel.execution = index;
        events_.kernels.push_back(kernel);
      }
      awaited_.erase(awaited);
    }
    return {};
  }

  Status TakeKernel() {
    OnnxRuntimeKernel kernel;
    INFIMUM_ASSIGN_OR_RETURN(const std::string_view name, NameOfEvent());
    INFIMUM_ASSIGN_OR_RETURN(kernel.duration, Microseconds(duration_));
    // What the first versions wrote in place of kernels.
    if (name == "not_available_due_to_cupti_error") return {};
    kernel.name = events_.names.Intern(name);
    if (const std::string_view correlation = correlation_.Text(); !correlation.empty()) {
      TakeCorrelated(kernel, correlation);
      return {};
    }
    const std::string_view parent_name = parent_name_.Text();
    NameId parent = events_.names.Intern(parent_name);
    if (parent_name.empty()) {
      // Until 1.13 a kernel stood behind an event of its node, and had the node's operator.
      const std::string_view op = op_name_.Text();
      if (!op.empty() && op == last_op_) parent = last_event_;
    }
    if (const std::string_view text = events_.names.text(parent); text.ends_with(kFenceBefore)) {
      const std::string_view node = text.substr(0, text.size() - kFenceBefore.size());
      awaited_[events_.names.Intern(fmt::format("{}{}", node, kKernelTime))].push_back(kernel);
      return {};
    }
    kernel.execution = EventOf(parent).last_execution;
    if (kernel.execution == kNone) {
      AddStray(kernel);
    } else {
      events_.kernels.push_back(kernel);
    }
    return {};
  }

  // A kernel of a plug-in provider: those are at the end of the file.
  void TakeCorrelated(const OnnxRuntimeKernel& kernel, std::string_view correlation) {
    constexpr std::int64_t kMostCorrelation = std::int64_t{1} << 61;  // microseconds of 1970
    const std::optional<std::int64_t> number = ParseInteger(correlation);
    if (!number)
      oddities_.Note(
          [&] { return Error{fmt::format("'ort_correlation_id' is {}, not a number", Quoted(correlation))}; });
    const auto layer =
        layers_.find(LayerKey(events_.names.Intern(started_by_.Text()), events_.names.Intern(started_by_node_.Text())));
    if (layer == layers_.end() || !number || *number < 0 || *number > kMostCorrelation) {
      AddStray(kernel);
    } else {
      correlated_.push_back({kernel, layer->second, *number});
    }
  }

  // A kernel without one took its time but belongs to no node.
  Result<std::string_view> NameOfEvent() const {
    return name_.absent() ? Result(std::string_view()) : name_.NeededText();
  }

  // What has no start began with the profile.
  Result<std::int64_t> Start() const { return start_.absent() ? Result(std::int64_t{0}) : Microseconds(start_); }

  // ONNX Runtime writes whole microseconds, other tools that write its profiles again may not.
  Result<std::int64_t> Microseconds(const EventField& field) const {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t nanoseconds, field.NeededNanoseconds());
    if (nanoseconds > 1000 * kYear)
      return Error{fmt::format("'{}' is {}: longer than a year", field.name(), field.token())};
    if (nanoseconds % 1000 != 0)
      oddities_.Note([&] {
        return Error{fmt::format("'{}' is {}, not whole microseconds, and is rounded", field.name(), field.token())};
      });
    return (nanoseconds + 500) / 1000;
  }

  std::uint32_t Thread() {
    if (thread_.is_text())
      oddities_.Note([this] { return Error{fmt::format("'tid' is the text {}", Quoted(thread_.token()))}; });
    const std::int64_t number = thread_.absent() ? 0 : NumberOrName(thread_.token(), events_.names);
    if (threads_.empty() || number != last_thread_.first)
      last_thread_ = *threads_.emplace(number, static_cast<std::uint32_t>(threads_.size())).first;
    return last_thread_.second;
  }

  // By the event and the number of the node: names of nodes are not always different.
  std::uint32_t Layer(NameId event, std::string_view name, std::string_view op) {
    const std::string_view node_index = node_index_.Text();
    Event& known = EventOf(event);
    if (known.layer != kNone && events_.names.text(known.node_index) == node_index) {
      ReadShapes(known.layer);
      return known.layer;
    }
    const NameId node = events_.names.Intern(node_index);
    auto entry = layers_.find(LayerKey(event, node));
    if (entry == layers_.end()) {
      entry = layers_.emplace(LayerKey(event, node), static_cast<std::uint32_t>(events_.layers.size())).first;
      ProfiledLayer& layer = events_.layers.emplace_back();
      layer.name = name.substr(0, name.size() - kKernelTime.size());
      layer.op = op;
      layer.provider = provider_.Text();
      layer.input_tensors = TensorsOf(ParseList(inputs_.token()));
      layer.output_tensors = TensorsOf(ParseList(outputs_.token()));
      shapes_.emplace_back();
    }
    ReadShapes(entry->second);
    known.node_index = node;
    known.layer = entry->second;
    return known.layer;
  }

  void ReadShapes(std::uint32_t index) {
    Shapes& shapes = shapes_[index];
    const std::size_t hash = std::hash<std::string_view>()(inputs_.token());
    if (++shapes.executions > 1 && hash != shapes.last) {
      shapes.vary = shapes.vary || shapes.executions > 2;
      events_.layers[index].input_tensors = TensorsOf(ParseList(inputs_.token()));
      events_.layers[index].output_tensors = TensorsOf(ParseList(outputs_.token()));
    }
    shapes.last = hash;
  }

  static std::uint64_t LayerKey(NameId event, NameId node_index) {
    return static_cast<std::uint64_t>(event) << 32 | static_cast<std::uint64_t>(node_index);
  }

  Event& EventOf(NameId name) {
    const auto index = static_cast<std::size_t>(name);
    if (by_name_.size() <= index) by_name_.resize(std::max(events_.names.size(), index + 1));
    return by_name_[index];
  }

  void AddStray(const OnnxRuntimeKernel& kernel) {
    ++events_.stray_kernels;
    events_.stray_time += Latency(static_cast<double>(kernel.duration));
  }

  Oddities& oddities_;
  EventField category_{"cat", oddities_}, name_{"name", oddities_}, start_{"ts", oddities_},
      duration_{"dur", oddities_}, thread_{"tid", oddities_};
  EventField op_name_{"op_name", oddities_}, provider_{"provider", oddities_}, node_index_{"node_index", oddities_},
      parent_name_{"parent_name", oddities_}, inputs_{"input_type_shape", oddities_},
      outputs_{"output_type_shape", oddities_}, correlation_{"ort_correlation_id", oddities_},
      started_by_{"ort_event_name", oddities_}, started_by_node_{"ort_node_index", oddities_};
  const FieldSet fields_ = {&category_, &name_, &start_, &duration_, &thread_};
  const FieldSet arguments_ = {&op_name_, &provider_,    &node_index_, &parent_name_,    &inputs_,
                               &outputs_, &correlation_, &started_by_, &started_by_node_};

  OnnxRuntimeEvents events_;
  std::vector<Event> by_name_;  // by NameId
  std::unordered_map<std::uint64_t, std::uint32_t> layers_;
  std::vector<Shapes> shapes_;  // by layer
  std::unordered_map<std::int64_t, std::uint32_t> threads_;
  std::pair<std::int64_t, std::uint32_t> last_thread_;
  std::unordered_map<NameId, std::vector<OnnxRuntimeKernel>> awaited_;  // by the event that is to come
  std::vector<CorrelatedKernel> correlated_;
  std::optional<std::int64_t> told_threads_;  // by the event that is read
  NameId last_event_ = kNoName;               // of a node
  std::string last_op_;
};

}  // namespace

Result<OnnxRuntimeEvents> ReadOnnxRuntimeEvents(std::istream& input, std::string_view origin) {
  Oddities oddities;
  EventReader reader(oddities);
  EventList list;
  list.document = "an ONNX Runtime profile";
  list.first_number = 1;
  INFIMUM_ASSIGN_OR_RETURN(const TraceFrame frame,
                           ReadTraceEvents(
                               input, origin, list, oddities, [&](TraceEvent& event) { return reader.Read(event); },
                               [&] { return reader.Take(); }));
  OnnxRuntimeEvents events = std::move(reader).Finish();
  if (events.executions.empty())
    return Within(std::string(origin), oddities.Explain(Error{"not an ONNX Runtime profile: it has no node events"}));
  if (events.inferences.empty() && events.lost_inferences > 0)
    return Within(std::string(origin),
                  oddities.Explain(Error{"it has no readable event 'model_run', so no inference has an end"}));
  return events;
}

}  // namespace infimum::ingest
