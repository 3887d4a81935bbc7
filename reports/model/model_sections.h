// The tables of a model's report, for Markdown and page alike.
#pragma once

#include <cstddef>
#include <vector>

#include "reports/model/report_model.h"
#include "reports/text/section.h"

namespace infimum {

// The tables that stand by themselves, in their order; those that have nothing to say are left out. A new one is a
// function of the report and its line in the list of model_sections.cc.
enum class ReportForm { kPage, kMarkdown };
std::vector<Section> TablesOf(const ReportModel& report, ReportForm form);

// Floors, bounds, other contracts and cache states, the demonstrated run and the framework's.
Section BoundsSection(const ReportModel& report);

// From the measured time to the floor. `parts`: how many of each step's are named, the largest first.
struct StepsStyle {
  std::size_t parts = 1;
  bool has_share = false;  // of the measured time
};
Section StepsSection(const Waterfall& waterfall, const StepsStyle& style);

// The rows that lose most against their bound; without a run the most expensive ones. No rows where there are none.
Section LargestSection(const ReportModel& report, std::size_t most, bool has_ratio = false);

// The device's measured peaks.
Section RoofsSection(const ReportModel& report);

// Every row of the model, in its order.
Section LayersSection(const ReportModel& report);

}  // namespace infimum
