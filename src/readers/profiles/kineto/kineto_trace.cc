#include "src/readers/profiles/kineto/kineto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "infimum/base/text.h"
#include "src/core/graph/framework_names.h"
#include "src/core/results/json_struct.h"
#include "src/readers/files/oddities.h"
#include "src/readers/profiles/events/event_field.h"
#include "src/readers/profiles/events/trace_events.h"

namespace infimum {
namespace {

using ingest::EventField;
using ingest::Unquoted;

constexpr std::string_view kPairs = "begin and end events";

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

// An operator, call or piece of work whose end is not known yet.
struct Begun {
  Kept kept = Kept::kNothing;
  std::int64_t start = 0;
  std::int64_t correlation = -1, external_id = -1;
  NameId name = kNoName;
  NameId detail = kNoName;  // of an operator its shapes, of a kernel its launch
  std::uint32_t row = 0;    // its thread or stream
};

// The place of each thread or stream in the timeline's list.
template <class Row>
class Places {
 public:
  // Reports draw a row for each.
  static constexpr std::size_t kMost = 65536;

  Result<std::uint32_t> Of(std::int64_t first, std::int64_t second, std::vector<Row>& rows) {
    const std::pair key(first, second);
    if (last_ != places_.end() && last_->first == key) return last_->second;
    last_ = places_.find(key);
    if (last_ == places_.end()) {
      if (rows.size() >= kMost) return Error{"more than 65,536 threads or streams"};
      last_ = places_.emplace(key, static_cast<std::uint32_t>(rows.size())).first;
      rows.push_back({first, second});
    }
    return last_->second;
  }

 private:
  using Map = std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t>;
  Map places_;
  typename Map::const_iterator last_ = places_.end();
};

class KinetoReader {
 public:
  explicit KinetoReader(ingest::Oddities& oddities) : oddities_(oddities) {}

  simdjson::error_code Read(ingest::TraceEvent& event) {
    fields_.Clear();
    arguments_.Clear();
    return ingest::ReadFields(event.object, fields_, [this](std::string_view key, simdjson::ondemand::value& value) {
      return key == "args" ? ingest::ReadFields(value, arguments_) : simdjson::SUCCESS;
    });
  }

  Status Take() {
    if (!phase_.is_text() || phase_.token().size() != 3) {
      const bool is_work =
          category_.is_text() ? KeptOf(Unquoted(category_.token())) >= Kept::kKernel : !stream_.absent();
      if (is_work) oddities_.Lose(std::nullopt);
      return Error{phase_.absent() ? "'ph' is missing" : "'ph' is not a letter"};
    }
    const char phase = phase_.token()[1];
    if (phase == 'E') return TakeEnd();
    if (phase != 'X' && phase != 'B') {
      ++Passed(PhaseName(phase));
      return {};
    }
    return phase == 'X' ? TakeWhole() : TakeBegin();
  }

  Result<Timeline> Finish(const ingest::TraceFrame& frame) {
    timeline_.profiler = profiler::kKineto;
    timeline_.events = frame.events;
    for (const auto& [row, begun] : open_)
      for (const Begun& one : begun)
        if (one.kept != Kept::kNothing) {
          ++Passed("begin events without an end");
          if (one.kept >= Kept::kKernel) oddities_.Lose(std::nullopt);
        }
    if (timeline_.host_calls.empty() && timeline_.device_work.empty()) {
      timeline_.first_ns = timeline_.last_ns = 0;
      return oddities_.Explain(
          Error{"it contains no operator, CUDA or HIP call, kernel or copy: not a trace of "
                "PyTorch's profiler" +
                PassedText()});
    }
    ReadDevices(frame.top);
    SortByStart(timeline_);
    SkipOtherClocks();
    double work_ns = 0;
    for (const DeviceWork& work : timeline_.device_work) work_ns += static_cast<double>(work.duration_ns);
    timeline_.skipped_share = oddities_.ShareLost(std::ssize(timeline_.device_work), work_ns);
    for (const auto& [what, count] : passed_) timeline_.remarks.push_back(fmt::format("{} ignored: {}", what, count));
    for (std::string& remark : oddities_.Remarks(timeline_.skipped_share))
      timeline_.remarks.push_back(std::move(remark));
    return std::move(timeline_);
  }

