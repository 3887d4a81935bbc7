// One self-contained HTML page: charts, layer table, environment, what is missing and how to fill it.
// Needs no network; the page's policy forbids it any. D3, style and script are inside this library.
//
//   std::ofstream("report.html", std::ios::binary) << HtmlReport(report);
#pragma once

#include <string>

#include "reports/model/report_model.h"

namespace infimum {

// Valid UTF-8 whatever the names are.
std::string HtmlReport(const ReportModel& report);

}  // namespace infimum
