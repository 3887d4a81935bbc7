#include "src/readers/benchmarks/scope_benchmarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "infimum/base/text.h"
#include "infimum/measurement/measurement.h"
#include "src/core/results/json_struct.h"
#include "src/readers/benchmarks/benchmark_stream.h"
#include "src/readers/benchmarks/labelled_layers.h"
#include "src/readers/benchmarks/scope_layers.h"

namespace infimum::ingest {

// Joins rows of the same workload, candidate and contract to one, if they are near each other in a file, so
// that memory stays bounded.
//
//   Take(relu by a: 5 us), Take(add by a: 7 us), Take(relu by a: 6 us), Flush()
//     ->  relu by a with the repetitions 5 us and 6 us; add by a with 7 us
//
// What was measured hides a failure of the same, and a failure what was skipped.

inline constexpr std::size_t kRowsOfAWindow = 20'000;
inline constexpr std::size_t kBytesOfAWindow = std::size_t{16} << 20;  // of texts

class RowWindow {
 public:
  using Taker = std::function<Status(std::span<const Measurement> rows)>;
  explicit RowWindow(Taker taker) : taker_(std::move(taker)) {}

  // Hands all rows on when the window is full, in the order of their first entries.
  Status Take(Measurement row);
  Status Flush();

 private:
  Taker taker_;
  std::vector<Measurement> rows_;
  std::unordered_map<std::string, std::size_t> index_;
  std::size_t taken_ = 0;
  std::size_t bytes_ = 0;
};

namespace {

// No part contains a newline.
std::string KeyOfRow(const Measurement& row) {
  std::string key = row.workload.text;
  for (const std::string& part : {row.candidate.name(), row.candidate.input_layout, row.candidate.output_layout,
                                  std::string(Name(row.contract))}) {
    key += '\n';
    key += part;
  }
  return key;
}

void MergeRow(Measurement row, Measurement& into) {
  const bool library_choice = into.candidate.library_choice || row.candidate.library_choice;
  if (row.outcome == Outcome::kMeasured) {
    if (into.outcome == Outcome::kMeasured) {
      into.repetitions.insert(into.repetitions.end(), row.repetitions.begin(), row.repetitions.end());
    } else {
      into = std::move(row);
    }
  } else if (into.outcome == Outcome::kSkipped && row.outcome != Outcome::kSkipped) {
    into = std::move(row);
  }
  into.candidate.library_choice = library_choice;
}

}  // namespace

Status RowWindow::Take(Measurement row) {
  std::string key = KeyOfRow(row);
  ++taken_;
  const auto [entry, added] = index_.try_emplace(std::move(key), rows_.size());
  if (added) {
    bytes_ += 2 * entry->first.size() + row.reason.size();
    rows_.push_back(std::move(row));
  } else {
    MergeRow(std::move(row), rows_[entry->second]);
  }
  return taken_ >= kRowsOfAWindow || bytes_ >= kBytesOfAWindow ? Flush() : Status();
}

Status RowWindow::Flush() {
  const std::span<const Measurement> rows = rows_;
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsOfABatch)
    INFIMUM_RETURN_IF_ERROR(taker_(rows.subspan(begin, std::min(kRowsOfABatch, rows.size() - begin))));
  rows_.clear();
  index_.clear();
  taken_ = bytes_ = 0;
  return {};
}

}  // namespace infimum::ingest

