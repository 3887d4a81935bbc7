#include "db/store/run_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "db/connection/sql_connection.h"
#include "infimum/measurement/statistics.h"
#include "src/core/results/run_json.h"

namespace infimum {
namespace {

// The part of a run that is kept as one text.
struct StoredDetails {
  std::map<std::string, std::string> settings;
  std::vector<std::string> warnings;
  std::vector<std::vector<Latency>> end_to_end;  // by process
  std::vector<std::optional<Beat>> beats;        // likewise; empty where no process has one
  std::vector<ProfiledLayer> layers;
  std::string noisy;
  std::vector<Latency> profiled;
  std::vector<Latency> idle;  // of the host, to launch, queued, overlapped
};

// The store wrote it; a text that does not read back means a damaged or foreign row.
template <class T>
Result<T> Read(std::string_view text, std::string_view what = "row") {
  T value;
  const auto read = [&]() -> Status {
    INFIMUM_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
    return FromJson(json, "", value, {std::numeric_limits<double>::lowest()});
  };
  if (const Status status = read(); !status.ok())
    return Error{fmt::format("the store holds a {} that cannot be read: {}", what, status.error().message)};
  return value;
}

}  // namespace

static void VisitFields(auto& visit, Like<StoredDetails> auto& details) {
  visit("settings", details.settings);
  visit("warnings", details.warnings);
  visit("end_to_end", details.end_to_end);
  visit.Sparse("beats_us", details.beats);
  visit("layers", details.layers);
  visit.Sparse("noisy", details.noisy);
  visit.Sparse("profiled_us", details.profiled);
  visit.Sparse("idle_us", details.idle);
}

std::string FormatRunDetails(const RunProfile& run) {
  StoredDetails details{run.settings, run.warnings, {}, {}, run.layers, run.noisy, run.profiled, {}};
  for (const RunRepetition& repetition : run.end_to_end) {
    details.end_to_end.push_back(repetition.samples);
    details.beats.push_back(repetition.beat);
  }
  if (std::ranges::none_of(details.beats, [](const auto& beat) { return beat.has_value(); })) details.beats.clear();
  if (run.idle) details.idle = {run.idle->host, run.idle->launch, run.idle->queued, run.idle->overlapped};
  return DumpJson(ToJson<Json>(details));
}

std::optional<RunSummary> SummaryOf(const RunProfile& run) {
  if (!run.noisy.empty()) return std::nullopt;
  std::vector<Repetition> repetitions;
  for (const RunRepetition& repetition : run.end_to_end)
    if (!repetition.samples.empty()) repetitions.push_back(Summarize(repetition.samples));
  if (repetitions.empty()) return std::nullopt;
  const Interval interval = BestSeenInterval(repetitions);
  return RunSummary{BestSeen(repetitions).count(), interval.low.count(), interval.high.count()};
}

Status ParseRunDetails(std::string_view text, RunProfile& run) {
  INFIMUM_ASSIGN_OR_RETURN(StoredDetails details, Read<StoredDetails>(text, "run"));
  run.settings = std::move(details.settings);
  run.warnings = std::move(details.warnings);
  for (std::vector<Latency>& samples : details.end_to_end) run.end_to_end.push_back({std::move(samples)});
  for (std::size_t i = 0; i < std::min(details.beats.size(), run.end_to_end.size()); ++i)
    run.end_to_end[i].beat = details.beats[i];
  run.layers = std::move(details.layers);
  run.noisy = std::move(details.noisy);
  run.profiled = std::move(details.profiled);
  if (const std::vector<Latency>& idle = details.idle; idle.size() == 4)
    run.idle = DeviceIdle{idle[0], idle[1], idle[2], idle[3]};
  return {};
}

std::string FormatDims(const std::map<std::string, std::int64_t>& dims) { return DumpJson(ToJson<Json>(dims)); }
Result<std::map<std::string, std::int64_t>> ParseDims(std::string_view text) {
  return Read<std::map<std::string, std::int64_t>>(text);
}
std::string FormatTexts(const std::map<std::string, std::string>& texts) { return DumpJson(ToJson<Json>(texts)); }
Result<std::map<std::string, std::string>> ParseTexts(std::string_view text) {
  return Read<std::map<std::string, std::string>>(text);
}
// As the database keeps texts, since they are compared with what it holds.
std::string FormatList(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(StorableText(text).text());
  return DumpJson(list);
}
Result<std::vector<std::string>> ParseList(std::string_view text) { return Read<std::vector<std::string>>(text); }

}  // namespace infimum
