// Fills the report's plain values from what the analysis knows: graph, bracket, run, device, peaks.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "infimum/analyzer/bracket.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/device.h"
#include "infimum/reports/report_model.h"
#include "src/workflow/run_gap.h"

namespace infimum {

struct ReportSources {
  std::string model;  // as the user named it, for commands
  std::map<std::string, std::int64_t> dims;
  std::string database;  // its address without a password
  std::string backend;   // that measured
  bool here = true;      // the device is this one, so that commands can measure on it
  const ModelGraph& graph;
  const Bracket& bracket;
  const RunProfile* run = nullptr;
  const RunGap* gap = nullptr;  // of the run
  const Device& device;
  Environment environment;  // of the rows
  const DevicePeaks& peaks;
  std::vector<std::string> warnings;
  std::string generated_at;
};

// Of the commands that measure a layer again as the selection has it, each ready for a POSIX shell.
std::string BenchOptions(const Selection& selection, const std::string& database, const std::string& backend);

// What the environments of some rows have in common: what differs is left empty, but libraries have every version of
// theirs. Threads are left to the selection.
Environment CommonEnvironment(const std::map<EnvironmentKey, Environment>& known, std::span<const EnvironmentKey> keys);

ReportModel FillReport(const ReportSources& sources);

}  // namespace infimum