namespace infimum {
namespace {

using ingest::BenchmarkContext;
using ingest::BenchmarkEntry;
using ingest::LabelledLayer;
using ingest::ScopeLayer;
using ingest::ScopeName;
using ingest::UnexpressedLayer;

constexpr std::array<std::string_view, 14> kCounters = {"beta",
                                                        "cupti_enabled",
                                                        "convolution_algorithm",
                                                        "advised_convolution_algorithm",
                                                        "input_a_tensor_layout",
                                                        "input_tensor_layout",
                                                        "output_tensor_layout",
                                                        "x_tensor_layout",
                                                        "y_tensor_layout",
                                                        "min_us",
                                                        "median_us",
                                                        "p95_us",
                                                        "samples",
                                                        "library_choice"};
constexpr std::size_t kMaxReason = 500;
constexpr std::size_t kMostLeftovers = 64;  // kinds of them

// Layouts of one API's entries that ran.
struct Layouts {
  std::string input;
  std::string output;
};

// One entry, before the file's device and layouts are known.
struct Reading {
  std::string api;  // empty: not of scope
  Measurement row;
  std::optional<Layouts> layouts;
};

std::optional<double> Counter(const BenchmarkEntry& entry, std::string_view name) {
  const auto found = entry.counters.find(name);
  return found == entry.counters.end() ? std::nullopt : std::optional(found->second);
}

Result<std::optional<std::string>> LayoutOf(const BenchmarkEntry& entry, std::span<const std::string_view> counters) {
  constexpr std::array<std::string_view, 3> kNames = {"nchw", "nhwc", "nchw_vect_c"};  // cudnnTensorFormat_t
  for (const std::string_view name : counters) {
    const std::optional<double> value = Counter(entry, name);
    if (!value) continue;
    for (std::size_t i = 0; i < kNames.size(); ++i)
      if (*value == static_cast<double>(i)) return std::optional(std::string(kNames[i]));
    return Error{fmt::format("'{}' is {}, expected 0, 1 or 2", name, *value)};
  }
  return std::optional<std::string>();
}

Result<std::optional<Layouts>> LayoutsOf(const BenchmarkEntry& entry) {
  constexpr std::array<std::string_view, 3> kInput = {"x_tensor_layout", "input_tensor_layout",
                                                      "input_a_tensor_layout"};
  constexpr std::array<std::string_view, 2> kOutput = {"y_tensor_layout", "output_tensor_layout"};
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<std::string> input, LayoutOf(entry, kInput));
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<std::string> output, LayoutOf(entry, kOutput));
  if (!input) return std::optional<Layouts>();
  return std::optional(Layouts{*input, output.value_or(*input)});
}

// Made of other entries, which are read themselves. Files of 2019 have no run_type.
bool IsAggregate(const BenchmarkEntry& entry) {
  constexpr std::array<std::string_view, 4> kSuffixes = {"_mean", "_median", "_stddev", "_cv"};
  if (!entry.run_type.empty()) return entry.run_type == "aggregate";
  return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return entry.name.ends_with(suffix); });
}

std::string Reason(std::string_view message) {
  std::string reason(TrimSpace(message).substr(0, kMaxReason));
  while (reason.size() == kMaxReason && (static_cast<unsigned char>(reason.back()) & 0x80U) != 0) reason.pop_back();
  std::ranges::replace_if(
      reason, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return reason.empty() ? "no message" : reason;
}

Result<Latency> TimeOf(const BenchmarkEntry& entry) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}}};
  const auto unit = std::ranges::find(kUnits, entry.time_unit, &std::pair<std::string_view, double>::first);
  if (unit == kUnits.end())
    return Error{fmt::format("'time_unit' is {}, expected ns, us, ms or s", Quoted(entry.time_unit))};
  if (!entry.real_time) return Error{"has no 'real_time'"};
  const double time = *entry.real_time * unit->second;
  if (!(time > 0) || time > kMaxMicroseconds)
    return Error{fmt::format("'real_time' is {} {}, expected a positive time", *entry.real_time, entry.time_unit)};
  return Latency(time);
}

// scope's own profiler, CUPTI, runs kernels again and again to collect its metrics. Entries that failed carry no
// counters, so their message decides.
bool RanUnderProfiler(const BenchmarkEntry& entry) { return Counter(entry, "cupti_enabled").value_or(0) != 0; }
bool FailedInProfiler(const BenchmarkEntry& entry) {
  return entry.failed && (entry.message.find("CUPTI_ERROR") != std::string::npos ||
                          entry.message.find("cupti_profiler") != std::string::npos);
}