 private:
  Status TakeWhole() {
    Begun begun;
    Status read = Begin(begun, category_.is_text() ? Unquoted(category_.token()) : std::string_view());
    if (read.ok() && begun.kept == Kept::kNothing) return {};
    const Result<std::int64_t> duration = duration_.NeededNanoseconds();
    if (read.ok() && !duration.ok()) read = duration.error();
    if (read.ok()) {
      Add(begun, *duration);
    } else if (begun.kept >= Kept::kKernel) {
      oddities_.Lose(duration.ok() ? std::optional(*duration) : std::nullopt);
    }
    return read;
  }

  // Chrome's other form: a begin and an end, nested on each thread, of which the end need not repeat what it ends.
  Status TakeBegin() {
    Begun begun;
    const Status read = Begin(begun, kPairs);
    if (!read.ok()) {
      if (begun.kept >= Kept::kKernel) oddities_.Lose(std::nullopt);
      begun.kept = Kept::kNothing;
    }
    open_[ThreadKey()].push_back(begun);
    return read;
  }

  Status TakeEnd() {
    std::vector<Begun>& open = open_[ThreadKey()];
    if (open.empty()) return Error{"an end event ('ph' is 'E') without its begin"};
    const Begun begun = open.back();
    open.pop_back();
    if (begun.kept == Kept::kNothing) {
      ++Passed(kPairs);
      return {};
    }
    const Result<std::int64_t> end = start_.NeededNanoseconds(INT64_MIN);
    if (end.ok() && *end >= begun.start) {
      Add(begun, *end - begun.start);
      return {};
    }
    if (begun.kept >= Kept::kKernel) oddities_.Lose(std::nullopt);
    return end.ok() ? Error{"an end event ('ph' is 'E') before its begin"} : end.error();
  }

  // Fields of an event beside its end; events that are not kept are not read.
  Status Begin(Begun& begun, std::string_view passed_as) {
    if (!category_.absent()) {
      const Result<std::string_view> category = category_.NeededText();
      if (!category.ok()) {
        // What has a stream is a device's.
        if (!stream_.absent()) begun.kept = Kept::kKernel;
        return category.error();
      }
      begun.kept = KeptOf(*category);
    }
    if (begun.kept == Kept::kNothing) {
      ++Passed(passed_as);
      return {};
    }
    INFIMUM_ASSIGN_OR_RETURN(begun.start, start_.NeededNanoseconds(INT64_MIN));
    begun.correlation = correlation_.Integer().value_or(-1);
    begun.external_id = (external_id_.absent() ? old_external_id_ : external_id_).Integer().value_or(-1);
    const std::optional<std::int64_t> device = device_.Integer(), stream = stream_.Integer();
    const std::int64_t process = ingest::NumberOrName(process_.token(), timeline_.names);
    if (begun.kept < Kept::kKernel) {
      const std::int64_t thread = ingest::NumberOrName(thread_.token(), timeline_.names);
      INFIMUM_ASSIGN_OR_RETURN(begun.row, threads_.Of(process, thread, timeline_.threads));
      const ingest::EventField& shapes = shapes_.absent() ? old_shapes_ : shapes_;
      if (shapes.is_list()) begun.detail = timeline_.names.Intern(shapes.token());
    } else {
      // Old traces have "stream 7" where newer ones have the number.
      std::string_view thread = thread_.token();
      if (thread.starts_with("\"stream ")) thread = thread.substr(8, thread.size() - 9);
      INFIMUM_ASSIGN_OR_RETURN(
          begun.row, streams_.Of(device.value_or(process),
                                 stream ? *stream : ingest::NumberOrName(thread, timeline_.names), timeline_.streams));
      begun.detail = Launch();
    }
    // Without a name it took its time all the same.
    const Result<std::string_view> name = name_.NeededText();
    if (!name.ok()) oddities_.Note([&] { return name.error(); });
    begun.name = timeline_.names.Intern(name.ok() ? *name : "(no name)");
    return {};
  }

