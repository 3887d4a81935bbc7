#include "infimum/workflow/side_report.h"

#include "infimum/workflow/installation.h"
#include "src/workflow/bound_sides.h"
#include "src/workflow/run_sides.h"

namespace infimum {

Result<ComparisonReport> MakeSideReport(const SideReportOptions& options) {
  ComparisonReport report;
  report.axis = options.axis;
  report.infimum_version = std::string(InfimumVersion());
  if (IsOfRuns(options.axis)) {
    INFIMUM_RETURN_IF_ERROR(FillFromRuns(options, report));
  } else {
    INFIMUM_RETURN_IF_ERROR(FillFromBounds(options, report));
  }
  return report;
}

}  // namespace infimum
