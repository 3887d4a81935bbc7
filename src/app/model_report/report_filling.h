// Fills the report's plain values from what the analysis knows: graph, bracket, run, device, peaks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "analyzer/rows/workload_candidates.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/device.h"
#include "reports/model/report_model.h"
#include "src/app/model_report/run_gap.h"

namespace infimum {

struct ReportSources {
  std::string model;  // as the user named it, for commands
  std::string name;   // of the model
  std::map<std::string, std::int64_t> dims;
  std::string database;  // its address without a password
  std::string backend;   // that measured
  bool here = true;      // the device is this one, so that commands can measure on it
  ModelGraph graph = {};
  Bracket bracket = {};
  CandidatesOfModel candidates = {};
  std::optional<RunProfile> run = {};
  std::optional<RunGap> gap = {};  // of the run
  const Device& device;
  Environment environment;  // of the rows
  const DevicePeaks& peaks;
  std::vector<std::string> warnings;
};

// "resnet50.onnx --dim batch=8", ready for a POSIX shell.
std::string ModelArguments(const std::string& model, const std::map<std::string, std::int64_t>& dims);

// Of the commands that measure a layer again as the selection has it, each ready for a POSIX shell.
std::string BenchOptions(const Selection& selection, const std::string& database, const std::string& backend);

// What the rows of a bracket have in common: facts that differ are left out, but libraries have every version of
// theirs; so is what names a machine or a board, which is nobody's business who reads a report. Threads are left to the
// selection.
Environment CommonEnvironment(const std::map<EnvironmentKey, Environment>& known, const Bracket& bracket);

ReportModel FillReport(ReportSources sources);

}  // namespace infimum