  void Add(const Begun& begun, std::int64_t duration) {
    timeline_.first_ns = std::min(timeline_.first_ns, begun.start);
    timeline_.last_ns = std::max(timeline_.last_ns, begun.start + duration);
    const auto fill = [&](auto& entry) {
      entry.start_ns = begun.start;
      entry.duration_ns = duration;
      entry.correlation = begun.correlation;
      entry.external_id = begun.external_id;
      entry.name = begun.name;
    };
    if (begun.kept < Kept::kKernel) {
      HostCall& call = timeline_.host_calls.emplace_back();
      fill(call);
      call.shapes = begun.detail;
      call.thread = begun.row;
      call.kind = begun.kept == Kept::kOperator  ? HostCallKind::kOperator
                  : begun.kept == Kept::kRuntime ? HostCallKind::kRuntime
                                                 : HostCallKind::kAnnotation;
      return;
    }
    DeviceWork& work = timeline_.device_work.emplace_back();
    fill(work);
    work.launch = begun.detail;
    work.stream = begun.row;
    work.kind = begun.kept == Kept::kKernel ? DeviceWorkKind::kKernel
                : begun.kept == Kept::kCopy ? DeviceWorkKind::kCopy
                                            : DeviceWorkKind::kSet;
  }

  std::pair<std::int64_t, std::int64_t> ThreadKey() {
    return {ingest::NumberOrName(process_.token(), timeline_.names),
            ingest::NumberOrName(thread_.token(), timeline_.names)};
  }

  NameId Launch() {
    if (!grid_.is_list() || !block_.is_list()) return kNoName;
    launch_scratch_.clear();
    // Blanks between the numbers are left out: writers differ in them.
    const auto append = [this](std::string_view part, std::string_view text) {
      launch_scratch_ += part;
      for (const char c : text)
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') launch_scratch_ += c;
    };
    append("grid ", grid_.token());
    append(" block ", block_.token());
    return timeline_.names.Intern(launch_scratch_);
  }

  // Counted by category where there is one; flow arrows and other phases by their letter.
  std::int64_t& Passed(std::string_view what) {
    if (what.empty()) what = "events without a category";
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

  std::string PassedText() const {
    constexpr std::size_t kShown = 5;
    std::string text;
    std::size_t shown = 0;
    for (const auto& [what, count] : passed_) {
      if (shown++ == kShown) break;
      text += fmt::format("{}{}: {}", shown == 1 ? "; ignored: " : ", ", Quoted(what), count);
    }
    return text;
  }

  // No profile lasts for months: what is that far from the rest has a wrong time, or one of another clock. A few events
  // are skipped, since every gap would be theirs; if there are more, a remark calls the gaps meaningless.
  void SkipOtherClocks() {
    constexpr std::int64_t kMonth = std::int64_t{30} * 24 * 3600 * 1'000'000'000;
    if (timeline_.last_ns - timeline_.first_ns <= kMonth) return;
    std::vector<std::int64_t> starts;
    for (const HostCall& call : timeline_.host_calls) starts.push_back(call.start_ns);
    for (const DeviceWork& work : timeline_.device_work) starts.push_back(work.start_ns);
    std::sort(starts.begin(), starts.end());
    std::size_t most = 0, first_of_most = 0;
    for (std::size_t i = 1, first = 0; i <= starts.size(); ++i) {
      if (i < starts.size() && starts[i] - starts[i - 1] <= kMonth) continue;
      if (i - first > most) {
        most = i - first;
        first_of_most = first;
      }
      first = i;
    }
    const std::int64_t earliest = starts[first_of_most], latest = starts[first_of_most + most - 1];
    const auto is_far = [&](const auto& entry) {
      return entry.start_ns < earliest || entry.start_ns > latest || entry.duration_ns > kMonth;
    };
    const auto far =
        std::ranges::count_if(timeline_.host_calls, is_far) + std::ranges::count_if(timeline_.device_work, is_far);
    if (far * 20 > std::ssize(starts)) {
      timeline_.remarks.push_back(
          fmt::format("{} of {} calls and pieces of device work are more than a month from the others: their clock "
                      "is wrong or another one, so gaps and the critical path across them are meaningless",
                      far, starts.size()));
      return;
    }
    timeline_.first_ns = std::numeric_limits<std::int64_t>::max();
    timeline_.last_ns = std::numeric_limits<std::int64_t>::min();
    const auto skip = [&](const auto& entry) {
      if (is_far(entry)) {
        oddities_.Skip(Error{fmt::format("{} is more than a month from the others: 'ts' or 'dur' is wrong",
                                         Quoted(timeline_.names.text(entry.name)))});
        return true;
      }
      timeline_.first_ns = std::min(timeline_.first_ns, entry.start_ns);
      timeline_.last_ns = std::max(timeline_.last_ns, entry.start_ns + entry.duration_ns);
      return false;
    };
    for (const DeviceWork& work : timeline_.device_work)
      if (is_far(work)) oddities_.Lose(std::nullopt);
    std::erase_if(timeline_.host_calls, skip);
    std::erase_if(timeline_.device_work, skip);
  }

  static std::string_view PhaseName(char phase) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"stf", "flow arrows"}, {"M", "names of rows"}, {"iI", "instants"}, {"C", "counters"}};
    for (const auto& [letters, name] : kNames)
      if (letters.find(phase) != std::string_view::npos) return name;
    return "events of other kinds";
  }

