// The comparison as rows for a spreadsheet or a script: one for each layer, or for the layers that the
// engine ran as one, as ComparisonRows has them.
//
//   label,operators,family,status,fused,candidate,bound_us,measured_us,ratio,roofline_us,share,config,engine_layers
//   Conv_0,Conv,convolution,measured,no,onednn/brgconv:avx2,1160,1240,1.07,980,0.023,convolution dtype=...,...
//
// `ratio` is measured / bound; `share` the part of the run that the row took; what is absent is empty. A row
// of several layers that are not free has the configuration of the region that was measured as one, where there is one;
// what runs it stands joined by " + ".
#pragma once

#include <string>

#include "reports/model/report_model.h"

namespace infimum {

std::string ReportCsv(const ReportModel& report);

}  // namespace infimum
