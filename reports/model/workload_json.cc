#include "reports/model/workload_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

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

}  // namespace

void to_json(Json& json, const KnownCandidate& candidate) {
  const Measurement& row = candidate.row;
  json = {{"name", row.candidate}};
  if (row.outcome != Outcome::kMeasured) json["outcome"] = row.outcome;
  if (!row.reason.empty()) json["reason"] = row.reason;
  if (candidate.latency) json["latency_us"] = *candidate.latency;
  if (candidate.interval)
    json["interval_us"] = {Rounded(candidate.interval->low.count(), 6), Rounded(candidate.interval->high.count(), 6)};
  if (!row.repetitions.empty()) json["repetitions"] = row.repetitions.size();
  if (!row.flags.empty()) json["flags"] = row.flags;
  if (row.numeric_error) json["numeric_error"] = Rounded(*row.numeric_error, 3);
}

void to_json(Json& json, const WorkloadCandidates& workload) {
  std::string newest;
  for (const KnownCandidate& candidate : workload.candidates) newest = std::max(newest, candidate.row.measured_at);
  json = {{"config", workload.workload},
          {"contract", workload.contract},
          {"best", workload.best},
          {"library_choice", workload.choice},
          {"regret_us", workload.regret},
          {"regret_validated", workload.regret ? Json(workload.regret_is_validated) : Json(nullptr)},
          {"measured_at", newest},
          {"candidates", workload.candidates}};
}

void to_json(Json& json, const EmittedSource& source) {
  if (source.file_name.empty()) {
    json = {{"config", source.config}, {"file_name", nullptr}, {"reason", source.reason}};
    return;
  }
  json = {{"config", source.config},
          {"library", source.library},
          {"file_name", source.file_name},
          {"text", source.text},
          {"command", source.command}};
}

}  // namespace infimum
