#include "src/app/model_report/finding_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "infimum/base/text.h"
#include "infimum/base/utf8.h"
#include "src/app/model_report/emitted_layer.h"

namespace infimum {
namespace {

// Each some 10 KiB of the page.
constexpr std::size_t kMostSources = 8;

const WorkloadCandidates* FindWorkload(const ReportModel& report, std::string_view config) {
  const auto found =
      std::ranges::find(report.workloads, config, [](const WorkloadCandidates& known) { return known.workload.text; });
  return found == report.workloads.end() ? nullptr : &*found;
}

// The names of what was measured, the best first: `best` where it is known.
std::vector<std::string> MeasuredNames(const ReportModel& report, const FindingCase& one) {
  std::vector<std::string> names;
  if (!one.candidate.empty()) names.push_back(one.candidate);
  if (const WorkloadCandidates* workload = FindWorkload(report, one.workload))
    for (const KnownCandidate& candidate : workload->candidates)
      if (const std::string name = candidate.row.candidate.name();
          candidate.row.outcome == Outcome::kMeasured && name != one.candidate)
        names.push_back(name);
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

void AddCommands(const std::optional<std::string>& bench_options, std::optional<NumericContract> contract,
                 const std::string& model, std::vector<Finding>& findings) {
  std::size_t number = 0;
  for (Finding& finding : findings) {
    ++number;
    finding.commands.clear();
    for (FindingCase& one : finding.cases) {
      if (!bench_options || one.workload.empty()) continue;
      const std::string candidate = one.candidate.empty() ? "" : " --candidate " + ShellQuoted(one.candidate);
      one.command = ReproductionCommand(one.workload, *bench_options + candidate);
    }
    if (finding.cases.empty()) continue;
    const FindingCase& largest = finding.cases.front();
    const std::string folder = fmt::format("{}-{}", finding.kind, number);
    if (!largest.command.empty()) finding.commands.push_back({"measure", largest.command});
    if (!largest.workload.empty())
      if (const Result<EmittedLayer> source = EmitLayer(largest.workload, {&largest.candidate, 1}, contract);
          source.ok())
        finding.commands.push_back({"source", source->CommandInto(folder)});
    if (!largest.main_layer.empty())
      finding.commands.push_back({"brick", fmt::format("infimum synth bricks {} --layer {} -o {}", model,
                                                       ShellQuoted(ValidUtf8(largest.main_layer)), folder + "-brick")});
  }
}

void FillFindingEvidence(std::optional<NumericContract> contract, ReportModel& report) {
  std::vector<const FindingCase*> cases;
  for (Finding& finding : report.findings) {
    for (FindingCase& one : finding.cases) {
      if (one.workload.empty()) continue;
      cases.push_back(&one);
      const WorkloadCandidates* workload = FindWorkload(report, one.workload);
      if (workload == nullptr) continue;
      one.candidates = workload->candidates.size();
      one.measured_candidates = static_cast<std::size_t>(
          std::ranges::count(workload->candidates, Outcome::kMeasured,
                             [](const KnownCandidate& candidate) { return candidate.row.outcome; }));
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
