// The report as data: schema infimum.report/1, what the HTML page embeds. Keys are documented in
// README.md; times are *_us, counts plain integers, what is absent is null.
#pragma once

#include <string>

#include "reports/model/report_model.h"

namespace infimum {

std::string ReportJson(const ReportModel& report);

}  // namespace infimum
