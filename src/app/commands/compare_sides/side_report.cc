#include "src/app/commands/compare_sides/side_report.h"

#include "src/app/commands/compare_sides/bound_sides.h"
#include "src/app/commands/compare_sides/run_sides.h"
#include "src/app/runners/installation.h"

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
