#include "src/workflow/analysis_report.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "infimum/analyzer/workload_candidates.h"
#include "src/workflow/anonymizer.h"
#include "src/workflow/report_filling.h"
#include "src/workflow/run_conditions.h"
#include "src/workflow/run_gap.h"

namespace infimum {

namespace {

// Of any library: of which devices they are, the comparison itself says.
bool HaveSeveralVersions(const std::map<EnvironmentKey, Environment>& environments, std::int64_t threads) {
  std::map<std::string, std::set<std::string>> versions;
  for (const auto& [key, environment] : environments)
    if (environment.threads == threads)
      for (const auto& [library, version] : environment.libraries) versions[library].insert(version);
  return std::ranges::any_of(versions, [](const auto& library) { return library.second.size() > 1; });
}

}  // namespace

Status FillReportOf(AnalysisReport asked, const Selection& selection, Store& store, Analysis& analysis) {
  INFIMUM_ASSIGN_OR_RETURN(const DevicePeaks peaks, store.Peaks(selection.device));
  INFIMUM_ASSIGN_OR_RETURN(CandidatesOfModel candidates, CandidatesOf(analysis.graph, store, selection));
  INFIMUM_ASSIGN_OR_RETURN(const auto environments, store.Environments());
  AlignedForGap aligned;
  bool is_alike = false;
  if (analysis.run) {
    // Of this model, device and threads: so it was measured, or looked for in the store.
    is_alike = analysis.run->contract.empty() || Keeps(analysis.run->contract, analysis.bracket.contract);
    const ModelAsItIs model{asked.model, asked.dims, asked.contract, analysis.graph, analysis.bracket};
    INFIMUM_ASSIGN_OR_RETURN(aligned, AlignForGap(model, *analysis.run, store));
  }
  ReportSources sources{.model = asked.model.string(),
                        .name = asked.model.stem().string(),
                        .dims = asked.dims,
                        .database = ShownAddress(asked.database),
                        .backend = asked.backend,
                        .here = asked.here,
                        .graph = analysis.graph,
                        .bracket = analysis.bracket,
                        .candidates = candidates,
                        .device = asked.device,
                        .environment = CommonEnvironment(environments, analysis.bracket.environments),
                        .peaks = peaks,
                        .warnings = {}};
  if (asked.anonymize) {
    Anonymizer anonymizer;
    anonymizer.Rename(analysis.graph);
    anonymizer.Rename(analysis.bracket);
    anonymizer.Rename(candidates);
    if (analysis.run) anonymizer.Rename(*analysis.run);
    sources.model = "MODEL";
    sources.name = "model";
    sources.database = "DB";
    sources.dims = anonymizer.Renamed(asked.dims);
    sources.environment.host.clear();
  }
  for (AnalysisWarning& warning : asked.warnings) {
    const bool is_left_out = asked.anonymize && warning.may_hold_names;
    sources.warnings.push_back(is_left_out
                                   ? "A step of the analysis failed; what it said may hold names, and is left out"
                                   : std::move(warning.text));
  }
  std::optional<RunGap> gap;
  if (analysis.run) gap = MakeGap(analysis.graph, analysis.bracket, *analysis.run, std::move(aligned), is_alike);
  if (gap) {
    sources.run = &*analysis.run;
    sources.gap = &*gap;
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Device> devices, store.Devices());
  analysis.report = FillReport(sources);
  analysis.report.neighbours = {
      .devices = devices.size() > 1,
      .versions = HaveSeveralVersions(environments, selection.threads),
      .contracts = std::ranges::any_of(analysis.report.what_ifs,
                                       [](const WhatIfOutcome& one) { return one.name.starts_with("contract:"); })};
  return {};
}

}  // namespace infimum
