// The tables of a model's report, for Markdown and page alike.
#pragma once

#include <cstddef>

#include "reports/model/report_model.h"
#include "reports/text/section.h"

namespace infimum {

// Floors, bounds, other contracts and cache states, the demonstrated run and the framework's.
Section BoundsSection(const ReportModel& report);

// From the measured time to the floor. `parts`: how many of each step's are named, the largest first.
struct StepsStyle {
  std::size_t parts = 1;
  bool has_share = false;  // of the measured time
};
Section StepsSection(const Waterfall& waterfall, const StepsStyle& style);

// The rows that lose most against their bound; without a run the most expensive ones. No rows where there are none.
Section LargestSection(const ReportModel& report, std::size_t most);

// What single changes win over the whole model, each solved by itself, so that gains do not add up.
//
//   run the measured fused kernels     967 µs   42 regions, against each layer alone
//   run independent layers at once       0 µs   core-time-decides
//   what if contract:bf16             21.3 ms   122 layers, fused-sequential 9.77 ms, measured 97 %
Section GainsSection(const ReportModel& report);

// Of regions of the bracket.
Section RegionsSection(const ReportModel& report, const std::vector<const RegionLatency*>& regions);

// The device's measured peaks.
Section RoofsSection(const ReportModel& report);

// Every row of the model, in its order.
Section LayersSection(const ReportModel& report);

// The layers that a finding is about, with what they took and the best that is known.
Section CasesSection(const Finding& finding);

}  // namespace infimum