// Outcome, reason, repetition and flags.
Status ReadOutcome(const BenchmarkEntry& entry, Measurement& row) {
  if (FailedInProfiler(entry)) {
    row.outcome = Outcome::kSkipped;
    row.reason = Reason("the profiler (CUPTI) failed: " + entry.message);
    return {};
  }
  if (entry.failed || entry.skipped) {
    const bool unsupported = entry.message.find("CUDNN_STATUS_NOT_SUPPORTED") != std::string::npos;
    row.outcome = unsupported ? Outcome::kUnsupported : entry.failed ? Outcome::kFailed : Outcome::kSkipped;
    row.reason = Reason(entry.message);
    return {};
  }
  INFIMUM_ASSIGN_OR_RETURN(const Latency time, TimeOf(entry));
  if (RanUnderProfiler(entry)) {
    row.outcome = Outcome::kSkipped;
    row.reason = "timed under a profiler (CUPTI)";
    return {};
  }
  const double iterations = entry.iterations.value_or(1);
  if (!(iterations >= 1) || iterations > 1e15 || iterations != std::floor(iterations))
    return Error{fmt::format("'iterations' is {}, expected a positive whole number", iterations)};
  row.repetitions = {{static_cast<std::int64_t>(iterations), time, time, time, {}}};
  row.flags = {"mean-of-iterations"};
  return {};
}

// The statistics of a program that infimum wrote are a repetition like its runners'.
Status ReadEmittedOutcome(const BenchmarkEntry& entry, Measurement& row) {
  if (entry.failed || entry.skipped) {
    const ingest::EmittedFailure failure = ingest::FailureOf(entry.message);
    row.outcome = failure.outcome;
    row.reason = Reason(failure.reason);
    return {};
  }
  INFIMUM_ASSIGN_OR_RETURN(Repetition repetition, ingest::EmittedRepetition(entry));
  row.repetitions = {std::move(repetition)};
  return {};
}

Result<std::variant<Reading, UnexpressedLayer>> ReadEntry(const BenchmarkEntry& entry, std::string_view executable,
                                                          bool emitted) {
  using Either = std::variant<Reading, UnexpressedLayer>;
  Reading reading;
  Measurement& row = reading.row;
  if (IsAggregate(entry)) return Either(UnexpressedLayer{"aggregates repeat what other entries contain"});
  if (entry.threads.value_or(1) != 1) return Either(UnexpressedLayer{"a time over several threads is not a latency"});
  if (ingest::IsScopeName(entry.name)) {
    INFIMUM_ASSIGN_OR_RETURN(ScopeName name, ingest::ParseScopeName(entry.name));
    INFIMUM_ASSIGN_OR_RETURN(auto layer, ingest::LayerOf(name));
    if (auto* unexpressed = std::get_if<UnexpressedLayer>(&layer)) return Either(std::move(*unexpressed));
    ScopeLayer& known = std::get<ScopeLayer>(layer);
    row.workload = KeyOf(known.workload);
    row.candidate = std::move(known.candidate);
    row.contract = known.contract;
    if (name.api == "CUDNN_ADD_TENSOR" && Counter(entry, "beta") == 0.0) {
      INFIMUM_ASSIGN_OR_RETURN(const Workload written_out, ingest::WrittenOutBias(name));
      row.workload = KeyOf(written_out);
    }
    reading.api = name.api + "_" + name.type;
    INFIMUM_ASSIGN_OR_RETURN(reading.layouts, LayoutsOf(entry));
  } else {
    std::optional<LabelledLayer> layer =
        emitted ? ingest::FindEmittedLayer(entry) : ingest::FindLabelledLayer(entry, executable);
    if (!layer) return Either(UnexpressedLayer{"neither its label nor its name is a workload"});
    row.workload = KeyOf(layer->workload);
    row.candidate = std::move(layer->candidate);
    row.contract = layer->contract.value_or(NativeContract(layer->workload));
    row.flags = std::move(layer->flags);
  }
  if (emitted) {
    INFIMUM_RETURN_IF_ERROR(ReadEmittedOutcome(entry, row));
    return Either(std::move(reading));
  }
  INFIMUM_RETURN_IF_ERROR(ReadOutcome(entry, row));
  const std::optional<double> algorithm = Counter(entry, "convolution_algorithm");
  row.candidate.library_choice = algorithm && algorithm == Counter(entry, "advised_convolution_algorithm");
  return Either(std::move(reading));
}

// Counts what is left out, by API and reason.
class Leftovers {
 public:
  void Add(const BenchmarkEntry& entry, std::string_view reason) {
    std::string api;
    if (ingest::IsScopeName(entry.name)) {
      if (Result<ScopeName> name = ingest::ParseScopeName(entry.name); name.ok()) api = std::move(name->api);
    }
    // The arguments that a reason may quote do not make a kind of its own.
    std::pair<std::string, std::string> key(api, reason.substr(0, reason.find(':')));
    if (!kinds_.contains(key) && kinds_.size() >= kMostLeftovers) key = std::pair(std::string(), std::string(kOthers));
    Kind& kind = kinds_[key];
    if (kind.count++ == 0) kind.reason = key.second == kOthers ? kOthers : reason;
  }

