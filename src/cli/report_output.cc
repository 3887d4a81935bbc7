#include "src/cli/report_output.h"

#include "infimum/reports/html_report.h"
#include "infimum/reports/markdown_report.h"
#include "infimum/reports/report_csv.h"
#include "infimum/reports/report_json.h"
#include "src/cli/options.h"

namespace infimum::cli {

Status WriteReport(const std::string& path, const ReportModel& report) {
  if (path.ends_with(".md")) return WriteOutput(path, MarkdownReport(report));
  if (path.ends_with(".json")) return WriteOutput(path, ReportJson(report));
  if (path.ends_with(".csv")) return WriteOutput(path, ReportCsv(report));
  return WriteOutput(path, HtmlReport(report));
}

}  // namespace infimum::cli
