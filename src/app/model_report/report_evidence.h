// The evidence behind a report's numbers: what became of every candidate of its layers and regions, and for its
// findings how their cases can be measured again and what their candidates' sources are.
//
//   FillCandidates(known, bracket, report)   report.workloads; ReportLayer::workload and ReportRegion::workload
//   FillFindingEvidence(contract, report)           cases with counts, interval and command; report.sources
#pragma once

#include <optional>

#include "analyzer/bracket/bracket.h"
#include "analyzer/rows/workload_candidates.h"
#include "reports/model/report_model.h"

namespace infimum {

// Needs ReportModel::layers and regions filled from the same graph and bracket.
void FillCandidates(const CandidatesOfModel& known, const Bracket& bracket, ReportModel& report);

// Needs the findings, the workloads and ReportModel::bench_options. `contract` is the selection's.
void FillFindingEvidence(std::optional<NumericContract> contract, ReportModel& report);

}  // namespace infimum
