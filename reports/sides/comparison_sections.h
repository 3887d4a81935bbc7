// A comparison as titled tables, for terminal, Markdown and page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/sides/comparison_report.h"
#include "reports/text/section.h"

namespace infimum {

// In the order in which they answer the axis' question. `most` rows of those tables that list layers; 0: all.
std::vector<Section> ComparisonSections(const ComparisonReport& report, std::size_t most);

// Why a layer is not faster on a side than on the baseline, by its distance from its roofline there; "" where nothing
// tells.
std::string ReasonOfNoGain(const SideTime& subject, const SideTime& baseline, const Difference& difference);

}  // namespace infimum