  std::vector<std::string> Sentences() const {
    std::vector<std::string> sentences;
    for (const auto& [key, kind] : kinds_) {
      const std::string& api = key.first;
      sentences.push_back(fmt::format("{} {}{}{} left out: {}", kind.count, kind.count == 1 ? "entry" : "entries",
                                      api.empty() ? "" : " of ", api, kind.reason));
    }
    return sentences;
  }

 private:
  static constexpr std::string_view kOthers = "with further reasons";
  struct Kind {
    std::string reason;  // of the first
    std::size_t count = 0;
  };
  std::map<std::pair<std::string, std::string>, Kind> kinds_;  // by API, empty for other programs, and reason
};

class ScopeReader {
 public:
  ScopeReader(std::istream& input, std::string_view origin, const ResultsTaker& taker)
      : input_(input), origin_(origin), taker_(taker) {}

  Status Read() {
    INFIMUM_RETURN_IF_ERROR(Survey());
    ingest::RowWindow window([this](std::span<const Measurement> rows) {
      return taker_.rows(device_, environment_, rows, std::span<const PeakRate>());
    });
    INFIMUM_RETURN_IF_ERROR(Stream([&](const BenchmarkEntry& entry) {
      Result<std::variant<Reading, UnexpressedLayer>> either = ReadEntry(entry, context_.executable, emitted_);
      if (!either.ok()) return Status(At(entry, either.error()));
      auto* reading = std::get_if<Reading>(&*either);
      return reading == nullptr ? Status() : window.Take(RowOf(std::move(*reading)));
    }));
    INFIMUM_RETURN_IF_ERROR(window.Flush());
    if (!taker_.remark) return {};
    for (const std::string& sentence : leftovers_.Sentences()) taker_.remark(fmt::format("{}: {}", origin_, sentence));
    if (profiled_ > 0) {
      taker_.remark(
          fmt::format("{}: {} timed under a profiler (CUPTI), or failed in it; kept as skipped, without a time",
                      origin_, profiled_ == 1 ? "1 entry was" : fmt::format("{} entries were", profiled_)));
    }
    if (const ingest::ControlCharacters& controls = context_.controls; controls.count > 0) {
      taker_.remark(fmt::format("{}:{}:{}: {} in texts, which JSON forbids, read as {}", origin_, controls.line,
                                controls.column,
                                controls.count == 1 ? "a control character"
                                                    : fmt::format("the first of {} control characters", controls.count),
                                controls.count == 1 ? "a space" : "spaces"));
    }
    if (!ingest::IsDeviceKnown(facts_, context_)) {
      taker_.remark(
          fmt::format("{}: does not name the processor it ran on, so its rows belong to '{}'; a program "
                      "that calls benchmark::AddCustomContext(\"infimum_device\", KEY), a key that 'infimum devices' "
                      "lists, names it",
                      origin_, device_.Key().text));
    }
    return {};
  }

 private:
  Status Stream(const std::function<Status(const BenchmarkEntry&)>& take) {
    input_.clear();
    input_.seekg(0);
    if (!input_) return Error{fmt::format("{}: cannot be read twice; give it as a file", origin_)};
    INFIMUM_ASSIGN_OR_RETURN(context_,
                             ingest::StreamBenchmarks(input_, origin_, {kCounters, ingest::FactNames()}, take));
    return {};
  }

