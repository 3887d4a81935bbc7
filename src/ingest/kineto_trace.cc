#include "infimum/ingest/kineto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "src/ingest/trace_events.h"
#include "src/ingest/trace_values.h"

namespace infimum {
namespace {

using ingest::Broken;

enum class Kept : std::uint8_t { kNothing, kOperator, kRuntime, kAnnotation, kKernel, kCopy, kSet };

// Categories as Kineto writes them since 2022, before, and for other makers' devices.
struct Category {
  std::string_view name;
  Kept kept;
};
constexpr std::array kCategories = {
    Category{"kernel", Kept::kKernel},
    Category{"cpu_op", Kept::kOperator},
    Category{"cuda_runtime", Kept::kRuntime},
    Category{"cuda_driver", Kept::kRuntime},
    Category{"gpu_memcpy", Kept::kCopy},
    Category{"gpu_memset", Kept::kSet},
    Category{"user_annotation", Kept::kAnnotation},
    Category{"Kernel", Kept::kKernel},
    Category{"Operator", Kept::kOperator},
    Category{"Runtime", Kept::kRuntime},
    Category{"Memcpy", Kept::kCopy},
    Category{"Memset", Kept::kSet},
    Category{"privateuse1_runtime", Kept::kRuntime},
    Category{"privateuse1_driver", Kept::kRuntime},
    Category{"xpu_runtime", Kept::kRuntime},
    Category{"concurrent_kernel", Kept::kKernel},
};

Kept KeptOf(std::string_view category) {
  const auto* const found = std::find_if(kCategories.begin(), kCategories.end(),
                                         [&](const Category& known) { return known.name == category; });
  return found == kCategories.end() ? Kept::kNothing : found->kept;
}

// One event's fields, as views of the window.
struct Fields {
  char phase = 0;
  std::string_view category;
  std::optional<std::string_view> name, shapes, grid, block;
  std::string_view start, duration, process, thread;
  std::optional<std::int64_t> external_id, correlation, device, stream;
};

class KinetoReader {
 public:
  Status Take(ingest::TraceEvent& event) {
    Fields fields;
    INFIMUM_RETURN_IF_ERROR(ReadFields(event.object, fields));
    const Kept kept = fields.phase == 'X' ? KeptOf(fields.category) : Kept::kNothing;
    std::int64_t start = 0, duration = 0;
    if (fields.phase == 'X') {
      INFIMUM_ASSIGN_OR_RETURN(start, Nanoseconds(fields.start, "ts"));
      INFIMUM_ASSIGN_OR_RETURN(duration, fields.duration.empty() ? Result<std::int64_t>(std::int64_t{0})
                                                                 : Nanoseconds(fields.duration, "dur"));
      if (duration < 0) return Error{"'dur' is negative"};
    }
    if (kept == Kept::kNothing) {
      ++Passed(fields);
      return {};
    }
    if (!fields.name) return Error{"'name' is not a text"};
    const auto thread = kept < Kept::kKernel ? ThreadOf(fields) : StreamOf(fields);
    if (!thread.ok()) return thread.error();
    timeline_.first_ns = std::min(timeline_.first_ns, start);
    timeline_.last_ns = std::max(timeline_.last_ns, start + duration);
    const NameId name = timeline_.names.Intern(*fields.name);
    if (kept < Kept::kKernel) {
      HostCall& call = timeline_.host_calls.emplace_back();
      call.start_ns = start;
      call.duration_ns = duration;
      call.correlation = fields.correlation.value_or(-1);
      call.external_id = fields.external_id.value_or(-1);
      call.name = name;
      if (fields.shapes) call.shapes = timeline_.names.Intern(*fields.shapes);
      call.thread = *thread;
      call.kind = kept == Kept::kOperator  ? HostCallKind::kOperator
                  : kept == Kept::kRuntime ? HostCallKind::kRuntime
                                           : HostCallKind::kAnnotation;
      return {};
    }
    DeviceWork& work = timeline_.device_work.emplace_back();
    work.start_ns = start;
    work.duration_ns = duration;
    work.correlation = fields.correlation.value_or(-1);
    work.external_id = fields.external_id.value_or(-1);
    work.name = name;
    work.launch = LaunchOf(fields);
    work.stream = *thread;
    work.kind = kept == Kept::kKernel ? DeviceWorkKind::kKernel
                : kept == Kept::kCopy ? DeviceWorkKind::kCopy
                                      : DeviceWorkKind::kSet;
    return {};
  }

