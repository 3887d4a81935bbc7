// A short report in Markdown, for issues and pull requests: headline, bracket, largest gaps, coverage.
#pragma once

#include <string>

#include "reports/model/report_model.h"

namespace infimum {

// Names stand in code spans that no backtick of theirs can end.
std::string MarkdownReport(const ReportModel& report);

}  // namespace infimum
