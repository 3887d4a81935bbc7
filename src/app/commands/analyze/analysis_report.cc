#include "src/app/commands/analyze/analysis_report.h"

#include <algorithm>
#include <utility>

#include "analyzer/gap/run_latency.h"
#include "analyzer/rows/workload_candidates.h"
#include "src/app/model_report/report_filling.h"
#include "src/app/model_report/run_gap.h"
#include "src/app/models/anonymizer.h"
#include "src/app/models/run_conditions.h"
#include "src/app/runners/library_versions.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {
namespace {

// Of a library whose versions are worth comparing.
Result<bool> HasSeveralVersions(const Device& device, std::int64_t threads, Store& store) {
  for (const char* library : kComparedLibraries) {
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<LibraryVersion> versions, VersionsOf(library, device, threads, store));
    if (versions.size() > 1) return true;
  }
  return false;
}

}  // namespace

Status FillReportOf(AnalysisReport asked, const Selection& selection, Store& store, Analysis& analysis) {
  INFIMUM_ASSIGN_OR_RETURN(const DevicePeaks peaks, store.Peaks(selection.device));
  INFIMUM_ASSIGN_OR_RETURN(CandidatesOfModel candidates, CandidatesOf(analysis.graph, store, selection));
  INFIMUM_ASSIGN_OR_RETURN(const auto environments, store.Environments());
  AlignedForGap aligned;
  bool is_alike = false;
  if (analysis.run) {
    HoldTo(analysis.bracket.pace, *analysis.run);
    // Of this model, device and threads: so it was measured, or looked for in the store.
    is_alike = analysis.run->contract.empty() || Keeps(analysis.run->contract, analysis.bracket.contract);
    const ModelAsItIs model{asked.model, asked.dims, asked.contract, analysis.graph, analysis.bracket};
    INFIMUM_ASSIGN_OR_RETURN(aligned, AlignForGap(model, *analysis.run, store));
  }
  ReportSources sources{.model = asked.model.string(),
                        .name = ModelName(asked.model),
                        .dims = asked.dims,
                        .database = ShownAddress(asked.database),
                        .backend = asked.backend,
                        .here = asked.here,
                        .device = asked.device,
                        .environment = CommonEnvironment(environments, analysis.bracket),
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
    sources.environment.evidence.erase(evidence::kSystem);
  }
  for (AnalysisWarning& warning : asked.warnings) {
    const bool is_left_out = asked.anonymize && warning.may_hold_names;
    sources.warnings.push_back(is_left_out
                                   ? "A step of the analysis failed; its message may contain names and is left out"
                                   : std::move(warning.text));
  }
  if (analysis.run)
    sources.gap = MakeGap(analysis.graph, analysis.bracket, *analysis.run, std::move(aligned), is_alike);
  sources.graph = std::move(analysis.graph);
  sources.bracket = std::move(analysis.bracket);
  sources.candidates = std::move(candidates);
  sources.run = std::move(analysis.run);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Device> devices, store.Devices());
  INFIMUM_ASSIGN_OR_RETURN(const bool has_versions, HasSeveralVersions(asked.device, selection.threads, store));
  analysis.report = FillReport(std::move(sources));
  analysis.report.neighbours = {
      .devices = devices.size() > 1,
      .versions = has_versions,
      .contracts = std::ranges::any_of(analysis.report.bracket.what_ifs,
                                       [](const WhatIfOutcome& one) { return one.name.starts_with("contract:"); })};
  return {};
}

}  // namespace infimum