  Result<Timeline> Finish(const ingest::TraceFrame& frame) {
    timeline_.profiler = "kineto";
    timeline_.events = frame.events;
    if (timeline_.host_calls.empty() && timeline_.device_work.empty()) {
      timeline_.first_ns = timeline_.last_ns = 0;
      return Error{
          "no event of it is an operator, a call of the CUDA or HIP interface, a kernel or a copy: not a trace "
          "of PyTorch's profiler"};
    }
    ReadDevices(frame.top);
    SortByStart(timeline_);
    for (const auto& [what, count] : passed_)
      timeline_.remarks.push_back(
          fmt::format("{} passed over: {}", what.empty() ? "events without a category" : what, count));
    for (std::string& remark : ingest::Remarks(frame)) timeline_.remarks.push_back(std::move(remark));
    return std::move(timeline_);
  }

 private:
  Status ReadFields(simdjson::ondemand::object& object, Fields& fields) {
    for (auto element : object) {
      simdjson::ondemand::field field;
      if (const auto code = std::move(element).get(field); code != simdjson::SUCCESS) return Broken(code);
      const std::string_view key = ingest::KeyOf(field);
      simdjson::ondemand::value& value = field.value();
      if (key == "ph") {
        const std::string_view token = ingest::TokenOf(value);
        if (token.size() != 3 || token.front() != '"') return Error{"'ph' is not a letter"};
        fields.phase = token[1];
      } else if (key == "cat") {
        const auto text = ingest::TextOf(value, category_scratch_);
        if (!text) return Error{"'cat' is not a text"};
        fields.category = *text;
      } else if (key == "name") {
        fields.name = ingest::TextOf(value, name_scratch_);
      } else if (key == "ts") {
        fields.start = ingest::TokenOf(value);
      } else if (key == "dur") {
        fields.duration = ingest::TokenOf(value);
      } else if (key == "pid") {
        fields.process = ingest::TokenOf(value);
      } else if (key == "tid") {
        fields.thread = ingest::TokenOf(value);
      } else if (key == "args") {
        INFIMUM_RETURN_IF_ERROR(ReadArguments(value, fields));
      }
    }
    return {};
  }

  static Status ReadArguments(simdjson::ondemand::value& arguments, Fields& fields) {
    simdjson::ondemand::object object;
    const auto code = arguments.get_object().get(object);
    if (code == simdjson::INCORRECT_TYPE) return {};
    if (code != simdjson::SUCCESS) return Broken(code);
    for (auto element : object) {
      simdjson::ondemand::field field;
      if (const auto error = std::move(element).get(field); error != simdjson::SUCCESS) return Broken(error);
      const std::string_view key = ingest::KeyOf(field);
      simdjson::ondemand::value& value = field.value();
      if (key == "External id" || key == "external id") {
        fields.external_id = ingest::IntegerOf(ingest::TokenOf(value));
      } else if (key == "correlation") {
        INFIMUM_RETURN_IF_ERROR(Integer(value, "args.correlation", fields.correlation));
      } else if (key == "device") {
        INFIMUM_RETURN_IF_ERROR(Integer(value, "args.device", fields.device));
      } else if (key == "stream") {
        INFIMUM_RETURN_IF_ERROR(Integer(value, "args.stream", fields.stream));
      } else if (key == "Input Dims" || key == "Input dims") {
        if (const auto error = ingest::WholeOf(value, fields.shapes); error != simdjson::SUCCESS) return Broken(error);
      } else if (key == "grid") {
        if (const auto error = ingest::WholeOf(value, fields.grid); error != simdjson::SUCCESS) return Broken(error);
      } else if (key == "block") {
        if (const auto error = ingest::WholeOf(value, fields.block); error != simdjson::SUCCESS) return Broken(error);
      }
    }
    return {};
  }

  static Status Integer(simdjson::ondemand::value& value, const char* name, std::optional<std::int64_t>& number) {
    number = ingest::IntegerOf(ingest::TokenOf(value));
    if (!number) return Error{fmt::format("'{}' is not a whole number", name)};
    return {};
  }

  static Result<std::int64_t> Nanoseconds(std::string_view token, const char* name) {
    if (token.empty()) return Error{fmt::format("'{}' is missing", name)};
    const std::optional<std::int64_t> time = ingest::NanosecondsOf(token);
    if (!time) return Error{fmt::format("'{}' is not a time in microseconds", name)};
    return *time;
  }

  // A process or thread by number. Those that have a name instead get a negative number that is theirs.
  std::int64_t NumberOf(std::string_view token) {
    if (const auto number = ingest::IntegerOf(token)) return *number;
    return -2 - static_cast<std::int64_t>(timeline_.names.Intern(token));
  }

