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

#include "analyzer/findings/finding.h"
#include "infimum/graph/alignment_overrides.h"
#include "reports/run/run_summary.h"
#include "src/app/runners/campaign.h"
#include "src/readers/read_profile.h"

namespace infimum {

struct RunComparisonOptions {
  std::filesystem::path model;
  // Beside what each run tells; of a run that tells none, where this is empty too, those of the first that tells some.
  std::map<std::string, std::int64_t> dims;
  std::string database = "infimum.db";
  std::string device;  // empty: where the run says that it ran, else this device
  CampaignOptions campaign;
  std::optional<std::int64_t> threads;  // of the bounds, and of runs that tell none; absent: those of each run, else 1
  std::optional<NumericContract> contract;
  // What a person says of the alignment: it holds for each run that has these layers, and one of them must.
  std::vector<AlignmentOverride> overrides;
  std::string framework = "onnxruntime";  // whose runs the store is asked for where none is given
  // Nothing in the comparison, or in an account of it, names model, layers, values, dimensions, files or store; runs
  // are run-1, run-2. Shapes, times, devices and known engines stay. Errors still say which file they are about.
  bool anonymize = false;
};

// The model with its symbolic dimensions bound as a run had them.
struct ComparedModel {
  std::map<std::string, std::int64_t> dims;
  ModelGraph graph;
  std::optional<NumericContract> selected;  // as in ModelUnder
};

struct ComparedRun {
  std::string source;     // the file as it was named; "infimum.db" of a stored run
  std::string name;       // its last part, where no other run has the same
  std::size_t model = 0;  // of RunComparison::models
  RunProfile run;
  std::size_t file = 0;  // runs of one model file have the same number, 0 is of those that do not tell their file
  bool is_of_another_file = false;  // than the model, by its SHA-256
  Device device;
  Selection selection;
  bool threads_are_assumed = false;  // nobody said on how many it ran, and that matters: selection.threads is a guess
  // What the run is known to differ in from what the bound is of: "it is of another file than this model".
  std::vector<std::string> differences;
  std::string lacking;  // why there is no bound, or what it lacks, with the command that would add it
  // Its layers compute in narrower types than the bound's contract has, by what the engine tells, and it says no
  // contract.
  bool is_narrower = false;
  std::optional<UpperLimit> limit;  // what the bracket was held against of this run
  Alignment alignment;
  Bracket bracket;  // without bounds where nothing was measured
  Waterfall waterfall;
  std::optional<PathView> path;      // of a trace
  std::vector<Finding> findings;     // ranked
  std::vector<std::string> remarks;  // about what was assumed, and what is missing with the command that would add it
};

struct RunComparison {
  std::vector<ComparedModel> models;  // one for each binding of its dimensions, all with the same layers
  std::vector<ComparedRun> runs;      // as they were given
};

// `profiles` empty: the fastest run that the store has of this model. An error where a run contradicts `options.dims`,
// or has dimensions that the model cannot have, or the model has other layers in those of one run than of another.
Result<RunComparison> CompareRuns(const RunComparisonOptions& options, std::vector<NamedProfile> profiles);

// What is shown of it.
ModelAccount AccountOf(const RunComparison& comparison, const RunComparisonOptions& options);

}  // namespace infimum
