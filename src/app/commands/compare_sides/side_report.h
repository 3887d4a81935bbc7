// The comparison report, step by step: which sides there are, what the store or the runs know of each, side by side.
//
//   SideReportOptions options{.models = {"resnet50.onnx"}, .axis = ComparisonAxis::kDevice};
//   Result<ComparisonReport> report = MakeSideReport(options);
//
// Nothing is measured. A side that knows much less of a model than another is left out, with a remark, where nobody
// named it: sides are held against each other on what all of them know, and one of them would empty the comparison.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/sides/comparison_report.h"
#include "src/app/runners/campaign.h"

namespace infimum {

struct SideReportOptions {
  std::vector<std::filesystem::path> models;
  std::map<std::string, std::int64_t> dims;
  std::string database = "infimum.db";
  ComparisonAxis axis = ComparisonAxis::kDevice;
  // Of runs: what differs between them says what the axis is, `axis` where nothing does.
  bool axis_by_runs = false;
  // Of kDevice the sides, in this order; empty: all of the store, by year. Of the others the one device; empty: this.
  std::vector<std::string> devices;
  // Of kLibrary: "cudnn" (all versions that the store has, ascending), or "cudnn 7.5.0" and "cudnn 7.6.4".
  std::vector<std::string> libraries;
  std::vector<NumericContract> contracts;   // of kContract; empty: all that the store has rows of
  std::optional<NumericContract> contract;  // of the others
  std::vector<std::string> runs;            // files of runs, the baseline first
  std::vector<std::string> frameworks;      // then of each of these the fastest run that the store has of the model
  CampaignOptions campaign;
  double threshold = 0.05;
  bool anonymize = false;  // without a name that the owner of models and runs gave; errors still have them
};

// An error where there are not two sides to compare.
Result<ComparisonReport> MakeSideReport(const SideReportOptions& options);

}  // namespace infimum
