// The forms of a model's report without a page.
#pragma once

#include <string>

#include "reports/model/report_model.h"

namespace infimum {

// The report as data: schema infimum.report/2, what the HTML page embeds. Keys are documented in README.md; times are
// *_us, counts plain integers, what is absent is null.
std::string ReportJson(const ReportModel& report);

// A short report for issues and pull requests: headline, bracket, largest gaps, coverage. Names stand in code spans
// that no backtick of theirs can end.
std::string MarkdownReport(const ReportModel& report);

// The comparison as rows for a spreadsheet or a script: one for each layer, or for the layers that the engine ran as
// one, as ModelRows has them.
//
//   label,operators,family,status,fused,candidate,bound_us,measured_us,ratio,roofline_us,share,config,engine_layers
//   Conv_0,Conv,convolution,measured,no,onednn/brgconv:avx2,1160,1240,1.07,980,0.023,convolution dtype=...,...
//
// `ratio` is measured / bound; `share` the part of the run that the row took; what is absent is empty. A row
// of several layers that are not free has the configuration of the region that was measured as one, where there is one;
// what runs it stands joined by " + ".
std::string ReportCsv(const ReportModel& report);

// The one screen at the end of `analyze`: the bracket with bars, the largest gaps, the coverage, what next. At most 24
// lines of at most 100 columns.
struct SummaryOptions {
  bool color = false;       // ANSI colours, for a terminal
  std::string report_path;  // named under "next"; empty: no report was written
};

std::string Summary(const ReportModel& report, const SummaryOptions& options);

// The answer in one sentence: how fast it runs, how fast it could, what could be won.
//   "resnet50 runs in 52.1 ms on onnxruntime 1.31.1; the best known kernels add up to 44.2 ms, not shown yet: 15.2 %
//    could be won. A program that reads every weight once takes at least 19.8 ms on this device."
std::string Headline(const ReportModel& report);

}  // namespace infimum
