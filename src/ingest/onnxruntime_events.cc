#include "src/ingest/onnxruntime_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "infimum/base/text.h"
#include "src/ingest/json_fields.h"
#include "src/ingest/onnxruntime_threads.h"

namespace infimum::ingest {
namespace {

constexpr std::string_view kKernelTime = "_kernel_time";
constexpr std::string_view kFenceBefore = "_fence_before";
constexpr std::int64_t kYear = 31'536'000'000'000;
constexpr std::int64_t kMostCorrelation = std::int64_t{1} << 61;  // microseconds of 1970

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

const Json& ArgumentsOf(const Json& event) {
  static const Json none = Json::object();
  const auto found = event.find("args");
  return found != event.end() && found->is_object() ? *found : none;
}

class EventReader {
 public:
  Status Take(const Json& event) {
    const auto category = event.find("cat");
    if (category == event.end() || !category->is_string()) return {};
    if (*category == "Session") return TakeSession(event);
    if (*category == "Node") return TakeNode(event);
    if (*category == "Kernel") return TakeKernel(event);
    return {};
  }

  OnnxRuntimeEvents Finish() && {
    JoinByCorrelation();
    for (const auto& [name, kernels] : awaited_)
      for (const OnnxRuntimeKernel& kernel : kernels) AddStray(kernel);
    return std::move(events_);
  }

 private:
  // A kernel of a provider that is a plug-in: those stand at the end of the file.
  struct CorrelatedKernel {
    OnnxRuntimeKernel kernel;
    std::size_t layer;
    std::int64_t correlation;
  };

  Status TakeSession(const Json& event) {
    const auto name = event.find("name");
    if (name == event.end() || *name != "model_run") return {};
    OnnxRuntimeInference inference;
    INFIMUM_ASSIGN_OR_RETURN(inference.start, IntegerField(event, "ts", 0, kYear, 0));
    INFIMUM_ASSIGN_OR_RETURN(inference.duration, IntegerField(event, "dur", 0, kYear, 0));
    INFIMUM_ASSIGN_OR_RETURN(inference.thread, IntegerField(event, "tid", INT64_MIN, INT64_MAX, 0));
    events_.inferences.push_back(inference);
    return {};
  }

  Status TakeNode(const Json& event) {
    INFIMUM_ASSIGN_OR_RETURN(std::string name, TextField(event, "name"));
    const Json& arguments = ArgumentsOf(event);
    INFIMUM_ASSIGN_OR_RETURN(const std::string op, TextField(arguments, "op_name"));
    last_event_ = name;
    last_op_ = op;
    if (!name.ends_with(kKernelTime)) return {};
    OnnxRuntimeExecution execution;
    INFIMUM_ASSIGN_OR_RETURN(execution.start, IntegerField(event, "ts", 0, kYear, 0));
    INFIMUM_ASSIGN_OR_RETURN(execution.duration, IntegerField(event, "dur", 0, kYear, 0));
    INFIMUM_ASSIGN_OR_RETURN(execution.thread, IntegerField(event, "tid", INT64_MIN, INT64_MAX, 0));
    INFIMUM_ASSIGN_OR_RETURN(const std::string node_index, TextField(arguments, "node_index"));
    INFIMUM_ASSIGN_OR_RETURN(const std::string provider, TextField(arguments, "provider"));
    if (const auto statistics = arguments.find("thread_scheduling_stats"); statistics != arguments.end())
      events_.threads = std::max(events_.threads, OnnxRuntimeThreads(*statistics));
    const std::size_t index = events_.executions.size();
    last_execution_[name] = index;
    if (const auto awaited = awaited_.find(name); awaited != awaited_.end()) {
      for (OnnxRuntimeKernel kernel : awaited->second) {
        kernel.execution = index;
        events_.kernels.push_back(kernel);
      }
      awaited_.erase(awaited);
    }
    const auto [entry, is_new] = layers_.emplace(std::pair(name, node_index), events_.layers.size());
    if (is_new) {
      ProfiledLayer layer;
      layer.name = name.substr(0, name.size() - kKernelTime.size());
      layer.op = op;
      layer.provider = provider;
      layer.input_tensors = TensorsOf(arguments, "input_type_shape");
      layer.output_tensors = TensorsOf(arguments, "output_type_shape");
      events_.layers.push_back(std::move(layer));
    }
    execution.layer = entry->second;
    events_.executions.push_back(execution);
    return {};
  }

