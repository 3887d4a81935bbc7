// Profiled runs of a model held against what the store knows of it: aligned layer by layer, the gap to the bound
// accounted for, findings ranked. Useful before any campaign too: without measurements there is a floor where the
// device's peaks or its data sheet are known, and alignment and the findings about the run itself in any case.
//
//   RunComparisonOptions options{.model = "resnet50.onnx"};
//   Result<RunComparison> comparison = CompareRuns(options, *ReadProfiles({"run.json"}));
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/analyzer/finding.h"
#include "infimum/graph/alignment_overrides.h"
#include "infimum/ingest/read_profile.h"
#include "infimum/reports/run_account.h"
#include "infimum/workflow/campaign.h"

namespace infimum {

struct RunComparisonOptions {
  std::filesystem::path model;
  std::map<std::string, std::int64_t> dims;  // empty: those of the first run that tells its own
  std::string database = "infimum.db";
  std::string device;  // empty: where the run says that it ran, else this device
  CampaignOptions campaign;
  std::optional<std::int64_t> threads;  // absent: those of each run
  std::optional<NumericContract> contract;
  std::vector<AlignmentOverride> overrides;  // what a person says of the alignment
  std::string framework = "onnxruntime";     // whose runs the store is asked for where none is given
};

struct ComparedRun {
  std::string source;  // the file as it was named; "infimum.db" of a stored run
  RunProfile run;
  Device device;
  Selection selection;
  Alignment alignment;
  Bracket bracket;  // without bounds where nothing was measured
  Waterfall waterfall;
  std::optional<PathView> path;      // of a trace
  std::vector<Finding> findings;     // the largest gain first
  std::vector<std::string> remarks;  // about what was assumed, and what is missing with the command that would add it
};

struct RunComparison {
  ModelGraph graph;
  std::vector<ComparedRun> runs;  // as they were given
};

// `profiles` empty: the fastest run that the store has of this model.
Result<RunComparison> CompareRuns(const RunComparisonOptions& options, std::vector<NamedProfile> profiles);

// What is shown of it.
ModelAccount AccountOf(const RunComparison& comparison, const RunComparisonOptions& options);

}  // namespace infimum
