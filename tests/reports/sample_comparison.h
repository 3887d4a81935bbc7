// Comparisons to write: small ones whose numbers are known, with names that would break a page.
#pragma once

#include <string>

#include "reports/sides/comparison_report.h"

namespace infimum {

inline constexpr const char* kHostileModelName = "<img src=x onerror=alert(1)>\"'&</script><!--|`\n\x1b[2J";

// Three devices and two models; a layer that one device lacks, one of one number, a class in which the order is
// another. With more sides all labels are long, and differ in their middle; each of those takes twice as long as the
// one before, the first one is the fastest of all; and nodes have long names.
ComparisonReport SampleComparison(ComparisonAxis axis = ComparisonAxis::kDevice, std::size_t more_layers = 0,
                                  std::size_t more_sides = 0);

}  // namespace infimum