  void ReadDevices(const Json& top) {
    if (!top.is_object()) return;
    const auto devices = top.find("deviceProperties");
    if (devices == top.end() || !devices->is_array()) return;
    for (const Json& entry : *devices) {
      if (!entry.is_object()) continue;
      TimelineDevice device;
      JsonReader fields(entry);
      fields.Lenient("id", device.number, {0, std::numeric_limits<std::int32_t>::max()});
      fields.Lenient("name", device.name);
      if (!fields.status().ok()) continue;
      for (const char* key : {"numSms", "multiprocessors", "multiProcessorCount"})
        JsonReader(entry).Lenient(key, device.multiprocessors, {1, 1 << 20});
      timeline_.devices.push_back(std::move(device));
    }
  }

  Timeline timeline_ = [] {
    Timeline timeline;
    timeline.first_ns = std::numeric_limits<std::int64_t>::max();
    timeline.last_ns = std::numeric_limits<std::int64_t>::min();
    return timeline;
  }();
  ingest::Oddities& oddities_;
  EventField phase_{"ph", oddities_}, category_{"cat", oddities_}, name_{"name", oddities_}, start_{"ts", oddities_},
      duration_{"dur", oddities_}, process_{"pid", oddities_}, thread_{"tid", oddities_};
  EventField external_id_{"External id", oddities_}, old_external_id_{"external id", oddities_},
      correlation_{"correlation", oddities_}, device_{"device", oddities_}, stream_{"stream", oddities_},
      shapes_{"Input Dims", oddities_}, old_shapes_{"Input dims", oddities_}, grid_{"grid", oddities_},
      block_{"block", oddities_};
  const ingest::FieldSet fields_ = {&phase_, &category_, &name_, &start_, &duration_, &process_, &thread_};
  const ingest::FieldSet arguments_ = {&external_id_, &old_external_id_, &correlation_, &device_, &stream_,
                                       &shapes_,      &old_shapes_,      &grid_,        &block_};
  Places<TimelineThread> threads_;
  Places<TimelineStream> streams_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Begun>> open_;  // by process and thread
  std::string launch_scratch_;
  std::map<std::string, std::int64_t, std::less<>> passed_;
  std::string_view last_passed_;
  std::int64_t* last_count_ = nullptr;
};

}  // namespace

Result<Timeline> ReadKinetoTrace(std::istream& input, std::string_view origin) {
  ingest::Oddities oddities;
  KinetoReader reader(oddities);
  INFIMUM_ASSIGN_OR_RETURN(
      const ingest::TraceFrame frame,
      ingest::ReadTraceEvents(
          input, origin, {}, oddities, [&](ingest::TraceEvent& event) { return reader.Read(event); },
          [&] { return reader.Take(); }));
  return Within(std::string(origin), reader.Finish(frame));
}

}  // namespace infimum