  // The first pass: everything is checked, and what failed entries lack is collected from the others.
  Status Survey() {
    INFIMUM_RETURN_IF_ERROR(Stream([this](const BenchmarkEntry& entry) {
      const Status taken = SurveyEntry(entry);
      return taken.ok() ? taken : Status(At(entry, taken.error()));
    }));
    if (rows_ == 0) return Error{fmt::format("{}: {}", origin_, NothingToRead())};
    if (has_scope_rows_ && !facts_.contains("gpu_name")) {
      return Error{fmt::format(
          "{}: no entry names the GPU it ran on ('gpu_name:...'), since none ran; the device is unknown{}{}", origin_,
          first_failure_.empty() ? "" : "; the first reports: ", first_failure_)};
    }
    INFIMUM_ASSIGN_OR_RETURN(device_, Within(std::string(origin_), ingest::DeviceOf(facts_, context_)));
    Result<bool> emitted = ingest::IsEmitted(context_);
    if (!emitted.ok()) return Within(std::string(origin_), emitted.error());
    emitted_ = *emitted;
    if (emitted_) {
      // Their counters are known to be such only now that the context was read.
      INFIMUM_RETURN_IF_ERROR(Stream([this](const BenchmarkEntry& entry) {
        const auto either = ReadEntry(entry, "", true);
        return either.ok() ? Status() : Status(At(entry, either.error()));
      }));
    }
    Result<Environment> environment = ingest::EnvironmentOf(facts_);
    if (emitted_) environment = ingest::EmittedEnvironment(context_);
    if (!environment.ok()) return Within(std::string(origin_), environment.error());
    environment_ = *std::move(environment);
    INFIMUM_ASSIGN_OR_RETURN(measured_at_, Within(std::string(origin_), ingest::MeasuredAt(context_)));
    return {};
  }

  Status SurveyEntry(const BenchmarkEntry& entry) {
    INFIMUM_RETURN_IF_ERROR(ingest::AddFacts(entry.facts, facts_));
    INFIMUM_ASSIGN_OR_RETURN(const auto either, ReadEntry(entry, "", false));
    if (const auto* unexpressed = std::get_if<UnexpressedLayer>(&either)) {
      leftovers_.Add(entry, unexpressed->reason);
      return {};
    }
    const Reading& reading = std::get<Reading>(either);
    ++rows_;
    if (RanUnderProfiler(entry) || FailedInProfiler(entry)) ++profiled_;
    if (entry.failed && first_failure_.empty()) first_failure_ = Reason(entry.message);
    has_scope_rows_ = has_scope_rows_ || !reading.api.empty();
    if (reading.layouts) layouts_.emplace(reading.api, *reading.layouts);  // the first
    return {};
  }

  std::string NothingToRead() const {
    std::string text =
        "contains no measured layer: entries must be named like LAYER_CUDNN_CONV_FWD_..., or have a label or "
        "name that begins with a workload such as 'pointwise kind=relu dtype=f32:-:f32 in=802816'";
    for (const std::string& sentence : leftovers_.Sentences()) text += "; " + sentence;
    return text;
  }

  Measurement RowOf(Reading reading) const {
    Measurement row = std::move(reading.row);
    row.device = device_.Key();
    row.environment = environment_.Key();
    row.measured_at = measured_at_;
    if (reading.api.empty()) return row;
    const auto usual = layouts_.find(reading.api);
    // GEMMs and softmax have none.
    if (!reading.layouts && usual != layouts_.end()) reading.layouts = usual->second;
    const bool has_layout = row.candidate.library != "cublas";
    if (!reading.layouts) reading.layouts = has_layout ? Layouts{"nchw", "nchw"} : Layouts{"any", "any"};
    row.candidate.input_layout = reading.layouts->input;
    row.candidate.output_layout = reading.layouts->output;
    return row;
  }

  Error At(const BenchmarkEntry& entry, Error error) const {
    return Within(fmt::format("{}:{}: benchmarks[{}] {}", origin_, entry.line, entry.index, Quoted(entry.name)),
                  std::move(error));
  }

  std::istream& input_;
  std::string_view origin_;
  const ResultsTaker& taker_;

  BenchmarkContext context_;
  ingest::Facts facts_;
  std::map<std::string, Layouts> layouts_;  // by API and type
  Leftovers leftovers_;
  std::size_t rows_ = 0;
  std::size_t profiled_ = 0;
  std::string first_failure_;
  bool has_scope_rows_ = false;
  bool emitted_ = false;  // by a program that `infimum emit` wrote
  Device device_;
  Environment environment_;
  std::string measured_at_;
};

}  // namespace

Status ReadScopeBenchmarks(std::istream& input, std::string_view origin, const ResultsTaker& taker) {
  return ScopeReader(input, origin, taker).Read();
}

}  // namespace infimum