  template <class Entry>
  static std::uint32_t IndexOf(const Entry& entry, std::vector<Entry>& entries) {
    // Traces have some threads and streams; most events are of the last one.
    for (std::size_t i = entries.size(); i-- > 0;)
      if (entries[i] == entry) return static_cast<std::uint32_t>(i);
    entries.push_back(entry);
    return static_cast<std::uint32_t>(entries.size() - 1);
  }

  static constexpr std::size_t kMostRows = 65536;

  Result<std::uint32_t> ThreadOf(const Fields& fields) {
    const std::uint32_t index = IndexOf({NumberOf(fields.process), NumberOf(fields.thread)}, timeline_.threads);
    if (index >= kMostRows) return Error{"more than 65,536 threads"};
    return index;
  }

  // Old traces say "stream 7" where newer ones have the number.
  Result<std::uint32_t> StreamOf(const Fields& fields) {
    std::string_view thread = fields.thread;
    if (thread.starts_with("\"stream ")) thread = thread.substr(8, thread.size() - 9);
    const std::int64_t device = fields.device ? *fields.device : NumberOf(fields.process);
    const std::int64_t stream = fields.stream ? *fields.stream : NumberOf(thread);
    const std::uint32_t index = IndexOf({device, stream}, timeline_.streams);
    if (index >= kMostRows) return Error{"more than 65,536 streams"};
    return index;
  }

  NameId LaunchOf(const Fields& fields) {
    if (!fields.grid || !fields.block) return kNoName;
    launch_scratch_.clear();
    // Blanks between the numbers are left out: writers differ in them.
    const auto append = [this](std::string_view part, std::string_view text) {
      launch_scratch_ += part;
      for (const char c : text)
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') launch_scratch_ += c;
    };
    append("grid ", *fields.grid);
    append(" block ", *fields.block);
    return timeline_.names.Intern(launch_scratch_);
  }

  std::int64_t& Passed(const Fields& fields) {
    // Counted by category where there is one; flow arrows and other phases by their letter.
    const std::string_view what = fields.phase == 'X' ? fields.category : PhaseName(fields.phase);
    if (what == last_passed_ && last_count_ != nullptr) return *last_count_;
    constexpr std::size_t kMostKinds = 100;
    const auto place = passed_.find(what);
    if (place != passed_.end() || passed_.size() < kMostKinds) {
      const auto entry = place != passed_.end() ? place : passed_.emplace(std::string(what), 0).first;
      last_passed_ = entry->first;
      last_count_ = &entry->second;
      return entry->second;
    }
    return passed_["other categories"];
  }

  static std::string_view PhaseName(char phase) {
    switch (phase) {
      case 's':
      case 't':
      case 'f':
        return "flow arrows";
      case 'M':
        return "names of rows";
      case 'i':
      case 'I':
        return "instants";
      case 'C':
        return "counters";
      case 'B':
      case 'E':
        return "begin and end events";
      default:
        return "events of other kinds";
    }
  }

  void ReadDevices(const ingest::Json& top) {
    if (!top.is_object()) return;
    const auto devices = top.find("deviceProperties");
    if (devices == top.end() || !devices->is_array()) return;
    for (const ingest::Json& entry : *devices) {
      if (!entry.is_object()) continue;
      TimelineDevice device;
      const auto number = ingest::IntegerField(entry, "id", 0, std::numeric_limits<std::int32_t>::max(), 0);
      const auto name = ingest::TextField(entry, "name");
      if (!number.ok() || !name.ok()) continue;
      device.number = *number;
      device.name = *name;
      for (const char* key : {"numSms", "multiprocessors", "multiProcessorCount"})
        if (const auto count = ingest::IntegerField(entry, key, 0, 1 << 20, 0); count.ok() && *count > 0)
          device.multiprocessors = *count;
      timeline_.devices.push_back(std::move(device));
    }
  }

  Timeline timeline_ = [] {
    Timeline timeline;
    timeline.first_ns = std::numeric_limits<std::int64_t>::max();
    timeline.last_ns = std::numeric_limits<std::int64_t>::min();
    return timeline;
  }();
  std::string name_scratch_, category_scratch_, launch_scratch_;
  std::map<std::string, std::int64_t, std::less<>> passed_;
  std::string_view last_passed_;
  std::int64_t* last_count_ = nullptr;
};

}  // namespace

Result<Timeline> ReadKinetoTrace(std::istream& input, std::string_view origin) {
  KinetoReader reader;
  INFIMUM_ASSIGN_OR_RETURN(
      const ingest::TraceFrame frame,
      ingest::ReadTraceEvents(input, origin, {}, [&](ingest::TraceEvent& event) { return reader.Take(event); }));
  Result<Timeline> timeline = reader.Finish(frame);
  if (!timeline.ok()) return Within(std::string(origin), timeline.error());
  return timeline;
}

}  // namespace infimum
