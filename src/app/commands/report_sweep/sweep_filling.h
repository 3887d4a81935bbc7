// The report of a sweep, step by step: the cells of an evaluation file, what the store has of them on which devices,
// floors on devices that only a data sheet knows.
//
//   SweepOptions options{.evaluation = "fc.json", .devices = {"h200"}};
//   Result<SweepReport> report = MakeSweepReport(options, log);
//
// No cell is measured. A floor takes a reading of its model, some milliseconds each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/sweep/sweep_report.h"
#include "src/app/commands/evaluate/sweep_cells.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/campaign.h"

namespace infimum {

struct SweepOptions {
  std::filesystem::path evaluation;
  std::string database = "infimum.db";
  std::vector<std::string> devices;        // empty: all that have results, and those that the file names
  std::vector<std::string> what_ifs = {};  // "peak:memory=1.5x": each device as it could be, too
  std::string x, y;
  double threshold = 0.05;
  CampaignOptions campaign;
  bool measures_peaks = false;  // this machine's, where the store has none of it
  bool anonymize = false;       // without names of model files, of their dimensions and of the evaluation
};

// An error where there is nothing to report. With `file` of an evaluation that is no file, or is read already.
Result<SweepReport> MakeSweepReport(const SweepOptions& options, ProgressLog& log);
Result<SweepReport> MakeSweepReport(const SweepOptions& options, const EvaluationFile& file, ProgressLog& log);

}  // namespace infimum