  Status TakeKernel(const Json& event) {
    OnnxRuntimeKernel kernel;
    INFIMUM_ASSIGN_OR_RETURN(const std::string name, TextField(event, "name"));
    INFIMUM_ASSIGN_OR_RETURN(kernel.duration, IntegerField(event, "dur", 0, kYear, 0));
    // What the first versions wrote in place of kernels.
    if (name == "not_available_due_to_cupti_error") return {};
    kernel.name = events_.kernel_names.Intern(name);
    const Json& arguments = ArgumentsOf(event);
    INFIMUM_ASSIGN_OR_RETURN(const std::string correlation, TextField(arguments, "ort_correlation_id"));
    if (!correlation.empty()) {
      INFIMUM_ASSIGN_OR_RETURN(const std::string started_by, TextField(arguments, "ort_event_name"));
      INFIMUM_ASSIGN_OR_RETURN(const std::string node_index, TextField(arguments, "ort_node_index"));
      const auto layer = layers_.find(std::pair(started_by, node_index));
      const std::optional<std::int64_t> number = ParseInteger(correlation);
      if (!number) return Error{fmt::format("'ort_correlation_id' is {}, not a number", Quoted(correlation))};
      if (layer == layers_.end() || *number < 0 || *number > kMostCorrelation) {
        AddStray(kernel);
      } else {
        correlated_.push_back({kernel, layer->second, *number});
      }
      return {};
    }
    INFIMUM_ASSIGN_OR_RETURN(std::string parent, TextField(arguments, "parent_name"));
    if (parent.empty()) {
      // Until 1.13 a kernel stood behind an event of its node, and had the node's operator.
      INFIMUM_ASSIGN_OR_RETURN(const std::string op, TextField(arguments, "op_name"));
      if (!op.empty() && op == last_op_) parent = last_event_;
    }
    if (parent.ends_with(kFenceBefore)) {
      parent.replace(parent.size() - kFenceBefore.size(), kFenceBefore.size(), kKernelTime);
      awaited_[parent].push_back(kernel);
      return {};
    }
    const auto execution = last_execution_.find(parent);
    if (execution == last_execution_.end()) {
      AddStray(kernel);
    } else {
      kernel.execution = execution->second;
      events_.kernels.push_back(kernel);
    }
    return {};
  }

  void AddStray(const OnnxRuntimeKernel& kernel) {
    ++events_.stray_kernels;
    events_.stray_time += Latency(static_cast<double>(kernel.duration));
  }

  // A correlation is the start of the node's execution on a clock with another origin, which the file does not tell:
  // the one by which each kernel has an execution of its layer.
  void JoinByCorrelation() {
    if (correlated_.empty()) return;
    std::vector<std::unordered_map<std::int64_t, std::size_t>> by_start(events_.layers.size());
    for (std::size_t e = 0; e < events_.executions.size(); ++e)
      by_start[events_.executions[e].layer].emplace(events_.executions[e].start, e);
    // Few origins are worth a try: of the layer that ran least often, from the earliest on.
    const auto rarest = std::min_element(correlated_.begin(), correlated_.end(), [&](const auto& a, const auto& b) {
      return std::pair(by_start[a.layer].size(), a.correlation) < std::pair(by_start[b.layer].size(), b.correlation);
    });
    std::set<std::int64_t> candidates;
    for (const auto& [start, execution] : by_start[rarest->layer]) candidates.insert(rarest->correlation - start);
    std::size_t steps = 0;
    const auto fits = [&](std::int64_t origin) {
      return std::all_of(correlated_.begin(), correlated_.end(), [&](const CorrelatedKernel& kernel) {
        ++steps;
        return by_start[kernel.layer].contains(kernel.correlation - origin);
      });
    };
    // A real file's first or second candidate fits, or a wrong one soon fails.
    const std::size_t most_steps = 100 * correlated_.size() + 1'000'000;
    std::optional<std::int64_t> origin;
    for (auto candidate = candidates.rbegin(); candidate != candidates.rend() && !origin; ++candidate) {
      if (steps > most_steps) break;
      if (fits(*candidate)) origin = *candidate;
    }
    for (CorrelatedKernel& correlated : correlated_) {
      if (!origin) {
        AddStray(correlated.kernel);
        continue;
      }
      correlated.kernel.execution = by_start[correlated.layer].at(correlated.correlation - *origin);
      events_.kernels.push_back(correlated.kernel);
    }
  }

  OnnxRuntimeEvents events_;
  std::map<std::pair<std::string, std::string>, std::size_t> layers_;  // by event and number of the node
  std::unordered_map<std::string, std::size_t> last_execution_;        // by event
  std::unordered_map<std::string, std::vector<OnnxRuntimeKernel>> awaited_;
  std::vector<CorrelatedKernel> correlated_;
  std::string last_event_, last_op_;  // of a node
};

}  // namespace

Result<OnnxRuntimeEvents> ReadOnnxRuntimeEvents(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseJson(input, origin));
  const Json* events = &document;
  if (document.is_object() && document.contains("traceEvents")) events = &document["traceEvents"];
  if (!events->is_array()) return Error{fmt::format("{}: not an ONNX Runtime profile: no list of events", origin)};
  EventReader reader;
  std::size_t position = 0;
  for (const Json& event : *events) {
    ++position;
    if (!event.is_object()) return Error{fmt::format("{}: event {} is not an object", origin, position)};
    const Status taken = reader.Take(event);
    if (!taken) return Within(fmt::format("{}: event {}", origin, position), taken.error());
  }
  return std::move(reader).Finish();
}

}  // namespace infimum::ingest
