// The sides of a comparison of bounds: devices, versions of a library on one device, contracts on one device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infimum/db/store.h"
#include "src/app/commands/compare_sides/side_report.h"
#include "src/app/runners/installation.h"

namespace infimum {

struct BoundSide {
  ReportSide shown;
  Device device;
  // Of several the one that knows most of the models counts; empty: of each library the newest.
  std::vector<EnvironmentKey> environments;
  std::optional<NumericContract> contract;
  bool is_named = false;  // by a person: it stays, whatever is known of it
};

// In the order in which they stand beside each other; the first is the baseline.
Result<std::vector<BoundSide>> BoundSidesOf(const SideReportOptions& options, const Installation& installation,
                                            Store& store);

// The newest version of a library that every side's device has rows of, "cudnn 7.6.3"; empty where there is none.
Result<std::string> VersionOnAll(const SideReportOptions& options, const std::vector<BoundSide>& sides, Store& store);

// "cublas 10.1, cudnn 7.6.4"
std::string LibrariesText(const Environment& environment);

// Fills sides, comparison, gaps and remarks.
Status FillFromBounds(const SideReportOptions& options, ComparisonReport& report);

}  // namespace infimum
