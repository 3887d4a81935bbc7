// The one screen at the end of `analyze`: the bracket with bars, the largest gaps, the coverage, what next.
// At most 24 lines of at most 100 columns.
#pragma once

#include <string>

#include "reports/model/report_model.h"

namespace infimum {

struct SummaryOptions {
  bool color = false;       // ANSI colours, for a terminal
  std::string report_path;  // named under "next"; empty: no report was written
};

std::string Summary(const ReportModel& report, const SummaryOptions& options);

// The answer in one sentence: how fast it runs, how fast it could, what could be won.
//   "resnet50 runs in 52.1 ms on onnxruntime 1.31.1; the best measured kernels would need 44.2 ms: 15.2 %
//    could be won. No program can be faster than 19.8 ms here."
std::string Headline(const ReportModel& report);

}  // namespace infimum
