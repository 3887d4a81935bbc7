#include "infimum/reports/comparison_report.h"

namespace infimum {

std::string ComparisonPage(const ComparisonReport& report) { return ComparisonMarkdown(report); }

}  // namespace infimum
