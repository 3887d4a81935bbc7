#include "src/app/model_report/report_evidence.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/app/model_report/emitted_layer.h"

namespace infimum {
namespace {

// Each some 10 KiB of the page.
constexpr std::size_t kMostSources = 8;

ReportCandidate Filled(const KnownCandidate& known) {
  const Measurement& row = known.row;
  return {row.candidate.name(),
          row.outcome,
          row.reason,
          known.latency,
          known.interval,
          static_cast<std::int64_t>(row.repetitions.size()),
          row.flags,
          row.numeric_error};
}

ReportWorkload Filled(const WorkloadCandidates& known) {
  ReportWorkload workload;
  workload.config = known.workload.text;
  workload.contract = std::string(Name(known.contract));
  workload.candidates.reserve(known.candidates.size());
  for (const KnownCandidate& candidate : known.candidates) {
    workload.candidates.push_back(Filled(candidate));
    workload.measured_at = std::max(workload.measured_at, candidate.row.measured_at);
  }
  workload.best = known.best;
  workload.library_choice = known.choice;
  workload.regret = known.regret;
  workload.regret_is_validated = known.regret_is_validated;
  return workload;
}

const ReportWorkload* FindWorkload(const ReportModel& report, std::string_view config) {
  const auto found = std::ranges::find(report.workloads, config, &ReportWorkload::config);
  return found == report.workloads.end() ? nullptr : &*found;
}

// The names of what was measured, the best first: `best` where it is known.
std::vector<std::string> MeasuredNames(const ReportModel& report, const FindingCase& one) {
  std::vector<std::string> names;
  if (!one.candidate.empty()) names.push_back(one.candidate);
  if (const ReportWorkload* workload = FindWorkload(report, one.workload))
    for (const ReportCandidate& candidate : workload->candidates)
      if (candidate.outcome == Outcome::kMeasured && candidate.name != one.candidate) names.push_back(candidate.name);
  return names;
}

EmittedSource SourceOf(const ReportModel& report, const FindingCase& one, std::optional<NumericContract> contract) {
  Result<EmittedLayer> emitted = EmitLayer(one.workload, MeasuredNames(report, one), contract);
  if (!emitted.ok()) return {one.workload, "", "", "", "", emitted.error().message};
  std::string command = emitted->CommandInto();
  return {
      one.workload, emitted->library, std::move(emitted->file_name), std::move(emitted->text), std::move(command), ""};
}

}  // namespace

void FillCandidates(const CandidatesOfModel& known, const Bracket& bracket, ReportModel& report) {
  std::map<std::string_view, std::size_t> known_at;
  for (std::size_t i = 0; i < known.workloads.size(); ++i) known_at[known.workloads[i].workload.text] = i;
  std::map<std::string_view, std::size_t> places;
  const auto place_of = [&](std::string_view config) -> std::optional<std::size_t> {
    const auto found = known_at.find(config);
    if (found == known_at.end()) return std::nullopt;
    const auto [place, is_new] = places.try_emplace(found->first, report.workloads.size());
    if (is_new) report.workloads.push_back(Filled(known.workloads[found->second]));
    return place->second;
  };
  for (ReportLayer& layer : report.layers) layer.workload = place_of(layer.config);
  // Those that only a run has shown have no candidates.
  for (std::size_t i = 0; i < report.regions.size(); ++i)
    if (bracket.regions[i].region) report.regions[i].workload = place_of(report.regions[i].config);
}

void FillFindingEvidence(std::optional<NumericContract> contract, ReportModel& report) {
  std::vector<const FindingCase*> cases;
  for (Finding& finding : report.findings) {
    for (FindingCase& one : finding.cases) {
      if (one.workload.empty()) continue;
      cases.push_back(&one);
      const ReportWorkload* workload = FindWorkload(report, one.workload);
      if (workload == nullptr) continue;
      one.candidates = workload->candidates.size();
      one.measured_candidates = static_cast<std::size_t>(
          std::ranges::count(workload->candidates, Outcome::kMeasured, &ReportCandidate::outcome));
      if (workload->best) one.interval = workload->candidates[*workload->best].interval;
    }
  }
  const auto gain = [](const FindingCase* one) { return one->measured - one->best.value_or(one->measured); };
  std::ranges::stable_sort(cases, [&](const FindingCase* a, const FindingCase* b) { return gain(a) > gain(b); });
  for (const FindingCase* one : cases) {
    if (report.sources.size() == kMostSources) break;
    if (std::ranges::find(report.sources, one->workload, &EmittedSource::config) == report.sources.end())
      report.sources.push_back(SourceOf(report, *one, contract));
  }
}

}  // namespace infimum
