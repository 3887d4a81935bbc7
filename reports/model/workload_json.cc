#include "reports/model/workload_json.h"

#include <charconv>
#include <cmath>

namespace infimum {
namespace {

// The nearest number of so many significant digits.
double Rounded(double value, int digits) {
  char text[40];
  const auto written = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits - 1);
  double rounded = value;
  if (std::isfinite(value)) std::from_chars(text, written.ptr, rounded);
  return rounded;
}

Json IndexOrNull(const std::optional<std::size_t>& index) { return index ? Json(*index) : Json(nullptr); }

Json CandidateJson(const ReportCandidate& candidate) {
  Json json;
  json["name"] = candidate.name;
  if (candidate.outcome != Outcome::kMeasured) json["outcome"] = Name(candidate.outcome);
  if (!candidate.reason.empty()) json["reason"] = candidate.reason;
  if (candidate.latency) json["latency_us"] = candidate.latency->count();
  if (candidate.interval)
    json["interval_us"] = {Rounded(candidate.interval->low.count(), 6), Rounded(candidate.interval->high.count(), 6)};
  if (candidate.repetitions > 0) json["repetitions"] = candidate.repetitions;
  if (!candidate.flags.empty()) json["flags"] = candidate.flags;
  if (candidate.numeric_error) json["numeric_error"] = Rounded(*candidate.numeric_error, 3);
  return json;
}

}  // namespace

Json WorkloadsJson(const std::vector<ReportWorkload>& workloads) {
  Json array = Json::array();
  for (const ReportWorkload& workload : workloads) {
    Json candidates = Json::array();
    for (const ReportCandidate& candidate : workload.candidates) candidates.push_back(CandidateJson(candidate));
    array.push_back({{"config", workload.config},
                     {"contract", workload.contract},
                     {"best", IndexOrNull(workload.best)},
                     {"library_choice", IndexOrNull(workload.library_choice)},
                     {"regret_us", MicrosecondsOrNull(workload.regret)},
                     {"regret_validated", workload.regret ? Json(workload.regret_is_validated) : Json(nullptr)},
                     {"measured_at", workload.measured_at},
                     {"candidates", std::move(candidates)}});
  }
  return array;
}

Json SourcesJson(const std::vector<EmittedSource>& sources) {
  Json array = Json::array();
  for (const EmittedSource& source : sources) {
    if (source.file_name.empty()) {
      array.push_back({{"config", source.config}, {"file_name", nullptr}, {"reason", source.reason}});
      continue;
    }
    array.push_back({{"config", source.config},
                     {"library", source.library},
                     {"file_name", source.file_name},
                     {"text", source.text},
                     {"command", source.command}});
  }
  return array;
}

}  // namespace infimum
