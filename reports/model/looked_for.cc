#include "reports/model/looked_for.h"

#include "infimum/measurement/contract.h"
#include "reports/model/report_commands.h"

namespace infimum {

std::vector<AbsentCause> AbsentCausesOf(const ReportModel& report) {
  if (!report.waterfall) return {};
  return AbsentCauses(
      report.findings, *report.waterfall,
      {report.bracket.contract, IsProcessor(report), report.environment.threads, report.waterfall->bound.has_value()});
}

}  // namespace infimum
